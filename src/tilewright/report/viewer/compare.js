// A second report beside this one: rows of the same name in the same section are compared column by column.

const otherName = () => state.otherName;

// Rows of the other run that this one does not have.
function missingHere(section) {
  const other = state.other && state.other.byId.get(section.id);
  return other ? other.items.filter((item) => !section.byKey.has(item.key)) : [];
}
function differs(item) {
  const other = counterpart(item);
  if (!other) return true;
  return item.section.columns.some((column) => other.section.column.has(column.id) && column.id !== "number" &&
    item.values[item.section.column.get(column.id).at] !== other.section.value(other, column.id));
}

async function compareWith(file) {
  try {
    const report = readReport(await file.text(), file.name);
    const shared = report.sections.filter((section) => state.report.byId.has(section.id) && section.columns.length);
    if (!shared.length) throw new Error(`${file.name} is the report of "${report.verb}": it has no table in common with this one of "${state.report.verb}".`);
    state.other = report;
    state.otherName = file.name;
    showProblem("");
  } catch (error) {
    showProblem(error.message);
    return;
  }
  changed("other");
}
function stopComparing() {
  state.other = null;
  state.onlyDifferent = false;
  changed("other");
}
function showProblem(text) {
  const banner = document.getElementById("problem");
  banner.hidden = text === "";
  banner.firstElementChild.textContent = text;
}

function drawComparison(banner) {
  banner.replaceChildren();
  banner.hidden = state.other === null;
  if (state.other === null) return;
  const words = element("span"), label = element("label"), box = element("input", null, {type: "checkbox", id: "only-different"});
  words.append("Compared with ", element("b", state.other.title), ` (${state.otherName}${state.other.origin.command ? ": " + state.other.origin.command : ""}). Changes are from that run to this one.`);
  box.checked = state.onlyDifferent;
  box.addEventListener("change", () => { state.onlyDifferent = box.checked; changed("other"); document.getElementById("only-different").focus(); });
  label.append(box, "Only rows that differ");
  const stop = element("button", "Stop comparing", {type: "button"});
  stop.addEventListener("click", stopComparing);
  banner.append(words, label, stop);
}
