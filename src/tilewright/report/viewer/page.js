// Puts the page together and keeps it up to date.

const kDrawings = {roofline: drawRoofline, timeline: drawTimeline, stacked: drawStacked, grouped: drawGrouped, bullet: drawBullet,
                   stairs: drawStairs, fabric: drawFabric, array: drawArray};

function remembered() { try { return localStorage.getItem("tilewright-theme"); } catch { return null; } }
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (button) button.textContent = theme === "dark" ? "Light" : "Dark";
  if (button) button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
}

function tools() {
  const bar = element("div", null, {class: "tools"});
  const input = element("input", null, {type: "file", id: "other-file", class: "hidden", accept: ".json,.html", tabindex: "-1", "aria-label": "Report to compare with"});
  const compare = element("button", "Compare\u2026", {type: "button", id: "compare", title: "Compare with another report: its HTML or JSON, also dropped onto the page"});
  compare.addEventListener("click", () => input.click());
  input.addEventListener("change", () => { if (input.files.length) compareWith(input.files[0]); input.value = ""; });
  const data = element("button", "Data", {type: "button", "aria-label": "Download the data as JSON"});
  data.addEventListener("click", () => save(document.getElementById("tilewright-data").textContent, "application/json", fileName(state.report.title) + ".json"));
  const theme = element("button", "", {type: "button", id: "theme"});
  theme.addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    setTheme(next);
    try { localStorage.setItem("tilewright-theme", next); } catch { /* a page without storage forgets it */ }
  });
  bar.append(compare, input, data, theme);
  return bar;
}

function drawFacts(list) {
  list.replaceChildren();
  for (const fact of state.report.facts) {
    const box = element("div", null, {class: "fact"}), value = element("dd"), {text, unit} = parts(fact.value, fact.unit);
    value.append(text + (unit === "%" || unit === "\u00d7" ? "\u202f" : " "));
    if (unit && unit !== fact.name) value.append(element("span", unit.replace("\u00a0" + fact.name, ""), {class: "unit"}));
    if (isNumber(fact.value) && text !== plainNumber(fact.value)) value.title = `${plainNumber(fact.value)} ${fact.unit === "%" ? "" : fact.unit}`;
    const other = state.other && state.other.facts.find((one) => one.id === fact.id), change = other ? deltaText(fact.value, other.value, fact.unit) : "";
    if (change) value.append(element("span", `${change} from ${textOf(other.value, fact.unit)}`, {class: "delta " + deltaClass(fact.value, other.value, fact.better)}));
    box.append(element("dt", fact.name), value);
    list.append(box);
  }
}

function header(report) {
  const head = element("header"), top = element("div", null, {class: "top"}), words = element("div"), brand = element("div", null, {class: "brand"});
  brand.append(element("b", "Tilewright"), " " + report.verb);
  words.append(brand, element("h1", report.title));
  if (report.subtitle) words.append(element("p", report.subtitle, {class: "soft"}));
  top.append(words, tools());
  head.append(top);
  for (const note of report.notes) head.append(element("p", note, {class: "notes"}));
  const problem = element("div", null, {class: "banner problem", id: "problem", role: "alert"});
  problem.append(element("span", ""));
  problem.hidden = true;
  head.append(problem, element("div", null, {class: "banner", id: "comparison", role: "status"}), element("dl", null, {class: "facts", id: "facts"}));
  return head;
}

function navigation(report) {
  const bar = element("nav", null, {"aria-label": "Sections"}), list = element("ul");
  for (const section of report.sections) {
    const item = element("li"), button = element("button", section.title, {type: "button"});
    button.addEventListener("click", () => { const target = document.getElementById("section-" + section.id); target.scrollIntoView(); target.focus({preventScroll: true}); });
    item.append(button);
    list.append(item);
  }
  bar.append(list);
  bar.hidden = report.sections.length < 2;
  return bar;
}

