// Points joined by stairs: what a point reaches holds until the next one. Rows that are off the front are faint marks.

function drawStairs(chart) {
  const {section} = chart, xColumn = chart.column("x"), yColumn = chart.column("y");
  const items = section.items.filter((item) => isNumber(chart.value(item, "x")) && isNumber(chart.value(item, "y")));
  if (!items.length) return empty(chart);
  const group = chart.chart.columns.group, family = group ? categoryFamily(section, group) : ["points"];
  const nameOf = (item) => group ? String(section.value(item, group)) : "points";
  const onFront = (item) => !chart.chart.columns.front || chart.value(item, "front") > 0;
  const others = state.other && state.other.byId.get(section.id), ghosts = others ? others.items.filter((item) => !chart.chart.columns.front || others.value(item, chart.chart.columns.front) > 0)
    .map((item) => [others.value(item, chart.chart.columns.x), others.value(item, chart.chart.columns.y), group ? String(others.value(item, group)) : "points"]).filter(([a, b]) => isNumber(a) && isNumber(b)) : [];
  const reach = (role, at) => {
    const values = items.map((item) => chart.value(item, role)).concat(ghosts.map((ghost) => ghost[at]));
    const low = d3.min(values), high = d3.max(values), pad = (high - low || Math.abs(high) || 1) * 0.06;
    return [low >= 0 && low < (high - low) * 0.5 ? 0 : low - pad < 0 && low >= 0 ? 0 : low - pad, high + pad];
  };
  const yRange = reach("y", 1), height = Math.max(220, Math.min(380, chart.width * 0.5));
  const labels = axisTicks(d3.scaleLinear().domain(yRange), height, "left", yColumn).map((value) => textWidth(tickText(value, yColumn), 11.5));
  const frame = {x: Math.max(34, (d3.max(labels) || 0) + 14), y: 24, width: 0, height};
  frame.width = chart.width - frame.x - 16;
  chart.size(chart.width, frame.y + frame.height + 44);
  const x = d3.scaleLinear().domain(reach("x", 0)).range([frame.x, frame.x + frame.width]), y = d3.scaleLinear().domain(yRange).range([frame.y + frame.height, frame.y]);
  drawLinear(chart, frame, x, "bottom", xColumn);
  drawLinear(chart, frame, y, "left", yColumn);
  axisTitles(chart, frame, unitTitle(xColumn), unitTitle(yColumn));
  const line = d3.line().curve(d3.curveStepAfter);
  const byX = (list) => list.slice().sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  for (const name of family) {
    const before = byX(ghosts.filter((ghost) => ghost[2] === name)).map(([a, b]) => [x(a), y(b)]);
    if (before.length) chart.svg.append("path").attr("class", "ghost").attr("d", line(before)).attr("fill", "none").style("stroke", "var(--soft)").attr("stroke-dasharray", "4 3").attr("stroke-width", 1.5);
    const steps = byX(items.filter((item) => nameOf(item) === name && onFront(item)).map((item) => [x(chart.value(item, "x")), y(chart.value(item, "y"))]));
    chart.svg.append("path").attr("d", line(steps)).attr("fill", "none").style("stroke", colours.of(family, name)).attr("stroke-width", 1.8);
  }
  const drawn = items.slice().sort((a, b) => onFront(a) - onFront(b) || chart.value(a, "x") - chart.value(b, "x"));
  const small = items.length > 150;
  for (const item of drawn) {
    const mark = chart.svg.append("g"), front = onFront(item);
    mark.append("circle").attr("class", "shape").attr("cx", x(chart.value(item, "x"))).attr("cy", y(chart.value(item, "y"))).attr("r", front ? (small ? 3.5 : 5) : 3)
      .style("fill", colours.of(family, nameOf(item))).style("fill-opacity", front ? 1 : 0.35);
    chart.mark(mark, item, Object.values(chart.chart.columns));
  }
  if (group) chart.addLegend(family.map((name) => [name, colours.of(family, name)]));
  if (ghosts.length) chart.addLegend([["the other run", "var(--soft)", "line"]]);
}
