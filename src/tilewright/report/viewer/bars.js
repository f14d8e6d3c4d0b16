// Horizontal bars in the order of the table: stacked, beside each other, or a need against what there is.

const kMostBars = 60;

// Names beside the bars where they leave room, else above them; never cut.
function barRows(chart, perRow, right, axis = 40) {
  const {section} = chart, all = section.shown.filter((item) => perRow(item) > 0), items = all.slice(0, kMostBars);
  const longest = d3.max(items, (item) => textWidth(item.name)) || 0;
  const beside = longest < chart.width * 0.34;
  const left = beside ? longest + 12 : 2, gap = 7;
  let y = 4;
  const rows = items.map((item) => {
    const row = {item, top: y + (beside ? 0 : 17), height: perRow(item)};
    y += (beside ? 0 : 17) + row.height + gap;
    return row;
  });
  const frame = {x: left, y: 0, width: Math.max(60, chart.width - left - right), height: y};
  chart.size(chart.width, y + (rows.length ? axis : 0));
  if (!rows.length) return {frame, rows};
  const nameRow = (group, row) => {
    const lines = beside ? [row.item.name] : wrapped(row.item.name, chart.width - 4);
    group.append("text").attr("x", beside ? left - 8 : left).attr("y", beside ? row.top + row.height / 2 + 4 : row.top - 5).attr("text-anchor", beside ? "end" : "start")
      .text(lines[0] + (lines.length > 1 ? "\u2026" : "")).append("title").text(row.item.name);
  };
  if (all.length > items.length) {
    chart.svg.append("text").attr("class", "soft").attr("x", 2).attr("y", y + 36).text(`${items.length} of ${all.length} rows: sort or filter the table to see others`);
  }
  return {frame, rows, nameRow};
}
function wrapped(text, width) {
  const line = fitted(text, width);
  return line === text ? [text] : [line.replace(/\u2026$/, ""), ""];
}

function drawStacked(chart) {
  const {section} = chart, ids = chart.chart.series, family = seriesFamily(section, chart.chart);
  const sum = (item) => d3.sum(ids, (id) => section.value(item, id) || 0);
  const {frame, rows, nameRow} = barRows(chart, (item) => sum(item) > 0 ? 18 : 0, 12);
  if (!rows.length) return empty(chart);
  const largest = d3.max(rows, (row) => sum(row.item)), column = {...section.column.get(ids[0])};
  column.scale = scaleOf(largest, column.unit);
  const x = d3.scaleLinear().domain([0, largest]).range([frame.x, frame.x + frame.width]);
  drawLinear(chart, frame, x, "bottom", column);
  axisTitles(chart, frame, rows.length < kMostBars ? column.scale.unit || column.unit : "", "");
  for (const row of rows) {
    const group = chart.svg.append("g");
    nameRow(group, row);
    let from = 0;
    for (const id of ids) {
      const value = section.value(row.item, id) || 0;
      if (value <= 0) continue;
      group.append("rect").attr("class", "shape").attr("x", x(from)).attr("y", row.top).attr("width", Math.max(0.4, x(from + value) - x(from))).attr("height", row.height)
        .style("fill", colours.of(family, section.column.get(id).title));
      from += value;
    }
    chart.mark(group, row.item, ids.filter((id) => section.value(row.item, id) > 0));
  }
  const used = ids.filter((id) => section.items.some((item) => section.value(item, id) > 0)).map((id) => section.column.get(id).title);
  chart.addLegend(used.map((name) => [name, colours.of(family, name)]));
}

