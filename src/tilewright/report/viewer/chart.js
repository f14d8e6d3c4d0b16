// What all charts share: the figure around a drawing, marks that are hovered, focused and selected, labels that keep
// off each other, axes, legends, and the drawing as a file.

const kText = 12, kLine = 16;

// Colours by name. Names that occur together in a list of series share their colours with categories of the same names.
const colours = {
  families: [],
  family(names) {
    const known = this.families.find((family) => names.every((name) => family.includes(name)));
    if (known) return known;
    this.families.push(names);
    return names;
  },
  of(family, name) { return `var(--c${Math.max(0, family.indexOf(name)) % 8})`; },
};
function seriesFamily(section, chart) { return colours.family(chart.series.map((id) => section.column.get(id).title)); }
function categoryFamily(section, id) {
  return colours.family([...new Set(section.items.map((item) => String(section.value(item, id) ?? "")))].filter((name) => name !== ""));
}

const tip = {
  element: null,
  show(event, html) {
    this.element.innerHTML = "";
    this.element.append(html);
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect(), x = event.clientX ?? event.x, y = event.clientY ?? event.y;
    this.element.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
    this.element.style.top = (y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - box.height - 12)) + "px";
  },
  hide() { this.element.hidden = true; },
};

function tipContent(title, pairs) {
  const content = document.createElement("div"), list = element("dl");
  content.append(element("b", title));
  for (const [name, text] of pairs) list.append(element("dt", name), element("dd", text));
  content.append(list);
  return content;
}
// The columns that a chart draws, as pairs of name and text, with the change from the other run.
function tipPairs(section, item, ids) {
  const other = counterpart(item);
  return [...new Set(ids)].filter((id) => section.column.has(id) && id !== section.subject_column && section.value(item, id) !== null).map((id) => {
    const {title, unit} = section.column.get(id), text = section.cell(item, id);
    const change = other ? deltaText(section.value(item, id), other.section.value(other, id), unit) : "";
    return [title, change ? `${text} (${change})` : text];
  });
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// Makes a drawn group a mark of `item`: a button with a name, a tooltip and a selection.
function asMark(group, item, name, content) {
  group.classed("mark", true).datum(item).attr("role", "button").attr("tabindex", "-1").attr("aria-pressed", "false")
    .attr("aria-label", name)
    .on("mousemove", () => tip.show(d3.event, content()))
    .on("mouseleave", () => tip.hide())
    .on("focus", function () {
      const box = this.getBoundingClientRect();
      tip.show({x: box.x + box.width / 2, y: box.y + box.height / 2}, content());
    })
    .on("blur", () => tip.hide())
    .on("click", () => { d3.event.stopPropagation(); choose(item); });
  // Its texts stand beside it: they are in its name, and not dimmed with it.
  const texts = group.selectAll("text").nodes();
  if (texts.length) d3.select(group.node().parentNode).append("g").attr("aria-hidden", "true").style("pointer-events", "none").node().append(...texts);
  return group;
}

class Chart {
  constructor(section, chart, draw) {
    Object.assign(this, {section, chart, paint: draw, zoom: 1});
    this.figure = element("figure", null, {class: ["timeline", "fabric"].includes(chart.kind) ? "wide" : ""});
    const head = element("div", null, {class: "figure-head"});
    this.tools = element("div", null, {class: "figure-tools"});
    head.append(element("h3", chart.title), this.tools);
    this.button("SVG", `Download "${chart.title}" as SVG`, () => saveSvg(this));
    this.plot = element("div", null, {class: "plot"});
    this.legend = element("ul", null, {class: "legend", "aria-label": "Legend of " + chart.title});
    this.figure.append(head, this.plot, this.legend);
    if (chart.caption) this.figure.append(element("figcaption", chart.caption));
  }
  button(text, label, action) {
    const button = element("button", text, {type: "button", "aria-label": label, title: label});
    button.addEventListener("click", action);
    this.tools.prepend(button);
    return button;
  }
  column(role) { return this.section.column.get(this.chart.columns[role]); }
  value(item, role) { return this.section.value(item, this.chart.columns[role]); }

  draw() {
    const style = getComputedStyle(this.figure);
    this.width = Math.max(260, this.figure.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    this.plot.innerHTML = "";
    this.legend.innerHTML = "";
    this.svg = d3.select(this.plot).append("svg").attr("role", "group").attr("aria-roledescription", "chart")
      .attr("aria-label", `${this.chart.title}: ${this.section.shown.length} rows of the table "${this.section.title}". Arrow keys move between marks, Enter selects.`);
    this.taken = [];
    this.size(this.width, 200);
    this.paint(this);
    this.legend.hidden = this.legend.children.length === 0;
    this.svg.on("keydown", () => this.key(d3.event));
    this.update();
  }
  size(width, height) {
    this.height = height;
    this.svg.attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
  }
  // Redraws what selection and filter change.
  update() {
    const marks = this.svg.selectAll(".mark"), shown = new Set(this.section.shown);
    const own = state.chosen !== null && this.section.items.some((item) => sameSubject(item, state.chosen));
    this.svg.classed("chosen", own);
    marks.classed("is-chosen", (item) => sameSubject(item, state.chosen)).classed("is-out", (item) => item.section === this.section && !shown.has(item))
      .attr("aria-pressed", (item) => String(sameSubject(item, state.chosen)));
    marks.attr("tabindex", "-1");
    const first = marks.filter((item) => own ? sameSubject(item, state.chosen) : true).node();
    if (first) first.setAttribute("tabindex", "0");
  }
  key(event) {
    const marks = this.svg.selectAll(".mark").nodes(), at = marks.indexOf(document.activeElement);
    if (at < 0) return;
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    let to = event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1 : step ? at + step : -1;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(d3.select(marks[at]).datum());
      marks[at].setAttribute("tabindex", "0");
    } else if (to >= 0 && to < marks.length) {
      event.preventDefault();
      marks[at].setAttribute("tabindex", "-1");
      marks[to].setAttribute("tabindex", "0");
      marks[to].focus();
    }
  }
  addLegend(entries) {
    for (const [name, paint, kind] of entries) {
      const item = element("li"), sample = element("i", null, {class: kind || "", "aria-hidden": "true"});
      if (kind !== "ring") sample.style.background = paint;
      item.append(sample, document.createTextNode(name));
      this.legend.append(item);
    }
  }
  // A mark's standard words.
  mark(group, item, ids) {
    const pairs = () => tipPairs(this.section, item, ids);
    return asMark(group, item, item.name + ": " + pairs().map((pair) => pair.join(" ")).join(", "), () => tipContent(item.name, pairs()));
  }
  // Writes `text` at one of `places` ({x, y, anchor}) that is free and inside of `frame`; false where none is.
  label(group, text, places, frame, size = 11) {
    const width = textWidth(text, size) + 2, height = size + 2;
    for (const place of places) {
      const x = place.anchor === "end" ? place.x - width : place.anchor === "middle" ? place.x - width / 2 : place.x;
      const box = {x, y: place.y - size, width, height};
      if (frame && (x < frame.x || x + width > frame.x + frame.width || box.y < frame.y || place.y + 2 > frame.y + frame.height)) continue;
      if (this.taken.some((other) => touches(box, other))) continue;
      this.taken.push(box);
      group.append("text").attr("class", "inside").attr("x", place.x).attr("y", place.y).attr("text-anchor", place.anchor || "start")
        .style("font-size", size + "px").text(text);
      return true;
    }
    return false;
  }
}

function touches(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

// Axis titles: above the plot and below it, never turned.
function axisTitles(chart, frame, x, y) {
  const svg = chart.svg;
  const title = (text, px, py, anchor) => svg.append("text").attr("class", "soft").attr("x", px).attr("y", py).attr("text-anchor", anchor)
    .text(fitted(text, chart.width - 8)).append("title").text(text);
  if (y) title(y, 0, 12, "start");
  if (x) title(x, frame.x + frame.width, frame.y + frame.height + 36, "end");
}

// The numbers of a linear axis of `length` pixels, as many as have room, and how one is written.
function axisTicks(scale, length, side, column) {
  return scale.ticks(Math.max(2, Math.floor(length / (side === "bottom" ? 78 : 46)))).filter((value) => !column.whole || Number.isInteger(value));
}
function tickText(value, column) {
  return column.unit === "%" ? plainNumber(100 * value) : parts(value, column.unit, column.scale).text;
}

// A linear axis in the scale of its column.
function drawLinear(chart, frame, scale, side, column) {
  const bottom = side === "bottom", ticks = axisTicks(scale, bottom ? frame.width : frame.height, side, column);
  const at = bottom ? `translate(0,${frame.y + frame.height})` : `translate(${frame.x},0)`, axis = () => (bottom ? d3.axisBottom(scale) : d3.axisLeft(scale)).tickValues(ticks);
  chart.svg.append("g").attr("class", "grid").attr("transform", at).attr("aria-hidden", "true")
    .call(axis().tickSize(bottom ? -frame.height : -frame.width).tickFormat("")).call((g) => g.select(".domain").remove());
  const group = chart.svg.append("g").attr("transform", at).attr("aria-hidden", "true")
    .call(axis().tickFormat((value) => tickText(value, column)).tickSizeOuter(0).tickPadding(6))
    .attr("font-size", null).attr("font-family", null);
  if (bottom) keepApart(group, chart);
}
// Takes numbers of an axis away where two would touch, or where one would stick out.
function keepApart(group, chart) {
  const frame = chart.svg.node().getBoundingClientRect();
  let end = frame.left - 6;
  group.selectAll(".tick text").each(function () {
    const box = this.getBoundingClientRect();
    if (box.left < end + 6 || box.right > frame.right) this.remove(); else end = box.right;
  });
}
function unitTitle(column) {
  const unit = column.unit === "yes/no" ? "" : column.scale.unit.replace(column.title, "").trim();
  return unit ? `${column.title} (${unit === "x" ? "\u00d7" : unit})` : column.title;
}

// The drawing as a file of its own: what style sheets say of it is written into it.
function svgText(chart) {
  const source = chart.svg.node(), copy = source.cloneNode(true);
  const from = source.querySelectorAll("*"), to = copy.querySelectorAll("*");
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family", "text-anchor"];
  from.forEach((one, at) => {
    const style = getComputedStyle(one);
    to[at].setAttribute("style", kept.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    for (const name of ["tabindex", "role", "aria-pressed", "class"]) to[at].removeAttribute(name);
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.removeAttribute("aria-roledescription");
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy) + "\n";
}
function save(text, type, name) {
  const link = element("a", null, {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
function saveSvg(chart) { save(svgText(chart), "image/svg+xml", fileName(state.report.title + " " + chart.chart.title) + ".svg"); }
