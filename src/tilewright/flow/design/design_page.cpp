// Sections in the order of the questions: does it fit, what works when, what bounds it, how full are queues.
#include "tilewright/flow/design/design_page.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

std::string estimate_note(const DesignReport& report) {
  if (report.simulated_cycles == 0) {
    return "Cycles are estimated by closed forms; the design was not simulated.";
  }
  const double error =
      100 * double(report.estimated_cycles - report.simulated_cycles) / double(report.simulated_cycles);
  return fmt::format(
      "Cycles are those of the cycle simulation of the design, from the start bit to the end of an image; "
      "its memory "
      "ports carried {} beats in and {} beats out per image. The closed form had estimated {} cycles "
      "({:+.1f} %).",
      report.read_beats, report.write_beats, report.estimated_cycles, error);
}

PageSection resource_section(const DesignReport& report) {
  PageSection section{.id = "resources",
                      .title = "Resources",
                      .note = "Needs are estimated. Block memories count 18 Kb each.",
                      .subject = "resource",
                      .subject_column = "resource",
                      .columns = {{"resource", "resource"},
                                  {"need", "needs", "", PageBetter::kLess},
                                  {"budget", "budget"},
                                  {"of_budget", "of budget", "%", PageBetter::kLess},
                                  {"device", "device has"},
                                  {"error", "estimate within", "%"}}};
  for (const DesignNeed& need : report.needs) {
    if (need.need == 0 && need.have == 0) continue;
    section.rows.push_back(
        {need.resource, need.need, need.budget,
         need.budget > 0 ? PageValue(double(need.need) / double(need.budget)) : PageValue(), need.have,
         need.error_percent < 0 ? PageValue() : PageValue(need.error_percent / 100)});
  }
  section.charts = {{.kind = PageChartKind::kBullet,
                     .title = "Use of the device",
                     .caption = "The bar is the need, the line the budget, the ground the device.",
                     .columns = {{"value", "need"}, {"limit", "budget"}, {"whole", "device"}}}};
  return section;
}

PageSection activity_section(const DesignReport& report) {
  PageSection section{
      .id = "activity",
      .title = "Activity over time",
      .note = report.simulated_cycles > 0
                  ? "One image, simulated: at most so many of the cycles were its own work, the others it "
                    "waited for data, weights or space."
                  : "One image, estimated.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"lane", report.streaming ? "stage" : "engine"},
                  {"layer", "layer"},
                  {"rows", "rows"},
                  {"begin", "begins", "cycles"},
                  {"end", "ends", "cycles"},
                  {"work", "own work", "cycles"}}};
  for (const DesignBar& bar : report.bars) {
    const std::string& lane = report.lanes[size_t(bar.lane)];
    section.rows.push_back(
        {lane, bar.layer < 0 ? lane : report.layers[size_t(bar.layer)].name,
         bar.rows > 0 ? PageValue(fmt::format("{} to {}", bar.first_row, bar.first_row + bar.rows - 1))
                      : PageValue(),
         bar.begin, bar.end, bar.work});
  }
  section.charts = {
      {.kind = PageChartKind::kTimeline,
       .title = "Engines over time",
       .caption = "Thick: its own work. Thin: waiting.",
       .columns = {
           {"lane", "lane"}, {"begin", "begin"}, {"end", "end"}, {"work", "work"}, {"colour", "layer"}}}};
  return section;
}

PageSection design_layer_section(const DesignReport& report) {
  PageSection section{
      .id = "layers",
      .title = "Layers",
      .note = "Cycles are those that the layer adds to the latency of an image.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"number", "#"},
                  {"layer", "layer"},
                  {"kind", "kind"},
                  {"place", report.streaming ? "where" : "engine"},
                  {"cycles", "cycles", "cycles", PageBetter::kLess},
                  {"multipliers", "products per cycle"},
                  {"of_peak", "of its peak", "%", PageBetter::kMore},
                  {"bound_by", "bound by"},
                  {"macs", "MACs", "MACs"},
                  {"array", "array", "", PageBetter::kNeither, true},
                  {"work_cycles", "array cycles", "cycles", PageBetter::kNeither, true},
                  {"weight_bytes", "weights fetched", "bytes", PageBetter::kLess},
                  {"fetch_cycles", "cycles to fetch them", "cycles", PageBetter::kNeither, true},
                  {"own_cycles", "cycles it needs at least", "cycles", PageBetter::kNeither, true},
                  {"intensity", "MACs per byte, busier direction", "", PageBetter::kNeither, true},
                  {"rate", "MACs per cycle", "", PageBetter::kNeither, true},
                  {"input_fifo", "input queue", "words", PageBetter::kNeither, true},
                  {"residual_fifo", "residual queue", "words", PageBetter::kNeither, true}}};
  for (size_t l = 0; l < report.layers.size(); ++l) {
    const DesignLayer& layer = report.layers[l];
    const bool placed = layer.macs > 0 && layer.weight_bytes > 0 && layer.own_cycles() > 0;
    const bool multiplies = layer.multipliers > 0;
    section.rows.push_back({l + 1, layer.name, layer.kind, layer.place, layer.cycles,
                            multiplies ? PageValue(layer.multipliers) : PageValue(),
                            multiplies ? PageValue(layer.share_of_peak) : PageValue(), layer.bound,
                            layer.macs, layer.array, layer.work_cycles,
                            layer.weight_bytes > 0 ? PageValue(layer.weight_bytes) : PageValue(),
                            layer.fetch_cycles, layer.own_cycles(),
                            placed ? PageValue(double(layer.macs) / double(layer.weight_bytes)) : PageValue(),
                            placed ? PageValue(double(layer.macs) / double(layer.own_cycles())) : PageValue(),
                            layer.input_fifo, layer.residual_fifo});
  }
  for (const HostLayer& layer : report.host_layers) {
    std::vector<PageValue> row(section.columns.size());
    row[1] = layer.name;
    row[2] = layer.op;
    row[3] = "host";
    section.rows.push_back(std::move(row));
  }
  PageChart roofline{
      .kind = PageChartKind::kRoofline,
      .title = "Roofline",
      .caption =
          "Layers whose weights come from memory, in the least time that each needs, and the whole design. "
          "Layers whose weights stay on chip cause no traffic and have no mark.",
      .columns = {{"x", "intensity"}, {"y", "rate"}, {"colour", "bound_by"}},
      .values = {{"macs_per_cycle", double(std::max<int64_t>(report.multipliers, 1))},
                 {"bytes_per_cycle", double(report.channels * report.port_bytes)},
                 {"clock_mhz", report.clock_mhz}}};
  if (report.macs > 0 && report.one_way_bytes > 0 && report.interval() > 0) {
    roofline.values["whole_x"] = double(report.macs) / double(report.one_way_bytes);
    roofline.values["whole_y"] = double(report.macs) / double(report.interval());
  }
  section.charts.push_back(std::move(roofline));
  section.charts.push_back(
      {.kind = PageChartKind::kGrouped, .title = "Cycles of the layers", .series = {"cycles"}});
  return section;
}

