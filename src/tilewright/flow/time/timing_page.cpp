// Layers with their bounds, causes and traffic as one table, drawn as roofline, time line and stacked bars.
#include "tilewright/flow/time/timing_page.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

using overlay::CycleCause;

std::string cause_id(size_t cause) { return "cause_" + std::string(overlay::name(CycleCause(cause))); }

std::vector<PageColumn> layer_columns() {
  std::vector<PageColumn> columns = {
      {"number", "#"},
      {"layer", "layer"},
      {"operator", "operator"},
      {"cycles", "cycles", "cycles", PageBetter::kLess},
      {"of_peak", "of peak", "%", PageBetter::kMore},
      {"of_roofline", "of roofline", "%", PageBetter::kMore},
      {"bound_by", "bound by"},
      {"macs", "MACs", "MACs"},
      {"bytes", "bytes moved", "bytes", PageBetter::kLess},
      {"fill", "array fill", "%", PageBetter::kMore},
      {"ideal_cycles", "ideal cycles", "cycles", PageBetter::kNeither, true},
      {"roofline_cycles", "roofline", "cycles", PageBetter::kNeither, true},
      {"intensity", "MACs per byte, busier direction", "", PageBetter::kNeither, true},
      {"rate", "MACs per cycle", "", PageBetter::kMore, true},
      {"program", "program", "", PageBetter::kNeither, true},
      {"begin", "begins at", "cycles", PageBetter::kNeither, true},
      {"end", "ends at", "cycles", PageBetter::kNeither, true}};
  for (size_t c = 0; c < overlay::kCycleCauses; ++c) {
    columns.push_back({cause_id(c), overlay::name(CycleCause(c)), "cycles", PageBetter::kNeither, true});
  }
  for (const char* what : {"inputs", "weights", "parameters", "micro-ops", "instructions", "outputs"}) {
    columns.push_back({fmt::format("bytes_{}", what), fmt::format("bytes of {}", what), "bytes",
                       PageBetter::kNeither, true});
  }
  columns.push_back({"schedule", "schedule", "", PageBetter::kNeither, true});
  return columns;
}

