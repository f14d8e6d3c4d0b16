// The answer of `map` as a page: one dataflow layer by layer with its array, or dataflows beside each other;
// fronts; what fusion, unions and comparisons say.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/flow/map/map_question.h"

namespace tilewright {
namespace {

std::string energy_unit(const NetworkReport& report) {
  return report.energy_unit == "mac" ? "MAC energies" : report.energy_unit;
}

double place_energy(const std::vector<std::array<double, kDataRoles>>& parts, size_t place) {
  return place < parts.size() ? parts[place][0] + parts[place][1] + parts[place][2] : 0;
}

// How far a mapping spreads over the array; nothing where there is no mapping in text form.
std::vector<PageValue> used_array(const Workload& workload, const LayerCost& cost) {
  if (cost.mapping.empty()) return {{}, {}};
  int64_t x = 1, y = 1;
  for (const MappingLevel& level : parse_mapping(cost.mapping, workload.name, workload).levels) {
    x *= spatial_fanout(level, SpatialAxis::kX);
    y *= spatial_fanout(level, SpatialAxis::kY);
  }
  return {x, y};
}

PageSection mapped_layers(const NetworkReport& report, const DataflowRun& run) {
  const std::string unit = energy_unit(report);
  PageSection section{
      .id = "layers",
      .title = "Layers",
      .note =
          "The optimum is proven where the table says so; else the gap says how much better a mapping "
          "could be at most.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"number", "#"},
                  {"layer", "layer"},
                  {"operator", "operator"},
                  {"energy", "energy", unit, PageBetter::kLess},
                  {"cycles", "cycles", "cycles", PageBetter::kLess},
                  {"utilisation", "PEs busy", "%", PageBetter::kMore},
                  {"status", "answer"},
                  {"gap", "gap", "%", PageBetter::kLess},
                  {"macs", "MACs", "MACs"},
                  {"energy_per_mac", "energy per MAC", unit, PageBetter::kLess, true},
                  {"active_pes", "PEs in use", "", PageBetter::kNeither, true},
                  {"used_x", "columns of PEs in use", "", PageBetter::kNeither, true},
                  {"used_y", "rows of PEs in use", "", PageBetter::kNeither, true},
                  {"mapspace", "mappings in all", "", PageBetter::kNeither, true},
                  {"seconds", "searched for", "s", PageBetter::kNeither, true},
                  {"arithmetic", "arithmetic", unit, PageBetter::kNeither, true}}};
  for (const std::string& place : run.places)
    section.columns.push_back({"at_" + place, place, unit, PageBetter::kNeither, true});
  for (const char* role : kDataRoleNames) {
    section.columns.push_back(
        {fmt::format("for_{}", role), fmt::format("moving {}", role), unit, PageBetter::kNeither, true});
  }
  section.columns.push_back({"reason", "why there is none", "", PageBetter::kNeither, true});
  section.columns.push_back({"variables", "variables", "", PageBetter::kNeither, true});
  section.columns.push_back({"mapping", "mapping", "", PageBetter::kNeither, true});
  for (size_t l = 0; l < report.network.layers.size(); ++l) {
    const NetworkLayer& layer = report.network.layers[l];
    const LayerCost& cost = report.cost(run, layer);
    const Workload& workload = report.network.workload(layer);
    const auto macs = double(workload.operation_count());
    std::vector<PageValue> row = {l + 1, layer.name, layer.op};
    if (cost.has_cost()) {
      row.insert(row.end(), {cost.energy, cost.cycles, cost.utilisation, name(cost.status),
                             cost.status == LayerStatus::kEvaluated ? PageValue() : PageValue(cost.gap()),
                             macs, cost.energy / macs, cost.active_pes});
      for (PageValue& used : used_array(workload, cost)) row.push_back(std::move(used));
      row.insert(row.end(), {cost.mapspace_size > 0 ? PageValue(cost.mapspace_size) : PageValue(),
                             cost.seconds, cost.arithmetic_energy});
      for (size_t p = 0; p < run.places.size(); ++p) row.emplace_back(place_energy(cost.parts, p));
      for (int r = 0; r < kDataRoles; ++r) {
        row.emplace_back(NetworkReport::role_energy(cost.parts, DataRole(r)));
      }
    } else {
      row.insert(row.end(), {{}, {}, {}, name(cost.status), {}, macs});
      row.resize(section.columns.size() - 3);
    }
    row.insert(row.end(), {cost.reason, cost.variables, cost.mapping});
    section.rows.push_back(std::move(row));
  }
  PageChart places{.kind = PageChartKind::kStacked,
                   .title = "Energy by memory",
                   .caption = "Of one execution of the layer.",
                   .series = {"arithmetic"}};
  // Innermost first, so that what is far from the arithmetic stands last.
  for (size_t p = run.places.size(); p-- > 0;) {
    const bool used = std::any_of(run.costs.begin(), run.costs.end(),
                                  [&](const LayerCost& cost) { return place_energy(cost.parts, p) > 0; });
    if (used) places.series.push_back("at_" + run.places[p]);
  }
  PageChart roles{.kind = PageChartKind::kStacked, .title = "Energy by data type", .series = {"arithmetic"}};
  for (const char* role : kDataRoleNames) roles.series.push_back(fmt::format("for_{}", role));
  section.charts = {std::move(places),
                    std::move(roles),
                    {.kind = PageChartKind::kGrouped, .title = "Cycles of the layers", .series = {"cycles"}}};
  return section;
}

PageSection array_section(const MapAnswer& answer) {
  const ArrayHardware& hardware = answer.hardware;
  const NetworkReport& report = answer.report;
  const DataflowRun& run = report.runs.front();
  const RunTotals totals = report.totals(run);
  PageSection section{.id = "array",
                      .title = "The array",
                      .subject = "memory",
                      .subject_column = "memory",
                      .columns = {{"memory", "memory"},
                                  {"capacity", "holds", "words"},
                                  {"instances", "of them"},
                                  {"instances_x", "across"},
                                  {"instances_y", "down"},
                                  {"energy", "energy of the network", energy_unit(report), PageBetter::kLess},
                                  {"keeps", "keeps"}}};
  int64_t x = 1, y = 1;
  const auto energy_at = [&](const std::string& place) {
    const auto at = std::find(run.places.begin(), run.places.end(), place);
    return at == run.places.end() ? PageValue()
                                  : PageValue(place_energy(totals.parts, size_t(at - run.places.begin())));
  };
  for (const ArrayLevel& level : hardware.levels) {
    std::string keeps;
    for (int r = 0; r < kDataRoles; ++r) {
      if ((level.may_keep >> r & 1u) != 0)
        keeps += std::string(keeps.empty() ? "" : ", ") + kDataRoleNames[size_t(r)];
    }
    int64_t capacity = level.capacity_words;
    for (const int64_t words : level.role_capacity_words) {
      if (words > 0 && capacity >= 0) capacity += words;
    }
    section.rows.push_back({level.name, capacity < 0 ? PageValue("unlimited") : PageValue(capacity), x * y, x,
                            y, energy_at(level.name), keeps});
    x *= level.fanout_x;
    y *= level.fanout_y;
  }
  section.rows.push_back({"multipliers", {}, x * y, x, y, totals.arithmetic_energy, ""});
  section.charts = {{.kind = PageChartKind::kArray,
                     .title = "Memories and processing elements",
                     .caption = "Select a layer to see how much of the array it uses.",
                     .columns = {{"level", "memory"},
                                 {"capacity", "capacity"},
                                 {"instances_x", "instances_x"},
                                 {"instances_y", "instances_y"}},
                     .links = "layers"}};
  return section;
}

PageSection dataflow_section(const NetworkReport& report) {
  const std::string unit = energy_unit(report);
  PageSection section{.id = "dataflows",
                      .title = "Dataflows",
                      .note = "Energy per MAC over all layers, equal layers as often as they occur.",
                      .subject = "dataflow",
                      .subject_column = "dataflow",
                      .columns = {{"dataflow", "dataflow"},
                                  {"energy_per_mac", "energy per MAC", unit, PageBetter::kLess},
                                  {"energy", "energy", unit, PageBetter::kLess},
                                  {"cycles", "cycles", "cycles", PageBetter::kLess},
                                  {"missing", "layers it cannot run", "", PageBetter::kLess},
                                  {"arithmetic", "arithmetic", unit, PageBetter::kNeither, true}}};
  std::vector<std::string> places;
  for (const DataflowRun& run : report.runs) {
    for (const std::string& place : run.places) {
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  for (const std::string& place : places)
    section.columns.push_back({"at_" + place, place, unit, PageBetter::kNeither, true});
  for (const DataflowRun& run : report.runs) {
    const RunTotals total = report.totals(run);
    std::vector<PageValue> row = {run.dataflow};
    const double macs = double(std::max<int64_t>(total.macs, 1));
    if (total.missing > 0 || total.macs == 0) {
      row.insert(row.end(), {{}, {}, {}, total.missing});
      row.resize(section.columns.size());
    } else {
      row.insert(row.end(), {total.energy_per_mac(), total.energy, total.cycles, total.missing,
                             total.arithmetic_energy / macs});
      for (const std::string& place : places) {
        const auto at = std::find(run.places.begin(), run.places.end(), place);
        row.emplace_back(
            at == run.places.end() ? 0 : place_energy(total.parts, size_t(at - run.places.begin())) / macs);
      }
    }
    section.rows.push_back(std::move(row));
  }
  PageChart chart{.kind = PageChartKind::kStacked,
                  .title = "Energy per MAC by memory",
                  .caption = "Dataflows that cannot run all layers have no bar.",
                  .series = {"arithmetic"}};
  for (size_t p = places.size(); p-- > 0;) chart.series.push_back("at_" + places[p]);
  section.charts = {std::move(chart)};
  return section;
}

PageSection layers_by_dataflow(const NetworkReport& report) {
  PageSection section{
      .id = "layers",
      .title = "Layers",
      .note = "Energy per MAC of each layer under each dataflow.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"number", "#"}, {"layer", "layer"}, {"operator", "operator"}, {"macs", "MACs", "MACs"}}};
  PageChart chart{.kind = PageChartKind::kGrouped, .title = "Energy per MAC by dataflow"};
  for (const DataflowRun& run : report.runs) {
    section.columns.push_back({run.dataflow, run.dataflow, energy_unit(report), PageBetter::kLess});
    chart.series.push_back(run.dataflow);
  }
  for (const DataflowRun& run : report.runs) {
    section.columns.push_back(
        {"cycles_" + run.dataflow, "cycles, " + run.dataflow, "cycles", PageBetter::kLess, true});
  }
  for (size_t l = 0; l < report.network.layers.size(); ++l) {
    const NetworkLayer& layer = report.network.layers[l];
    const auto macs = double(report.network.workload(layer).operation_count());
    std::vector<PageValue> row = {l + 1, layer.name, layer.op, macs}, cycles;
    for (const DataflowRun& run : report.runs) {
      const LayerCost& cost = report.cost(run, layer);
      row.push_back(cost.has_cost() ? PageValue(cost.energy / macs) : PageValue());
      cycles.push_back(cost.has_cost() ? PageValue(cost.cycles) : PageValue());
    }
    row.insert(row.end(), cycles.begin(), cycles.end());
    section.rows.push_back(std::move(row));
  }
  section.charts = {std::move(chart)};
  return section;
}

PageSection front_section(const MapAnswer& answer) {
  const NetworkReport& report = answer.report;
  const bool timed = report.clock_mhz > 0;
  PageSection section{
      .id = "front",
      .title = "Energy against latency",
      .note = answer.fronts->proven
                  ? "Every point is proven: nothing is faster at its energy, nor thriftier at "
                    "its time."
                  : "Searches were stopped: these are the best points found.",
      .subject = "point",
      .subject_column = "point",
      .columns = {{"point", "point"},
                  {"cycles", "cycles", "cycles", PageBetter::kLess},
                  {"energy", "energy", energy_unit(report), PageBetter::kLess},
                  {"product", "energy x cycles", "", PageBetter::kLess}}};
  if (timed) section.columns.push_back({"ms", "latency", "ms", PageBetter::kLess});
  for (size_t i = 0; i < answer.fronts->front.points.size(); ++i) {
    const FrontCost& point = answer.fronts->front.points[i];
    std::vector<PageValue> row = {fmt::format("point {}", i + 1), point.cycles, point.energy,
                                  point.cycles * point.energy};
    if (timed) row.emplace_back(point.cycles / (1e3 * report.clock_mhz));
    section.rows.push_back(std::move(row));
  }
  section.charts = {{.kind = PageChartKind::kStairs,
                     .title = "Front of energy against latency",
                     .columns = {{"x", timed ? "ms" : "cycles"}, {"y", "energy"}}}};
  return section;
}

// Sums of a single run; of dataflows only how many there are.
void add_facts(const NetworkReport& report, Page& page) {
  page.facts.push_back({"layers", "layers", report.network.layers.size()});
  page.facts.push_back({"macs", "MACs", report.network.mapped_macs(), "MACs"});
  page.facts.push_back({"pes", "processing elements", report.pes});
  if (report.runs.size() > 1) {
    page.facts.push_back({"dataflows", "dataflows", report.runs.size()});
    return;
  }
  const RunTotals total = report.totals(report.runs.front());
  const std::string unit = energy_unit(report);
  page.facts.insert(page.facts.begin(),
                    {{"energy", "energy", total.energy, unit, PageBetter::kLess},
                     {"cycles", "cycles", total.cycles, "cycles", PageBetter::kLess},
                     {"energy_per_mac", "energy per MAC", total.energy_per_mac(), unit, PageBetter::kLess}});
  if (report.clock_mhz > 0) {
    page.facts.insert(page.facts.begin() + 2,
                      {"ms", "time", total.cycles / (1e3 * report.clock_mhz), "ms", PageBetter::kLess});
  }
  if (total.missing > 0) page.facts.push_back({"missing", "layers without a mapping", total.missing});
}

}  // namespace

Page map_page(const MapAnswer& answer) {
  const NetworkReport& report = answer.report;
  Page page{.verb = "map", .title = report.network.name + " on " + report.hardware};
  page.subtitle = batch_text(report) + ", rules " + report.rules;
  if (!report.objective.empty()) page.subtitle += ", least " + report.objective;
  if (report.runs.size() == 1 && report.runs.front().dataflow != "free") {
    page.subtitle += ", dataflow " + report.runs.front().dataflow;
  }
  if (report.equal_area) page.subtitle += ", storage of equal area";
  add_facts(report, page);
  if (!report.network.unmapped.empty()) {
    page.notes.push_back(
        fmt::format("{} nodes that multiply are no loop nests and not part of this, for example {}: {}.",
                    report.network.unmapped.size(), report.network.unmapped.front().name,
                    report.network.unmapped.front().reason));
  }
  if (report.runs.size() == 1) {
    page.sections = {mapped_layers(report, report.runs.front()), array_section(answer)};
  } else {
    page.sections = {dataflow_section(report), layers_by_dataflow(report)};
  }
  if (answer.fronts && !answer.fronts->front.points.empty()) page.sections.push_back(front_section(answer));
  if (!answer.more.empty()) {
    PageSection more{.id = "more", .title = "In words"};
    more.text = answer.more;
    page.sections.push_back(std::move(more));
  }
  return page;
}

}  // namespace tilewright
