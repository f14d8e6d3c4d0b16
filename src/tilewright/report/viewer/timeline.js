// Lanes over time: a bar per row, from where it begins to where it ends. Zoomed drawings scroll.

function drawTimeline(chart) {
  const {section} = chart, begin = chart.column("begin");
  const lanes = [...new Set(section.items.map((item) => String(chart.value(item, "lane"))))];
  if (!chart.zoomed) {
    chart.zoomed = true;
    const by = (factor) => () => { chart.zoom = Math.min(64, Math.max(1, chart.zoom * factor)); chart.draw(); };
    chart.button("+", `Zoom into "${chart.chart.title}"`, by(2));
    chart.button("\u2212", `Zoom out of "${chart.chart.title}"`, by(0.5));
  }
  const longest = d3.max(lanes, (lane) => textWidth(lane)) || 0;
  const beside = lanes.length > 1 && longest < chart.width * 0.26, named = lanes.length > 1;
  const left = beside ? longest + 12 : 2, bar = 22, step = named && !beside ? bar + 24 : bar + 8;
  const width = (chart.width - left - 12) * chart.zoom;
  const frame = {x: left, y: 6, width, height: lanes.length * step + 2};
  chart.size(left + width + 12, frame.y + frame.height + 44);
  const last = d3.max(section.items, (item) => chart.value(item, "end")) || 1, first = Math.min(0, d3.min(section.items, (item) => chart.value(item, "begin")) || 0);
  const x = d3.scaleLinear().domain([first, last]).range([left, left + width]);
  drawLinear(chart, frame, x, "bottom", {...begin, scale: section.column.get(chart.chart.columns.end).scale});
  axisTitles(chart, {...frame, width: Math.min(width, chart.width - left - 12)}, section.column.get(chart.chart.columns.end).scale.unit || begin.unit, "");
  const colour = chart.chart.columns.colour, family = colour ? categoryFamily(section, colour) : ["bar"];
  lanes.forEach((lane, at) => {
    if (!named) return;
    chart.svg.append("text").attr("x", beside ? left - 8 : left).attr("y", frame.y + at * step + (beside ? bar / 2 + 4 : 13)).attr("text-anchor", beside ? "end" : "start").text(lane);
  });
  for (const item of section.items) {
    const from = chart.value(item, "begin"), to = chart.value(item, "end");
    if (!isNumber(from) || !isNumber(to)) continue;
    const top = frame.y + lanes.indexOf(String(chart.value(item, "lane"))) * step + (named && !beside ? 18 : 0);
    const work = chart.chart.columns.work ? chart.value(item, "work") : to - from, starts = x(to - work);
    const group = chart.svg.append("g"), paint = colours.of(family, colour ? String(section.value(item, colour)) : "bar");
    if (starts > x(from) + 0.5) {
      group.append("rect").attr("x", x(from)).attr("y", top + bar / 2 - 2.5).attr("width", starts - x(from)).attr("height", 5).style("fill", "var(--soft)");
    }
    group.append("rect").attr("class", "shape").attr("x", starts).attr("y", top).attr("width", Math.max(1, x(to) - starts)).attr("height", bar).attr("rx", 2).style("fill", paint);
    const room = x(to) - starts - 6;
    let text = textWidth(item.name, 11) <= room ? item.name : "";
    if (!text && section.column.has("number") && textWidth(section.label(item), 11) <= room) text = section.label(item);
    if (text) {
      group.append("text").attr("class", "inside on-colour").attr("x", (starts + x(to)) / 2).attr("y", top + bar / 2 + 4).attr("text-anchor", "middle")
        .style("fill", "var(--ground)").text(text);
    }
    chart.mark(group, item, Object.values(chart.chart.columns).concat("rows", "operation", "cycles"));
  }
  const list = colour && family.length <= 12 ? family.map((name) => [name, colours.of(family, name)]) : [];
  const present = new Set(section.items.map((item) => String(section.value(item, colour))));
  chart.addLegend(list.filter(([name]) => present.has(name)));
  if (chart.chart.columns.work) chart.addLegend([["waiting", "var(--soft)", "line"]]);
}
