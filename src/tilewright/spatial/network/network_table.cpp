// Text tables of a network's report. Energies of whole layers carry prefixes; energies per MAC are plain
// numbers in the hardware's unit, so that layers and dataflows compare at a glance.
#include "tilewright/spatial/network/network_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

constexpr size_t kNameWidth = 28;

std::string table_heading(const NetworkReport& report) {
  std::string text = fmt::format("{} on {}: {} PEs, {}, {} rules", report.network.name, report.hardware,
                                 report.pes, batch_text(report), report.rules);
  if (!report.objective.empty()) text += ", objective " + report.objective;
  if (report.equal_area) text += ", equal storage area";
  return text + fmt::format("; energies in {}\n\n", report.energy_unit == "mac"
                                                        ? "multiples of one multiply-accumulate"
                                                        : report.energy_unit);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string per_mac(double energy, double macs) {
  return macs > 0 ? fmt::format("{:.4f}", energy / macs) : "";
}

// A mapping that may not be the best.
bool bounded(const LayerCost& cost) { return cost.status == LayerStatus::kStopped && cost.has_cost(); }

std::string gap_text(const LayerCost& cost) {
  if (cost.status == LayerStatus::kProven) return "0";
  return bounded(cost) ? percent(cost.gap()) : "";
}

std::string seconds_text(double seconds) {
  return seconds <= 0 ? "" : fmt::format("{:.{}f}", seconds, seconds < 0.1 ? 4 : 2);
}

std::string layer_table(const NetworkReport& report, const DataflowRun& run) {
  TextTable table({"layer", "operator", ">MACs", ">energy", ">energy/MAC", ">cycles", ">time", ">PEs used",
                   ">utilisation", "status", ">gap", ">bound", ">mapspace", ">nodes", ">search s"});
  std::vector<bool> seen(report.network.shapes.size(), false);
  for (const NetworkLayer& layer : report.network.layers) {
    const LayerCost& cost = report.cost(run, layer);
    const int64_t macs = report.network.workload(layer).operation_count();
    const bool again = seen[size_t(layer.shape)];
    seen[size_t(layer.shape)] = true;
    std::vector<std::string> cells = {shortened_middle(layer.name, kNameWidth), layer.op,
                                      fmt::format("{}", macs)};
    if (cost.has_cost()) {
      cells.insert(cells.end(),
                   {energy_text(cost.energy, report.energy_unit), per_mac(cost.energy, double(macs)),
                    fmt::format("{:.0f}", cost.cycles), time_text(cost.cycles, report.clock_mhz),
                    fmt::format("{:.0f}", cost.active_pes), percent(cost.utilisation)});
    } else {
      cells.insert(cells.end(), 6, "-");
    }
    if (again) {
      const Workload& first = report.network.workload(layer);
      cells.push_back("as " + shortened_middle(first.name, kNameWidth));
    } else {
      cells.insert(cells.end(), {name(cost.status), gap_text(cost)});
      cells.push_back(bounded(cost) ? energy_text(cost.lower_bound, report.energy_unit) : "");
      cells.push_back(cost.mapspace_size > 0 ? fmt::format("{:.2g}", cost.mapspace_size) : "");
      cells.push_back(cost.nodes > 0 ? scaled_number(double(cost.nodes)) : "");
      cells.push_back(seconds_text(cost.seconds));
    }
    table.row(std::move(cells));
  }
  const RunTotals total = report.totals(run);
  table.rule();
  const double capacity = total.cycles * double(report.pes);
  table.row({fmt::format("total of {}", total.layers), "", fmt::format("{}", total.macs),
             energy_text(total.energy, report.energy_unit), per_mac(total.energy, double(total.macs)),
             fmt::format("{:.0f}", total.cycles), time_text(total.cycles, report.clock_mhz), "",
             capacity > 0 ? percent(double(total.macs) / capacity) : "",
             total.missing > 0 ? fmt::format("{} missing", total.missing)
             : total.proven    ? "all optimal"
                               : ""});
  return table.to_string();
}

std::string breakdown_table(const NetworkReport& report, const DataflowRun& run) {
  const RunTotals total = report.totals(run);
  if (total.layers == 0) return "";
  const double macs = double(std::max<int64_t>(total.macs, 1));
  TextTable table({"energy/MAC", ">input", ">weight", ">output", ">all", ">share"});
  const auto add = [&](const std::string& label, std::array<double, kDataRoles> by_role, bool roles,
                       double sum) {
    std::vector<std::string> cells = {label};
    for (double energy : by_role) cells.push_back(roles ? per_mac(energy, macs) : "");
    cells.push_back(per_mac(sum, macs));
    cells.push_back(percent(total.energy > 0 ? sum / total.energy : 0));
    table.row(std::move(cells));
  };
  std::array<double, kDataRoles> by_role{};
  for (size_t p = 0; p < run.places.size(); ++p) {
    const auto& part = total.parts[p];
    const double sum = part[0] + part[1] + part[2];
    for (size_t r = 0; r < by_role.size(); ++r) by_role[r] += part[r];
    if (sum != 0) add(run.places[p], part, true, sum);
  }
  add("arithmetic", {}, false, total.arithmetic_energy);
  table.rule();
  add("total", by_role, true, total.energy);
  return table.to_string();
}

std::string comparison_table(const NetworkReport& report) {
  double least = std::numeric_limits<double>::infinity();
  for (const DataflowRun& run : report.runs) {
    const RunTotals total = report.totals(run);
    if (total.missing == 0) least = std::min(least, total.energy);
  }
  // Places of one report may differ between runs; they are shown in order of first appearance.
  std::vector<std::string> places;
  for (const DataflowRun& run : report.runs) {
    for (const std::string& place : run.places) {
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  std::vector<std::string> headers = {"dataflow", ">energy", ">energy/MAC", ">of least", ">arithmetic"};
  for (const std::string& place : places) headers.push_back(">" + place);
  headers.insert(headers.end(), {">input", ">weight", ">output", ">cycles", ">time", ">EDP", "covers"});
  TextTable table(headers);
  for (const DataflowRun& run : report.runs) {
    const RunTotals total = report.totals(run);
    const double macs = double(total.macs);
    std::vector<std::string> cells = {run.dataflow};
    if (total.layers == 0) {
      cells.resize(headers.size() - 1, "-");
    } else {
      cells.insert(cells.end(), {energy_text(total.energy, report.energy_unit), per_mac(total.energy, macs),
                                 total.missing == 0 ? fmt::format("{:.3f}", total.energy / least) : "-",
                                 per_mac(total.arithmetic_energy, macs)});
      for (const std::string& place : places) {
        const auto found = std::find(run.places.begin(), run.places.end(), place);
        if (found == run.places.end()) {
          cells.push_back("-");
          continue;
        }
        const auto& part = total.parts[size_t(found - run.places.begin())];
        cells.push_back(per_mac(part[0] + part[1] + part[2], macs));
      }
      for (const DataRole role : {DataRole::kInput, DataRole::kWeight, DataRole::kOutput}) {
        cells.push_back(per_mac(NetworkReport::role_energy(total.parts, role), macs));
      }
      cells.insert(cells.end(),
                   {fmt::format("{:.0f}", total.cycles), time_text(total.cycles, report.clock_mhz),
                    fmt::format("{:.4g}", total.edp())});
    }
    const size_t layers = report.network.layers.size();
    cells.push_back(total.missing == 0 ? "all" : fmt::format("{} of {} layers", total.layers, layers));
    table.row(std::move(cells));
  }
  return table.to_string();
}

std::string matrix_table(const NetworkReport& report) {
  std::vector<std::string> headers = {"energy/MAC", ">MACs"};
  for (const DataflowRun& run : report.runs) headers.push_back(">" + run.dataflow);
  headers.emplace_back("least");
  TextTable table(headers);
  for (const NetworkLayer& layer : report.network.layers) {
    const int64_t macs = report.network.workload(layer).operation_count();
    std::vector<std::string> cells = {shortened_middle(layer.name, kNameWidth), fmt::format("{}", macs)};
    const DataflowRun* best = nullptr;
    for (const DataflowRun& run : report.runs) {
      const LayerCost& cost = report.cost(run, layer);
      cells.push_back(cost.has_cost() ? per_mac(cost.energy, double(macs)) : "-");
      if (cost.has_cost() && (!best || cost.energy < report.cost(*best, layer).energy)) best = &run;
    }
    cells.push_back(best ? best->dataflow : "-");
    table.row(std::move(cells));
  }
  return table.to_string();
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  result.erase(result.find_last_not_of(" \n") + 1);
  return result + "\n";
}

std::string mapping_list(const NetworkReport& report) {
  std::string text;
  for (const DataflowRun& run : report.runs) {
    for (size_t shape = 0; shape < run.costs.size(); ++shape) {
      const LayerCost& cost = run.costs[shape];
      if (cost.mapping.empty() && cost.variables.empty()) continue;
      text +=
          fmt::format("\n{} ({}):\n{}", report.network.shapes[shape].name, run.dataflow,
                      indented(cost.variables + (cost.variables.empty() || cost.mapping.empty() ? "" : "\n") +
                               cost.mapping));
    }
  }
  return text;
}

}  // namespace

std::string coverage_notes(const NetworkReport& report) {
  std::string text;
  for (const DataflowRun& run : report.runs) {
    for (size_t shape = 0; shape < run.costs.size(); ++shape) {
      const LayerCost& cost = run.costs[shape];
      if (cost.has_cost()) continue;
      const int64_t times = report.network.occurrences(int(shape));
      text += fmt::format("note: {} '{}'{}: {}\n",
                          run.dataflow == "free" ? "no mapping for" : run.dataflow + " cannot run",
                          report.network.shapes[shape].name,
                          times > 1 ? fmt::format(" and {} layers like it", times - 1) : "", cost.reason);
    }
  }
  const WorkloadNetwork& network = report.network;
  for (const UnmappedNode& node : network.unmapped) {
    text += fmt::format("note: node '{}' ({}) is left out, {} MACs: {}\n", node.name, node.op, node.macs,
                        node.reason);
  }
  const int64_t left_out = network.unmapped_macs();
  if (left_out > 0) {
    const double mapped = double(network.mapped_macs());
    text += fmt::format("note: the layers shown hold {:.2f} % of the model's MACs\n",
                        100 * mapped / (mapped + double(left_out)));
  }
  return text;
}

std::string network_table(const NetworkReport& report, const NetworkTableOptions& options) {
  std::string text = table_heading(report);
  if (report.runs.size() == 1) {
    const DataflowRun& run = report.runs.front();
    if (run.dataflow != "free") text += "dataflow " + run.dataflow + "\n";
    text += layer_table(report, run);
    const std::string breakdown = breakdown_table(report, run);
    if (!breakdown.empty()) text += "\n" + breakdown;
  } else {
    text += comparison_table(report) + "\n" + matrix_table(report);
  }
  if (options.mappings) text += mapping_list(report);
  const std::string notes = coverage_notes(report);
  return notes.empty() ? text : text + "\n" + notes;
}

}  // namespace tilewright
