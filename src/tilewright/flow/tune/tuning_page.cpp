// The page of a tuning: every layer of the network before and after, the distinct layers that were searched,
// and how each search went. Best-so-far curves are stairs: only trials that found something faster are kept.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "tilewright/flow/tune/tuning.h"

namespace tilewright {
namespace {

PageSection tuned_network(const NetworkTuning& tuning) {
  const NetworkTiming& after = tuning.after;
  PageSection section{
      .id = "layers",
      .title = "Layers",
      .note = "Layers in the network, one after another, with the schedules before and after.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"number", "#"},
                  {"layer", "layer"},
                  {"operator", "operator"},
                  {"before", "cycles before", "cycles", PageBetter::kLess},
                  {"after", "cycles after", "cycles", PageBetter::kLess},
                  {"faster", "faster", "x", PageBetter::kMore},
                  {"of_peak", "of peak", "%", PageBetter::kMore},
                  {"macs", "MACs", "MACs"},
                  {"intensity", "MACs per byte, busier direction", "", PageBetter::kNeither, true},
                  {"rate", "MACs per cycle", "", PageBetter::kMore, true},
                  {"intensity_before", "MACs per byte before", "", PageBetter::kNeither, true},
                  {"rate_before", "MACs per cycle before", "", PageBetter::kNeither, true},
                  {"schedule", "schedule", "", PageBetter::kNeither, true}}};
  std::map<std::string, const overlay::LayerTiming*> before;
  for (const overlay::LayerTiming& layer : tuning.before.layers) before[layer.name] = &layer;
  for (size_t l = 0; l < after.layers.size(); ++l) {
    const overlay::LayerTiming& layer = after.layers[l];
    const auto was = before.find(layer.name);
    if (was == before.end()) continue;
    const overlay::LayerTiming& old = *was->second;
    const auto macs = double(layer.macs);
    const double cycles = double(layer.cycles()), old_cycles = double(old.cycles());
    std::vector<PageValue> row = {l + 1,        layer.name,     layer.op,
                                  old.cycles(), layer.cycles(), old_cycles / cycles};
    if (macs > 0) {
      row.insert(row.end(), {after.limits.ideal_cycles(layer.macs) / cycles, layer.macs,
                             macs / after.limits.bound_bytes(layer.traffic), macs / cycles,
                             macs / after.limits.bound_bytes(old.traffic), macs / old_cycles});
    } else {
      row.resize(row.size() + 6);
    }
    row.emplace_back(overlay::print_schedule(layer.schedule));
    section.rows.push_back(std::move(row));
  }
  section.charts = {
      {.kind = PageChartKind::kRoofline,
       .title = "Roofline before and after",
       .caption = "Small marks: before. Layers without MACs have no place here.",
       .columns =
           {{"x", "intensity"}, {"y", "rate"}, {"before_x", "intensity_before"}, {"before_y", "rate_before"}},
       .values = {{"macs_per_cycle", after.limits.macs_per_cycle},
                  {"bytes_per_cycle", after.limits.bytes_per_cycle},
                  {"clock_mhz", after.hardware.clock_mhz}}},
      {.kind = PageChartKind::kGrouped, .title = "Cycles before and after", .series = {"before", "after"}}};
  return section;
}

PageSection searched_layers(const NetworkTuning& tuning) {
  PageSection section{
      .id = "searches",
      .title = "Searches",
      .note =
          "Layers of one shape share a search and its schedule. Cycles are those of the layer run alone; "
          "no schedule is faster than the bound.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"layer", "layer"},
                  {"layers", "layers of this shape"},
                  {"operator", "operator"},
                  {"trials", "trials"},
                  {"before", "cycles before", "cycles", PageBetter::kLess},
                  {"after", "cycles after", "cycles", PageBetter::kLess},
                  {"bound", "bound", "cycles"},
                  {"of_bound", "of bound", "%", PageBetter::kMore},
                  {"names", "all layers of this shape", "", PageBetter::kNeither, true},
                  {"schedule_before", "schedule before", "", PageBetter::kNeither, true},
                  {"schedule", "schedule", "", PageBetter::kNeither, true}}};
  for (const TunedLayer& layer : tuning.layers) {
    std::string names;
    for (const std::string& name : layer.names) names += (names.empty() ? "" : ", ") + name;
    section.rows.push_back({layer.names.front(), layer.count(), layer.op, layer.result.end.trials,
                            layer.before_cycles, layer.after_cycles, layer.bound_cycles,
                            layer.bound_cycles / layer.after_cycles, names,
                            overlay::print_schedule(layer.before), overlay::print_schedule(layer.after)});
  }
  return section;
}

PageSection search_curves(const NetworkTuning& tuning) {
  PageSection section{.id = "progress",
                      .title = "How the searches went",
                      .subject = "layer",
                      .subject_column = "layer",
                      .columns = {{"layer", "layer"},
                                  {"trial", "trials"},
                                  {"cycles", "best cycles so far", "cycles", PageBetter::kLess},
                                  {"of_bound", "share of the layer's bound", "%", PageBetter::kMore}}};
  for (const TunedLayer& layer : tuning.layers) {
    const std::vector<double> best = layer.result.best_so_far();
    for (size_t i = 0; i < best.size(); ++i) {
      const bool first = i == 0 || best[i] < best[i - 1];
      if (!std::isfinite(best[i]) || !(first || i + 1 == best.size())) continue;
      section.rows.push_back({layer.names.front(), i + 1, best[i], layer.bound_cycles / best[i]});
    }
  }
  section.charts = {
      {.kind = PageChartKind::kStairs,
       .title = "Best schedule so far",
       .caption = "Each layer alone, as measured: a step where a trial was faster than all before it.",
       .columns = {{"x", "trial"}, {"y", "of_bound"}, {"group", "layer"}}}};
  return section;
}

}  // namespace

Page tuning_page(const NetworkTuning& tuning) {
  const double before = double(tuning.before.cycles()), after = double(tuning.after.cycles());
  int64_t trials = 0;
  for (const TunedLayer& layer : tuning.layers) trials += layer.result.end.trials;
  Page page{.verb = "tune", .title = tuning.after.network + " on " + tuning.after.hardware.name};
  page.subtitle =
      fmt::format("schedules searched with {} trials over {} distinct layers", trials, tuning.layers.size());
  page.facts = {{"cycles", "cycles after", after, "cycles", PageBetter::kLess},
                {"cycles_before", "cycles before", before, "cycles"},
                {"faster", "faster", before / after, "x", PageBetter::kMore},
                {"of_peak", "of peak", tuning.after.share_of_peak(), "%", PageBetter::kMore},
                {"trials", "trials", trials},
                {"seconds", "searched for", tuning.seconds, "s"}};
  page.sections = {tuned_network(tuning), searched_layers(tuning), search_curves(tuning)};
  return page;
}

}  // namespace tilewright