function footer(report) {
  const foot = element("footer"), list = element("dl"), {command, version, inputs} = report.origin;
  const line = (name, content) => { const cell = element("dd"); cell.append(content); list.append(element("dt", name), cell); };
  if (command) line("Command", element("code", command));
  if (version) line("Version", "Tilewright " + version);
  for (const input of inputs) {
    const text = element("span", `${input.path}, ${textOf(input.bytes, "bytes")}, SHA-256 `);
    text.append(element("code", input.sha256));
    line("Input", text);
  }
  line("Drawn with", "D3 by Mike Bostock (BSD licence, in the source of this page)");
  foot.append(list);
  return foot;
}

// Draws anew and leaves the focus on the mark that had it.
function redraw(chart) {
  const at = [...chart.svg.node().querySelectorAll(".mark")].indexOf(document.activeElement);
  chart.draw();
  if (at >= 0) chart.svg.selectAll(".mark").nodes()[at].focus();
}

function build() {
  state.report = readReport(document.getElementById("tilewright-data").textContent, "this page");
  const report = state.report, charts = [], tables = [];
  for (const section of report.sections) {  // series first: categories take their colours
    for (const chart of section.charts) if (chart.series.length) seriesFamily(section, chart);
  }
  tip.element = element("div", null, {class: "tip", "aria-hidden": "true"});
  tip.element.hidden = true;
  const skip = element("a", "Skip to the report", {class: "skip", href: "#main"}), layout = element("div", null, {class: "layout"});
  const main = element("main", null, {id: "main", tabindex: "-1"}), content = element("div"), panel = element("aside", null, {class: "details", id: "details", "aria-label": "Details of what is selected", "aria-live": "polite", tabindex: "0"});
  skip.addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
  layout.append(content, panel);
  main.append(layout);
  document.body.append(skip, header(report), navigation(report), main, footer(report), tip.element);
  for (const section of report.sections) {
    const part = element("section", null, {id: "section-" + section.id, tabindex: "-1", "aria-labelledby": "title-" + section.id});
    part.append(element("h2", section.title, {id: "title-" + section.id}));
    if (section.note) part.append(element("p", section.note, {class: "note"}));
    const own = section.charts.map((chart) => new Chart(section, chart, kDrawings[chart.kind])), grid = element("div", null, {class: "charts"});
    grid.append(...own.map((chart) => chart.figure));
    if (own.length) part.append(grid);
    if (section.text) part.append(element("pre", section.text, {tabindex: "0", role: "region", "aria-label": section.title}));
    if (section.columns.length && section.items.length) {
      const table = new Table(section, () => { for (const chart of own) chart.draw(); });
      tables.push(table);
      part.append(table.element);
    }
    content.append(part);
    charts.push(...own);
  }
  panel.hidden = true;
  drawFacts(document.getElementById("facts"));
  drawComparison(document.getElementById("comparison"));
  setTheme(remembered() || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => { if (!remembered()) setTheme(event.matches ? "dark" : "light"); });
  for (const chart of charts) chart.draw();
  let drawnWidth = content.clientWidth;
  addEventListener("resize", () => {
    if (content.clientWidth === drawnWidth) return;
    drawnWidth = content.clientWidth;
    for (const chart of charts) redraw(chart);
  });
  onChange((what) => {
    if (what === "other") {
      drawFacts(document.getElementById("facts"));
      drawComparison(document.getElementById("comparison"));
      for (const table of tables) table.refresh(true);
      for (const chart of charts) chart.draw();
    }
    for (const table of tables) table.mark();
    drawDetails(panel);
    panel.hidden = state.chosen === null;
    layout.classList.toggle("open", !panel.hidden);
    const width = content.clientWidth;
    for (const chart of charts) if (chart.chart.kind === "array" || width !== drawnWidth) redraw(chart); else chart.update();
    drawnWidth = width;
    tip.hide();
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && state.chosen !== null) choose(null); });
  addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files.length) compareWith(event.dataTransfer.files[0]);
  });
}
build();
