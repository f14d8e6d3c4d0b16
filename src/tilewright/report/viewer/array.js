// The memories of an array from the outermost to the multipliers, and its grid with the part that a layer uses.

function drawArray(chart) {
  const {section} = chart, links = state.report.byId.get(chart.chart.links);
  const levels = section.items, last = levels[levels.length - 1];
  const wide = chart.width > 640, box = {width: wide ? Math.min(300, chart.width * 0.36) : chart.width - 4, height: 46}, gap = 16;
  const largest = d3.max(levels, (item) => section.value(item, "energy") || 0) || 1;
  let y = 4;
  for (const item of levels) {
    const group = chart.svg.append("g"), energy = section.value(item, "energy") || 0;
    group.append("rect").attr("class", "shape").attr("x", 2).attr("y", y).attr("width", box.width).attr("height", box.height).attr("rx", 7).style("fill", "var(--faint)");
    group.append("rect").attr("x", 2).attr("y", y + box.height - 5).attr("width", box.width * energy / largest).attr("height", 5).attr("rx", 2).style("fill", "var(--c0)");
    const count = section.value(item, "instances"), capacity = section.value(item, "capacity");
    const words = capacity === null ? "" : isNumber(capacity) ? section.cell(item, "capacity") : String(capacity);
    group.append("text").attr("x", 12).attr("y", y + 18).style("font-weight", 600).text(fitted(`${item.name}${count > 1 ? ` \u00d7 ${plainNumber(count)}` : ""}`, box.width * 0.62));
    group.append("text").attr("class", "soft").attr("x", 12).attr("y", y + 34).style("font-size", "11px").text(fitted(words, box.width * 0.6, 11));
    group.append("text").attr("class", "soft").attr("x", box.width - 8).attr("y", y + 18).attr("text-anchor", "end").style("font-size", "11px").text(energy ? section.cell(item, "energy") : "");
    chart.mark(group, item, ["capacity", "instances", "energy", "keeps"]);
    if (item !== last) chart.svg.append("line").attr("x1", 24).attr("x2", 24).attr("y1", y + box.height).attr("y2", y + box.height + gap).style("stroke", "var(--line)").attr("stroke-width", 2);
    y += box.height + gap;
  }
  const across = section.value(last, "instances_x"), down = section.value(last, "instances_y");
  const chosen = usedLayer(links), used = chosen && [links.value(chosen, "used_x"), links.value(chosen, "used_y")];
  const area = wide ? {x: box.width + 40, y: 24, width: chart.width - box.width - 52, height: y - gap - 28} : {x: 2, y: y + 22, width: chart.width - 4, height: 220};
  area.height = Math.max(160, area.height);
  const size = Math.max(1.5, Math.min(26, area.width / across, area.height / down)), inner = size > 5 ? size - 1.5 : size;
  const height = Math.max(y, area.y + size * down + 8);
  chart.size(chart.width, height);
  const share = used && isNumber(used[0]) ? `${chosen.name} uses ${used[0]} \u00d7 ${used[1]} of ${across} \u00d7 ${down} processing elements` : `${across} \u00d7 ${down} processing elements`;
  const caption = fitted(share, chart.width - area.x - 2);
  chart.svg.append("text").attr("class", "soft").attr("x", area.x).attr("y", area.y - 8).text(caption).append("title").text(share);
  if (across * down <= 4096) {
    for (let row = 0; row < down; ++row) {
      for (let column = 0; column < across; ++column) {
        const busy = used && isNumber(used[0]) && column < used[0] && row < used[1];
        chart.svg.append("rect").attr("x", area.x + column * size).attr("y", area.y + row * size).attr("width", inner).attr("height", inner).attr("rx", size > 8 ? 2 : 0)
          .style("fill", busy ? "var(--c2)" : "var(--line)");
      }
    }
  } else {
    chart.svg.append("rect").attr("x", area.x).attr("y", area.y).attr("width", size * across).attr("height", size * down).style("fill", "var(--line)");
    if (used && isNumber(used[0])) chart.svg.append("rect").attr("x", area.x).attr("y", area.y).attr("width", size * used[0]).attr("height", size * used[1]).style("fill", "var(--c2)");
  }
  chart.addLegend([["share of the energy", "var(--c0)", "line"], ["in use", "var(--c2)"], ["not in use", "var(--line)"]]);
}

// The selected layer, else the one that takes longest.
function usedLayer(links) {
  if (!links) return null;
  const items = links.items.filter((item) => isNumber(links.value(item, "used_x")));
  return items.find((item) => sameSubject(item, state.chosen)) || items[d3.scan(items, (a, b) => links.value(b, "cycles") - links.value(a, "cycles"))] || null;
}
