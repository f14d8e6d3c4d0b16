// Everything that is known of what is selected: its row in every section.

const kMostDetailRows = 8;

function drawDetails(panel) {
  panel.replaceChildren();
  if (state.chosen === null) return;
  const head = element("div", null, {class: "details-head"}), close = element("button", "Close", {type: "button"});
  const words = element("div");
  words.append(element("div", state.chosen.subject, {class: "soft"}), element("h2", state.chosen.name));
  close.addEventListener("click", () => choose(null));
  head.append(words, close);
  panel.append(head);
  for (const section of state.report.sections) {
    const items = section.items.filter((item) => sameSubject(item, state.chosen));
    if (!items.length) continue;
    panel.append(element("h3", section.title + (items.length > 1 ? `, ${items.length} rows` : "")));
    for (const item of items.slice(0, kMostDetailRows)) panel.append(detailList(section, item));
    if (items.length > kMostDetailRows) panel.append(element("p", `${items.length - kMostDetailRows} more in the table`, {class: "soft"}));
  }
}

function detailList(section, item) {
  const list = element("dl"), other = counterpart(item);
  for (const column of section.column.values()) {
    const value = item.values[column.at];
    if (column.id === section.subject_column || column.id === "number" || value === null || value === "") continue;
    if (typeof value === "string" && value.includes("\n")) {
      const text = element("dd", null, {class: "wide"});
      text.append(element("pre", value, {tabindex: "0"}));
      list.append(element("dt", column.title, {class: "wide"}), text);
      continue;
    }
    const cell = element("dd", textOf(value, column.unit, isNumber(value) && Math.abs(value) < 1e12 && Number.isInteger(value) ? {factor: 1, unit: column.unit} : undefined));
    const was = other && other.section.column.has(column.id) ? other.section.value(other, column.id) : undefined;
    const change = deltaText(value, was, column.unit);
    if (change) cell.append(element("span", `${change} from ${textOf(was, column.unit)}`, {class: "delta " + deltaClass(value, was, column.better)}));
    list.append(element("dt", column.title), cell);
  }
  return list;
}
