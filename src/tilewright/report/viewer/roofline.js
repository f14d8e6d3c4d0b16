// MACs per cycle over MACs per byte, both axes logarithmic: two roofs and a mark per row. Marks carry the numbers of
// the table where there is room.

function drawRoofline(chart) {
  const {section, svg} = chart, machine = chart.chart.values;
  const peak = machine.macs_per_cycle, rate = machine.bytes_per_cycle, ridge = peak / rate;
  const items = section.items.filter((item) => isNumber(chart.value(item, "x")) && isNumber(chart.value(item, "y")));
  const ghosts = items.map((item) => [item, counterpart(item)]).filter(([, other]) => other)
    .map(([item, other]) => [item, other.section.value(other, chart.chart.columns.x), other.section.value(other, chart.chart.columns.y)])
    .filter(([, x, y]) => isNumber(x) && isNumber(y));
  const xs = [ridge / 2, ridge * 4], ys = [peak * 1.6, peak / 20];
  const enclose = (x, y) => { if (x > 0) xs.push(x / 1.4, x * 1.4); if (y > 0) ys.push(y / 1.6); };
  for (const item of items) {
    enclose(chart.value(item, "x"), chart.value(item, "y"));
    if (chart.chart.columns.before_x) enclose(chart.value(item, "before_x"), chart.value(item, "before_y"));
  }
  for (const [, x, y] of ghosts) enclose(x, y);
  if (machine.whole_x) enclose(machine.whole_x, machine.whole_y);
  const frame = {x: 46, y: 24, width: chart.width - 58, height: Math.max(240, Math.min(430, chart.width * 0.55))};
  chart.size(chart.width, frame.y + frame.height + 44);
  const x = d3.scaleLog().domain([d3.min(xs), d3.max(xs)]).range([frame.x, frame.x + frame.width]);
  const y = d3.scaleLog().domain([d3.min(ys), d3.max(ys)]).range([frame.y + frame.height, frame.y]);
  logAxis(chart, frame, x, "bottom");
  logAxis(chart, frame, y, "left");
  axisTitles(chart, frame, "MACs per byte of memory traffic", "MACs per cycle");

  const foot = Math.max(x.domain()[0], y.domain()[0] / rate);
  svg.append("path").attr("d", d3.line()([[x(foot), y(foot * rate)], [x(ridge), y(peak)], [x(x.domain()[1]), y(peak)]]))
    .attr("fill", "none").style("stroke", "var(--text)").attr("stroke-width", 1.8);
  const roofTaken = (px, py, text, anchor) => {
    const width = textWidth(text, 11.5);
    chart.taken.push({x: anchor === "end" ? px - width : px, y: py - 12, width, height: 15});
    svg.append("text").attr("class", "soft").attr("x", px).attr("y", py).attr("text-anchor", anchor).style("font-size", "11.5px").text(text);
  };
  const words = `${plainNumber(peak)} MACs per cycle`, speed = machine.clock_mhz ? ` (${plainNumber(peak * machine.clock_mhz / 1e3)} GMAC/s at ${plainNumber(machine.clock_mhz)} MHz)` : "";
  roofTaken(frame.x + frame.width, y(peak) - 7, textWidth(words + speed) < frame.width ? words + speed : words, "end");
  chart.taken.push({x: x(ridge), y: y(peak) - 2, width: frame.x + frame.width - x(ridge), height: 4});
  for (let step = 0; step < 40; ++step) {  // labels keep off the slope
    const at = foot * (ridge / foot) ** (step / 40);
    chart.taken.push({x: x(at) - 2, y: y(at * rate) - 3, width: 4, height: 6});
  }

  const colour = chart.chart.columns.colour, family = colour ? categoryFamily(section, colour) : ["rows"];
  const paint = (item) => colours.of(family, colour ? String(section.value(item, colour)) : "rows");
  for (const item of items) {
    if (!chart.chart.columns.before_x || !isNumber(chart.value(item, "before_x"))) continue;
    const from = [x(chart.value(item, "before_x")), y(chart.value(item, "before_y"))], to = [x(chart.value(item, "x")), y(chart.value(item, "y"))];
    svg.append("line").attr("x1", from[0]).attr("y1", from[1]).attr("x2", to[0]).attr("y2", to[1]).style("stroke", "var(--soft)").attr("stroke-dasharray", "3 3");
    svg.append("circle").attr("cx", from[0]).attr("cy", from[1]).attr("r", 3).style("fill", "var(--soft)");
  }
  for (const [, gx, gy] of ghosts) {
    svg.append("circle").attr("class", "ghost").attr("cx", x(gx)).attr("cy", y(gy)).attr("r", 6).attr("fill", "none").style("stroke", "var(--soft)").attr("stroke-width", 1.5);
  }
  for (const item of items) chart.taken.push({x: x(chart.value(item, "x")) - 6, y: y(chart.value(item, "y")) - 6, width: 12, height: 12});
  const slope = `${plainNumber(rate)} bytes per cycle`, below = [];
  for (let step = 1; step < 20; ++step) {
    const at = foot * (ridge / foot) ** (step / 20);
    below.push({x: x(at) + 10, y: y(at * rate) + 12}, {x: x(at) - 8, y: y(at * rate) - 6, anchor: "end"});
  }
  chart.label(svg, slope, below, frame, 11.5);
  const named = [chart.chart.columns.x, chart.chart.columns.y, colour, "cycles", "of_peak"];
  for (const item of items) {
    const group = svg.append("g"), cx = x(chart.value(item, "x")), cy = y(chart.value(item, "y"));
    group.append("circle").attr("class", "shape").attr("cx", cx).attr("cy", cy).attr("r", 6).style("fill", paint(item));
    chart.mark(group, item, named);
    chart.label(svg, section.label(item), around(cx, cy), frame);
  }
  if (machine.whole_x) {
    const cx = x(machine.whole_x), cy = y(machine.whole_y);
    svg.append("path").attr("class", "shape").attr("d", d3.symbol(d3.symbolDiamond, 130)()).attr("transform", `translate(${cx},${cy})`).style("fill", "var(--text)");
    chart.label(svg, "all", around(cx, cy), frame);
  }
  const present = new Set(items.map((item) => String(section.value(item, colour))));
  chart.addLegend(colour ? family.filter((name) => present.has(name)).map((name) => [name, colours.of(family, name)]) : []);
  if (chart.chart.columns.before_x) chart.addLegend([["after", colours.of(family, "rows")], ["before", "var(--soft)"]]);
  if (machine.whole_x) chart.addLegend([["everything together", "var(--text)"]]);
  if (ghosts.length) chart.addLegend([["the other run", "", "ring"]]);
}