function drawGrouped(chart) {
  const {section} = chart, ids = chart.chart.series, family = seriesFamily(section, chart.chart), thick = ids.length > 3 ? 8 : ids.length > 1 ? 11 : 18;
  const there = (item) => ids.filter((id) => isNumber(section.value(item, id)));
  const column = {...section.column.get(ids[0])}, all = section.shown.flatMap((item) => there(item).map((id) => section.value(item, id)));
  column.scale = scaleOf(largestOf(all), column.unit);
  const words = (value) => parts(value, column.unit, column.scale).text, room = thick >= 11 ? (d3.max(all, (value) => textWidth(words(value), 11)) || 0) + 10 : 12;
  const {frame, rows, nameRow} = barRows(chart, (item) => there(item).length ? Math.max(16, thick * ids.length) : 0, room);
  if (!rows.length) return empty(chart);
  const values = rows.flatMap((row) => there(row.item).map((id) => section.value(row.item, id)));
  const x = d3.scaleLinear().domain([Math.min(0, d3.min(values)), Math.max(0, d3.max(values)) || 1]).range([frame.x, frame.x + frame.width]);
  drawLinear(chart, frame, x, "bottom", column);
  axisTitles(chart, frame, rows.length < kMostBars ? unitTitle(column) : "", "");
  for (const row of rows) {
    const group = chart.svg.append("g"), inset = (row.height - thick * ids.length) / 2;
    nameRow(group, row);
    ids.forEach((id, at) => {
      const value = section.value(row.item, id);
      if (!isNumber(value)) return;
      const a = x(Math.min(0, value)), b = x(Math.max(0, value)), top = row.top + inset + at * thick;
      group.append("rect").attr("class", "shape").attr("x", a).attr("y", top).attr("width", Math.max(1, b - a)).attr("height", thick - 1).attr("rx", 1.5)
        .style("fill", colours.of(family, section.column.get(id).title));
      const other = counterpart(row.item), was = other && other.section.value(other, id);
      if (isNumber(was)) group.append("line").attr("class", "ghost").attr("x1", x(was)).attr("x2", x(was)).attr("y1", top - 1).attr("y2", top + thick).style("stroke", "var(--text)").attr("stroke-width", 2);
      if (thick >= 11) {
        group.append("text").attr("class", "inside soft").attr("x", b + 5).attr("y", top + thick / 2 + 3.5).text(words(value));
      }
    });
    chart.mark(group, row.item, ids);
  }
  if (ids.length > 1) chart.addLegend(family.filter((name) => ids.some((id) => section.column.get(id).title === name)).map((name) => [name, colours.of(family, name)]));
  if (state.other) chart.addLegend([["line: the other run", "var(--text)", "line"]]);
}

function drawBullet(chart) {
  const {section} = chart;
  const {frame, rows, nameRow} = barRows(chart, (item) => chart.value(item, "whole") > 0 || chart.value(item, "value") > 0 ? 18 : 0, 62, 4);
  if (!rows.length) return empty(chart);
  for (const row of rows) {
    const value = chart.value(row.item, "value") || 0, whole = chart.value(row.item, "whole") || 0, limit = chart.chart.columns.limit ? chart.value(row.item, "limit") : whole;
    const x = d3.scaleLinear().domain([0, Math.max(value, whole, limit || 0, 1)]).range([frame.x, frame.x + frame.width]);
    const group = chart.svg.append("g"), over = isNumber(limit) && value > limit;
    nameRow(group, row);
    group.append("rect").attr("x", frame.x).attr("y", row.top).attr("width", x(whole) - frame.x).attr("height", row.height).attr("rx", 3).style("fill", "var(--line)");
    group.append("rect").attr("class", "shape").attr("x", frame.x).attr("y", row.top + 3).attr("width", Math.max(1, x(value) - frame.x)).attr("height", row.height - 6).attr("rx", 2)
      .style("fill", over ? "var(--bad)" : "var(--c0)");
    if (chart.chart.columns.limit && isNumber(limit)) {
      group.append("rect").attr("x", x(limit) - 1.25).attr("y", row.top - 2).attr("width", 2.5).attr("height", row.height + 4).style("fill", "var(--text)");
    }
    const share = (limit || whole) > 0 ? textOf(value / (limit || whole), "%") : "";
    group.append("text").attr("class", "inside").attr("x", frame.x + frame.width + 8).attr("y", row.top + row.height / 2 + 4).style("fill", over ? "var(--bad)" : null).text(share);
    chart.mark(group, row.item, Object.values(chart.chart.columns));
  }
  chart.addLegend([[chart.column("value").title, "var(--c0)"], [chart.column("whole").title, "var(--line)"]]);
  if (chart.chart.columns.limit) chart.addLegend([[chart.column("limit").title, "var(--text)", "line"]]);
}

function empty(chart) {
  chart.size(chart.width, 30);
  chart.svg.append("text").attr("class", "soft").attr("x", 2).attr("y", 18).text(chart.section.shown.length ? "There is nothing to draw." : "No row passes the filter.");
}