PageSection queue_section(const DesignReport& report) {
  PageSection section{
      .id = "queues",
      .title = "Queues",
      .subject = "queue",
      .subject_column = "queue",
      .columns = {{"queue", "queue"}, {"depth", "depth", "words"}, {"level", "highest level", "words"}}};
  for (const DesignQueue& queue : report.queues) {
    section.rows.push_back({queue.name, queue.depth, queue.level < 0 ? PageValue() : PageValue(queue.level)});
  }
  section.charts = {{.kind = PageChartKind::kBullet,
                     .title = "How full the queues were",
                     .columns = {{"value", "level"}, {"whole", "depth"}}}};
  return section;
}

PageSection precision_section(const PrecisionPoints& precision) {
  PageSection section{
      .id = "precision",
      .title = "Bits per layer",
      .note = fmt::format(
          "Designs of the same cycles, each with other bits per layer; answers of {} samples that "
          "nothing was fitted to. At most {} {} were allowed.",
          precision.samples, precision.limit, precision.resource),
      .subject = "choice",
      .subject_column = "choice",
      .columns = {{"choice", "choice"},
                  {"need", precision.resource, "", PageBetter::kLess},
                  {"right", "right", "%", PageBetter::kMore},
                  {"wrong", "wrong", "%", PageBetter::kLess},
                  {"ratio", "outputs", "dB", PageBetter::kMore},
                  {"bits", "mean bits of a weight"}}};
  for (size_t i = 0; i < precision.points.size(); ++i) {
    const PrecisionPoints::Point& point = precision.points[i];
    section.rows.push_back({point.chosen       ? "chosen"
                            : point.equal_bits ? std::string("8 bits everywhere")
                                               : fmt::format("choice {}", i + 1),
                            point.need, point.accuracy, 1 - point.accuracy, point.output_db,
                            point.mean_weight_bits});
  }
  section.charts = {{.kind = PageChartKind::kStairs,
                     .title = "Wrong answers against " + precision.resource,
                     .columns = {{"x", "need"}, {"y", "wrong"}}}};
  return section;
}

}  // namespace

Page design_page(const DesignReport& report) {
  Page page{.verb = "generate", .title = report.network + " on " + report.device};
  page.subtitle = fmt::format("{}, {}, {:g} MHz, {} memory {} of {} bytes", report.number_type,
                              report.streaming ? "a stage for every layer" : "processors", report.clock_mhz,
                              report.channels, report.channels == 1 ? "port" : "ports", report.port_bytes);
  page.notes = {estimate_note(report)};
  if (!report.host_layers.empty()) {
    page.notes.push_back(fmt::format(
        "The hardware covers part of the network: {} layers with weights of other number types stay on the "
        "host, and none of these numbers includes their time.",
        report.host_layers.size()));
  }
  page.facts = {{"cycles", report.simulated_cycles > 0 ? "cycles, simulated" : "cycles, estimated",
                 report.cycles(), "cycles", PageBetter::kLess},
                {"latency_ms", "latency", report.milliseconds(), "ms", PageBetter::kLess},
                {"images_per_second", "images per second", report.images_per_second(), "", PageBetter::kMore},
                {"multipliers", "products per cycle", report.multipliers},
                {"of_peak", "of peak", report.share_of_peak(), "%", PageBetter::kMore},
                {"bytes", "memory traffic per image", report.dram_bytes, "bytes", PageBetter::kLess}};
  page.sections = {resource_section(report), activity_section(report), design_layer_section(report)};
  if (!report.queues.empty()) page.sections.push_back(queue_section(report));
  if (report.precision) page.sections.push_back(precision_section(*report.precision));
  return page;
}

}  // namespace tilewright
