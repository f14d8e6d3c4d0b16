// The table of a section: sorted by any column, filtered by words and comparisons, with the details of a row on demand.
// The charts of the section show what it lets through, bars in its order.

const kMostRows = 400;

// "conv cycles>10000": words that occur in any text of the row, comparisons of a column by its title or name.
function parseFilter(text, section) {
  const tests = [];
  for (const word of text.match(/(?:"[^"]*"|[^\s"])+/g) || []) {
    const part = /^(.+?)(<=|>=|=|<|>)(-?[\d.,]+)(%?)$/.exec(word.replace(/"/g, ""));
    const column = part && [...section.column.values()].find((one) => [one.id, one.title].some((name) => name.toLowerCase().replace(/[ _]/g, "") === part[1].toLowerCase().replace(/[ _]/g, "")));
    if (column && column.numeric) {
      const bound = Number(part[3].replace(/,/g, "")) / (column.unit === "%" ? 100 : 1), at = column.at;
      const compare = {"<": (v) => v < bound, ">": (v) => v > bound, "<=": (v) => v <= bound, ">=": (v) => v >= bound, "=": (v) => Math.abs(v - bound) < 1e-9}[part[2]];
      tests.push((item) => isNumber(item.values[at]) && compare(item.values[at]));
    } else {
      const wanted = word.replace(/"/g, "").toLowerCase();
      tests.push((item) => item.values.some((value) => typeof value === "string" && value.toLowerCase().includes(wanted)));
    }
  }
  return (item) => tests.every((test) => test(item));
}

class Table {
  constructor(section, onShown) {
    Object.assign(this, {section, onShown, sorted: null, falling: false, all: false, details: false, filter: ""});
    this.element = element("div", null, {class: "table"});
    const head = element("div", null, {class: "table-head"}), id = "filter-" + section.id;
    const label = element("label", `Filter ${section.title}`, {for: id, class: "hidden"});
    const input = element("input", null, {type: "search", id, placeholder: "Filter: words, or cycles>1000", autocomplete: "off"});
    const box = element("div", null, {class: "filter"});
    input.addEventListener("input", () => { this.filter = input.value; this.refresh(); });
    box.append(label, input);
    this.count = element("span", "", {class: "count", "aria-live": "polite"});
    head.append(box, this.count);
    if (section.columns.some((column) => column.detail)) {
      const toggle = element("button", "All columns", {type: "button", "aria-pressed": "false"});
      toggle.addEventListener("click", () => { this.details = !this.details; toggle.setAttribute("aria-pressed", String(this.details)); this.refresh(); });
      head.append(toggle);
    }
    this.scroll = element("div", null, {class: "scroll", role: "region", tabindex: "0", "aria-label": "Table: " + section.title});
    this.more = element("button", "Show all rows", {type: "button"});
    this.more.addEventListener("click", () => { this.all = true; this.refresh(); });
    this.element.append(head, this.scroll, this.more);
    this.refresh(true);
  }
  columns() { return this.section.columns.filter((column) => !column.detail || this.details).map((column) => this.section.column.get(column.id)); }
  sort(column) {
    this.falling = this.sorted === column.id ? !this.falling : column.numeric && column.id !== "number";
    this.sorted = column.id;
    this.refresh();
    this.scroll.querySelector(`[data-column="${CSS.escape(column.id)}"]`).focus();
  }
  refresh(silent) {
    const {section} = this, passes = parseFilter(this.filter, section);
    let shown = section.items.filter(passes);
    if (state.other && state.onlyDifferent) shown = shown.filter((item) => differs(item));
    if (this.sorted) {
      const at = section.column.get(this.sorted).at, sign = this.falling ? -1 : 1;
      shown = shown.slice().sort((a, b) => {
        const x = a.values[at], y = b.values[at];
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (isNumber(x) && isNumber(y) ? x - y : String(x).localeCompare(String(y), "en", {numeric: true}));
      });
    }
    section.shown = shown;
    this.render();
    if (!silent) this.onShown();
  }
  render() {
    const {section} = this, columns = this.columns(), shown = section.shown, table = element("table");
    table.append(element("caption", section.title, {class: "hidden"}));
    const head = element("tr");
    for (const column of columns) {
      const cell = element("th", null, {scope: "col", class: column.numeric ? "n" : ""}), button = element("button", unitTitle(column), {type: "button", "data-column": column.id});
      if (this.sorted === column.id) cell.setAttribute("aria-sort", this.falling ? "descending" : "ascending");
      button.addEventListener("click", () => this.sort(column));
      cell.append(button);
      head.append(cell);
    }
    const body = element("tbody"), limit = this.all ? shown.length : kMostRows;
    for (const item of shown.slice(0, limit)) body.append(this.row(item, columns));
    if (state.other) for (const lost of missingHere(section)) body.append(this.lostRow(lost, columns));
    table.append(element("thead"), body);
    table.firstElementChild.nextElementSibling.append(head);
    this.scroll.replaceChildren(table);
    this.more.hidden = shown.length <= limit;
    const all = section.items.length, rows = all === 1 ? "row" : "rows";
    this.count.textContent = shown.length === all ? `${plainNumber(all)} ${rows}` : `${plainNumber(shown.length)} of ${plainNumber(all)} ${rows}`;
    this.mark();
  }
  row(item, columns) {
    const {section} = this, row = element("tr"), other = counterpart(item);
    row.item = item;
    for (const column of columns) {
      const value = item.values[column.at], cell = element("td", null, {class: column.numeric ? "n" : column.id === section.subject_column ? "name" : "words"});
      const text = column.id === "number" ? String(value ?? "") : this.cellText(value, column);
      if (column.id === section.subject_column) {
        const button = element("button", text, {type: "button", class: "row", "aria-pressed": "false", title: "Show everything about " + text});
        cell.append(button);
        if (state.other && !other) cell.append(element("span", "only in this run", {class: "delta"}));
      } else {
        cell.textContent = text;
        if (isNumber(value) && column.scale.factor !== 1) cell.title = `${plainNumber(value)} ${column.unit}`;
      }
      if (other && column.numeric && other.section.column.has(column.id) && column.id !== "number") {
        const was = other.section.value(other, column.id), change = deltaText(value, was, column.unit);
        if (change) cell.append(element("span", change, {class: "delta " + deltaClass(value, was, column.better), title: `${otherName()}: ${textOf(was, column.unit)}`}));
      }
      row.append(cell);
    }
    row.addEventListener("click", () => choose(item));
    return row;
  }
  // In a column the unit stands in the heading.
  cellText(value, column) {
    const {text, unit} = parts(value, column.unit, column.scale);
    return unit === "\u00d7" ? text : text;
  }
  lostRow(item, columns) {
    const row = element("tr", null, {class: "lost"});
    for (const column of columns) {
      const known = item.section.column.has(column.id), cell = element("td", known ? this.cellText(item.section.value(item, column.id), column) : kMissing, {class: (column.numeric ? "n" : "name") + " soft"});
      if (column.id === this.section.subject_column) cell.append(element("span", "only in the other run", {class: "delta"}));
      row.append(cell);
    }
    return row;
  }
  // Shows which rows are selected.
  mark() {
    for (const row of this.scroll.querySelectorAll("tbody tr")) {
      if (!row.item) continue;
      const chosen = sameSubject(row.item, state.chosen), button = row.querySelector("button.row");
      row.classList.toggle("is-chosen", chosen);
      if (button) button.setAttribute("aria-pressed", String(chosen));
    }
  }
}
