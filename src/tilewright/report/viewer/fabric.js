// The array in every time slot: a cell per tile with the operation that starts there, arrows for values on links.

function drawFabric(chart) {
  const {section} = chart, {rows, columns, ii} = chart.chart.values;
  const family = categoryFamily(section, chart.chart.columns.colour);
  const links = state.report.byId.get(chart.chart.links), gap = 14, between = 22;
  const least = 46, most = 104;
  const across = (count) => Math.floor((chart.width - between * (count - 1)) / count);
  // As many slots beside each other as leave cells of a readable size; long lines of tiles are broken.
  const per = Math.max(1, Math.min(columns, Math.floor((chart.width + gap) / (least + gap)))), lines = Math.ceil(columns / per);
  let beside = Math.min(ii, 4);
  while (beside > 1 && across(beside) / per - gap < 62) --beside;
  const cell = Math.min(most, across(beside) / per - gap), tall = Math.max(46, Math.min(56, cell * 0.6)), rowStep = tall + 24;
  const panel = {width: per * (cell + gap) - gap, height: rows * lines * rowStep + 24};
  chart.size(chart.width, Math.ceil(ii / beside) * (panel.height + 10));
  const corner = (tile, slot) => {
    const column = tile % columns, row = Math.floor(tile / columns) * lines + Math.floor(column / per);
    return [(slot % beside) * (panel.width + between) + (column % per) * (cell + gap), Math.floor(slot / beside) * (panel.height + 10) + 24 + row * rowStep];
  };
  const busy = new Set(section.items.map((item) => chart.value(item, "tile") + " " + chart.value(item, "slot")));
  for (let slot = 0; slot < ii; ++slot) {
    const [left, top] = corner(0, slot);
    chart.svg.append("text").attr("class", "soft").attr("x", left).attr("y", top - 10).text(`slot ${slot}`);
    for (let tile = 0; tile < rows * columns; ++tile) {
      if (busy.has(tile + " " + slot)) continue;
      const [x, y] = corner(tile, slot);
      chart.svg.append("rect").attr("x", x).attr("y", y).attr("width", cell).attr("height", tall).attr("rx", 5).style("fill", "var(--faint)").append("title").text(`tile ${tile}`);
      chart.svg.append("text").attr("class", "inside soft").attr("x", x + 4).attr("y", y + 11).style("font-size", "9px").text(tile);
    }
  }
  for (const item of section.items) {
    const [x, y] = corner(chart.value(item, "tile"), chart.value(item, "slot"));
    const group = chart.svg.append("g"), paint = colours.of(family, String(chart.value(item, "colour")));
    group.append("rect").attr("class", "shape").attr("x", x).attr("y", y).attr("width", cell).attr("height", tall).attr("rx", 5).style("fill", paint);
    group.append("text").attr("class", "inside").attr("x", x + 4).attr("y", y + 11).style("font-size", "9px").style("fill", "var(--ground)").text(chart.value(item, "tile"));
    const text = fitted(item.name, cell - 6, 11), operation = fitted(String(section.value(item, "operation") ?? ""), cell - 6, 10);
    if (text) group.append("text").attr("class", "inside").attr("x", x + cell / 2).attr("y", y + tall / 2 + (operation ? 5 : 9)).attr("text-anchor", "middle").style("fill", "var(--ground)").text(text);
    if (operation) group.append("text").attr("class", "inside").attr("x", x + cell / 2).attr("y", y + tall / 2 + 17).attr("text-anchor", "middle").style("fill", "var(--ground)").style("font-size", "10px").text(operation);
    chart.mark(group, item, ["operation", "tile", "slot", "start", "end", "flow"]);
  }
  if (links) drawWays(chart, links, corner, cell, tall);
  chart.addLegend(family.map((name) => [name, colours.of(family, name)]));
  chart.addLegend([["free tile", "var(--line)"]]);
  if (links && links.items.length) chart.addLegend([["value on a link", "var(--text)", "line"]]);
}

// Curves from tile to tile in the strip below the cells, with a head where the value arrives.
function drawWays(chart, links, corner, cell, tall) {
  const drawn = new Map();
  for (const way of links.items) {
    const from = links.value(way, "from"), to = links.value(way, "to"), slot = links.value(way, "slot");
    const key = [way.name, from, to, slot].join(" ");
    if (drawn.has(key)) continue;  // the same value for several users
    drawn.set(key, way);
    const [ax, ay] = corner(from, slot), [bx, by] = corner(to, slot), lift = 3 * (drawn.size % 4);
    const a = [ax + cell * (bx >= ax ? 0.72 : 0.28), ay + tall], b = [bx + cell * (bx >= ax ? 0.28 : 0.72), by + tall], low = Math.max(a[1], b[1]) + 9 + lift;
    const path = ay === by ? `M${a[0]},${a[1]} C${a[0]},${low} ${b[0]},${low} ${b[0]},${b[1] + 3}`
      : `M${ax + cell * 0.5},${by > ay ? ay + tall : ay} L${bx + cell * 0.5},${by > ay ? by - 2 : by + tall + 2}`;
    const end = ay === by ? [b[0], b[1], 0] : [bx + cell * 0.5, by > ay ? by : by + tall, by > ay ? 180 : 0];
    const group = chart.svg.append("g");
    group.append("path").attr("d", path).attr("fill", "none").style("stroke", "transparent").attr("stroke-width", 8);
    group.append("path").attr("class", "way").attr("d", path).attr("fill", "none").style("stroke", "var(--text)").attr("stroke-width", 1.3).style("opacity", 0.75);
    group.append("path").attr("d", "M-3.5,6 L0,0 L3.5,6 Z").attr("transform", `translate(${end[0]},${end[1]}) rotate(${end[2]})`).style("fill", "var(--text)");
    asMark(group, way, `value of ${way.name}: tile ${from} to ${to} in slot ${slot}`,
           () => tipContent("value of " + way.name, tipPairs(links, way, ["to_node", "from", "to", "slot", "clock"])));
  }
}