// Places for a label of a round mark: right, left, above, below, then farther.
function around(x, y) {
  const places = [];
  for (const away of [10, 18, 28]) {
    places.push({x: x + away, y: y + 4}, {x: x - away, y: y + 4, anchor: "end"}, {x, y: y - away, anchor: "middle"}, {x, y: y + away + 9, anchor: "middle"},
                {x: x + away * 0.8, y: y - away * 0.6}, {x: x + away * 0.8, y: y + away * 0.6 + 8}, {x: x - away * 0.8, y: y - away * 0.6, anchor: "end"},
                {x: x - away * 0.8, y: y + away * 0.6 + 8, anchor: "end"});
  }
  return places;
}

// Powers of ten with their numbers, 2 to 9 as fine lines; over less than two decades also 2 and 5 with numbers.
function logAxis(chart, frame, scale, side) {
  const [low, high] = scale.domain(), bottom = side === "bottom", numbers = [], fine = [];
  const close = Math.log10(high / low) < 2.2;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (let digit = 1; digit < 10; ++digit) {
      const value = digit * 10 ** power;
      if (value < low || value > high) continue;
      (digit === 1 || (close && (digit === 2 || digit === 5)) ? numbers : fine).push(value);
    }
  }
  const group = chart.svg.append("g").attr("aria-hidden", "true");
  for (const value of [...numbers, ...fine]) {
    const at = scale(value), strong = numbers.includes(value);
    group.append("line").attr("x1", bottom ? at : frame.x).attr("x2", bottom ? at : frame.x + frame.width)
      .attr("y1", bottom ? frame.y : at).attr("y2", bottom ? frame.y + frame.height : at)
      .style("stroke", strong ? "var(--line)" : "var(--faint)");
  }
  const labels = chart.svg.append("g").attr("aria-hidden", "true");
  for (const value of numbers) {
    const at = scale(value);
    labels.append("g").attr("class", "tick").append("text").attr("x", bottom ? at : frame.x - 6).attr("y", bottom ? frame.y + frame.height + 16 : at + 4)
      .attr("text-anchor", bottom ? "middle" : "end").text(value >= 1e5 ? textOf(value, "bytes").replace("B", "").trim() : plainNumber(value));
  }
  if (bottom) keepApart(labels, chart);
}