PageSection layer_section(const NetworkTiming& timing) {
  PageSection section{
      .id = "layers",
      .title = "Layers",
      .note =
          "Layers run one after another; their cycles add up to the run. Cycles are those of the "
          "cycle simulator, which equals the hardware.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = layer_columns()};
  uint64_t program = 1, at = 0, end_before = 0;
  for (size_t l = 0; l < timing.layers.size(); ++l) {
    const overlay::LayerTiming& layer = timing.layers[l];
    const overlay::LayerTraffic& traffic = layer.traffic;
    if (l > 0 && layer.begin < end_before) ++program;  // its clock starts anew
    end_before = layer.end;
    const double cycles = double(layer.cycles()), bytes = timing.limits.bound_bytes(traffic);
    const double roofline = timing.limits.roofline_cycles(layer.macs, traffic);
    const bool placed = layer.macs > 0 && bytes > 0 && cycles > 0;
    std::vector<PageValue> row = {l + 1, layer.name, layer.op, layer.cycles()};
    if (layer.macs > 0) {
      row.emplace_back(timing.limits.ideal_cycles(layer.macs) / cycles);
    } else {
      row.emplace_back();
    }
    row.insert(row.end(), {roofline / cycles, overlay::name(layer.bound()), layer.macs, traffic.total()});
    row.push_back(layer.gemm_uops > 0 && layer.macs > 0 ? PageValue(timing.array_fill(layer)) : PageValue());
    row.insert(row.end(), {timing.limits.ideal_cycles(layer.macs), roofline});
    row.push_back(placed ? PageValue(double(layer.macs) / bytes) : PageValue());
    row.push_back(placed ? PageValue(double(layer.macs) / cycles) : PageValue());
    row.insert(row.end(), {fmt::format("program {}", program), at, at + layer.cycles()});
    at += layer.cycles();
    for (const uint64_t caused : layer.caused) row.emplace_back(caused);
    row.insert(row.end(),
               {traffic.input_bytes, traffic.weight_bytes, traffic.parameter_bytes, traffic.uop_bytes,
                traffic.instruction_bytes, traffic.output_bytes, overlay::print_schedule(layer.schedule)});
    section.rows.push_back(std::move(row));
  }
  section.charts.push_back(
      {.kind = PageChartKind::kTimeline,
       .title = "Time line",
       .caption = "One image. The colour says what bounds the layer.",
       .columns = {{"lane", "program"}, {"begin", "begin"}, {"end", "end"}, {"colour", "bound_by"}}});
  section.charts.push_back(
      {.kind = PageChartKind::kRoofline,
       .title = "Roofline",
       .caption = "A mark per layer that multiplies; its colour says what bounds it. Bytes are those of "
                  "the busier direction.",
       .columns = {{"x", "intensity"}, {"y", "rate"}, {"colour", "bound_by"}},
       .values = {{"macs_per_cycle", timing.limits.macs_per_cycle},
                  {"bytes_per_cycle", timing.limits.bytes_per_cycle},
                  {"clock_mhz", timing.hardware.clock_mhz}}});
  PageChart causes{
      .kind = PageChartKind::kStacked,
      .title = "Where the cycles go",
      .caption = "Every cycle has one cause: what would have to be faster for the layer to be faster."};
  for (size_t c = 0; c < overlay::kCycleCauses; ++c) causes.series.push_back(cause_id(c));
  section.charts.push_back(std::move(causes));
  return section;
}

PageSection hardware_change_section(const Explanation& explanation) {
  PageSection section{
      .id = "hardware_changes",
      .title = "Changes of the hardware",
      .note = "Each was made alone, with schedules chosen anew, and run on the cycle simulator.",
      .subject = "change",
      .subject_column = "change",
      .columns = {{"change", "change"},
                  {"saved", "cycles saved", "cycles", PageBetter::kMore},
                  {"saved_share", "of all", "%", PageBetter::kMore},
                  {"note", "note"}}};
  const double all = double(explanation.base.cycles());
  for (const Trial& trial : explanation.trials) {
    if (!trial.of_hardware) continue;
    if (!trial.refused.empty()) {
      section.rows.push_back({trial.change, {}, {}, "not possible: " + trial.refused});
      continue;
    }
    const int64_t saved = explanation.saved(trial);
    section.rows.push_back({trial.change, saved, double(saved) / all, ""});
  }
  section.charts.push_back({.kind = PageChartKind::kGrouped,
                            .title = "Cycles saved by a change of the hardware",
                            .caption = "Of the whole network. Below zero: it costs cycles.",
                            .series = {"saved"}});
  return section;
}

PageSection layer_change_section(const Explanation& explanation) {
  constexpr size_t kShownPerLayer = 4;
  PageSection section{
      .id = "layer_changes",
      .title = "What helps a layer",
      .note = fmt::format("The best changes of each layer, as measured. The best neighbouring schedule "
                          "of every layer saves {} cycles together.",
                          explanation.saved_by_schedules()),
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"layer", "layer"},
                  {"change", "change"},
                  {"of", "change of"},
                  {"cycles", "cycles then", "cycles", PageBetter::kLess},
                  {"saved", "cycles saved", "cycles", PageBetter::kMore},
                  {"saved_share", "of the layer", "%", PageBetter::kMore}}};
  for (size_t l = 0; l < explanation.base.layers.size(); ++l) {
    const overlay::LayerTiming& layer = explanation.base.layers[l];
    for (const Trial* trial : explanation.best(l, kShownPerLayer)) {
      const int64_t saved = explanation.saved(*trial, l);
      section.rows.push_back({layer.name, trial->details.empty() ? trial->change : trial->details[l],
                              trial->of_hardware ? "hardware" : "schedule", trial->cycles[l], saved,
                              double(saved) / double(layer.cycles())});
    }
  }
  return section;
}

}  // namespace

Page timing_page(const NetworkTiming& timing) {
  Page page{.verb = "report", .title = timing.network + " on " + timing.hardware.name};
  page.subtitle =
      fmt::format("at {:g} MHz; at best {:g} MACs and {:g} bytes {} per cycle", timing.hardware.clock_mhz,
                  timing.limits.macs_per_cycle, timing.limits.bytes_per_cycle,
                  timing.limits.shared_bus ? "both ways together" : "each way");
  const double cycles = double(timing.cycles());
  page.facts = {{"cycles", "cycles", timing.cycles(), "cycles", PageBetter::kLess},
                {"time_ms", "time", cycles / (timing.hardware.clock_mhz * 1e3), "ms", PageBetter::kLess},
                {"of_peak", "of peak", timing.share_of_peak(), "%", PageBetter::kMore},
                {"of_roofline", "of roofline", timing.roofline_cycles() / cycles, "%", PageBetter::kMore},
                {"macs", "MACs", timing.macs(), "MACs"},
                {"bytes", "moved", timing.traffic().total(), "bytes", PageBetter::kLess},
                {"layers", "layers on the overlay", timing.layers.size()}};
  if (timing.host.nodes > 0) {
    page.facts.push_back({"host_nodes", "nodes on the host", int64_t(timing.host.nodes)});
    page.facts.push_back(
        {"host_ms", "ms of the host and of transfers, estimated", 1e3 * timing.host.seconds()});
  }
  page.sections.push_back(layer_section(timing));
  return page;
}

Page explanation_page(const Explanation& explanation) {
  Page page = timing_page(explanation.base);
  page.verb = "explain";
  if (!explanation.trials.empty()) {
    page.sections.push_back(hardware_change_section(explanation));
    page.sections.push_back(layer_change_section(explanation));
  }
  return page;
}

}  // namespace tilewright
