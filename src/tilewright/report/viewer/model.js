// The document as the page uses it: sections with columns by name, rows with a key, and what is selected and filtered.

class Section {
  constructor(data) {
    Object.assign(this, data);
    this.column = new Map(data.columns.map((column, at) => [column.id, {...column, at}]));
    const seen = new Map();
    this.items = data.rows.map((values, index) => {
      const name = data.subject_column ? String(values[this.column.get(data.subject_column).at]) : String(index + 1);
      const times = (seen.get(name) || 0) + 1;
      seen.set(name, times);
      return {index, values, name, key: times === 1 ? name : name + " #" + times, section: this};
    });
    for (const column of this.column.values()) {
      const values = this.items.map((item) => item.values[column.at]);
      column.numeric = values.some(isNumber);
      column.whole = values.every((value) => !isNumber(value) || Number.isInteger(value));
      column.scale = scaleOf(largestOf(values), column.unit);
    }
    this.byKey = new Map(this.items.map((item) => [item.key, item]));
    this.shown = this.items;  // those that the filter lets through, in the order of the table
  }
  value(item, id) {
    const column = this.column.get(id);
    return column ? item.values[column.at] : undefined;
  }
  cell(item, id) {
    const column = this.column.get(id);
    return textOf(item.values[column.at], column.unit, column.scale);
  }
  // A short name for marks: the number that the table shows, if there is one.
  label(item) {
    return this.column.has("number") && isNumber(this.value(item, "number")) ? String(this.value(item, "number")) : item.name;
  }
}

class Report {
  constructor(data) {
    Object.assign(this, data);
    this.sections = data.sections.map((section) => new Section(section));
    this.byId = new Map(this.sections.map((section) => [section.id, section]));
  }
}

// Reads a document from the text of a JSON file or of a page. Throws an Error that says what is wrong with it.
function readReport(text, name) {
  let json = text;
  if (/^\s*</.test(text)) {
    const element = new DOMParser().parseFromString(text, "text/html").getElementById("tilewright-data");
    if (!element) throw new Error(name + " is a web page, but none of Tilewright's reports.");
    json = element.textContent;
  }
  let data;
  try {
    data = JSON.parse(json);
  } catch (error) {
    throw new Error(name + " is neither a report's page nor its JSON: " + error.message);
  }
  if (!data || data.format !== "tilewright page 1") throw new Error(name + " is no report of this version: write it with --html or --data.");
  return new Report(data);
}

const state = {report: null, other: null, otherName: "", onlyDifferent: false, chosen: null, listeners: []};

function onChange(listener) { state.listeners.push(listener); }
function changed(what) { for (const listener of state.listeners) listener(what); }

const sameSubject = (item, chosen) => chosen !== null && item.section.subject === chosen.subject && item.name === chosen.name;

// Selecting what is selected takes the selection away.
function choose(item) {
  const again = item !== null && sameSubject(item, state.chosen) && state.chosen.key === item.key;
  state.chosen = item === null || again ? null : {subject: item.section.subject, name: item.name, key: item.key};
  changed("chosen");
}

// The item of the other report that stands for this one; undefined without a comparison or such an item.
function counterpart(item) {
  const section = state.other && state.other.byId.get(item.section.id);
  return section ? section.byKey.get(item.key) : undefined;
}
