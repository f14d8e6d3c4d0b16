// Comparing a report with one that was saved: ratios per layer and per dataflow.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/report/text_table.h"
#include "tilewright/spatial/network/network_files.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
using Key = std::pair<std::string, std::string>;

template <typename Value>
Value field(const Json& object, const char* key, const std::string& where, Diagnostics& diagnostics) {
  try {
    return object.at(key).get<Value>();
  } catch (const Json::exception&) {
    diagnostics.error(ErrorKind::kInvalidInput, where, key, "is missing or has another type");
    return {};
  }
}

std::string single_dataflow(const std::map<Key, const BaselineLayer*>& layers) {
  std::string found;
  for (const auto& [key, layer] : layers) {
    if (!found.empty() && found != key.first) return "";
    found = key.first;
  }
  return found;
}

std::string ratio_text(double ratio) { return ratio > 0 ? fmt::format("{:.4f}", ratio) : "-"; }

}  // namespace

Baseline read_baseline(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("runs") || !document["runs"].is_array()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' is not the JSON of a mapping report", path.string()),
                "write one with: tilewright map ... --json > baseline.json");
  }
  Diagnostics diagnostics;
  Baseline baseline;
  baseline.source = path.string();
  baseline.network = field<std::string>(document, "network", path.string(), diagnostics);
  baseline.hardware = field<std::string>(document, "hardware", path.string(), diagnostics);
  baseline.energy_unit = field<std::string>(document, "energy_unit", path.string(), diagnostics);
  size_t run_number = 0;
  for (const Json& run : document["runs"]) {
    const std::string where = fmt::format("{}: run {}", path.string(), ++run_number);
    const std::string dataflow = field<std::string>(run, "dataflow", where, diagnostics);
    if (!run.is_object() || !run.contains("layers") || !run["layers"].is_array()) {
      diagnostics.error(ErrorKind::kInvalidInput, where, "layers", "is missing or has another type");
      continue;
    }
    size_t layer_number = 0;
    for (const Json& entry : run["layers"]) {
      const std::string place = fmt::format("{}, layer {}", where, ++layer_number);
      BaselineLayer layer;
      layer.dataflow = dataflow;
      layer.layer = field<std::string>(entry, "layer", place, diagnostics);
      layer.has_cost = entry.is_object() && entry.contains("energy");
      if (layer.has_cost) {
        layer.energy = field<double>(entry, "energy", place, diagnostics);
        layer.cycles = field<double>(entry, "cycles", place, diagnostics);
      }
      baseline.layers.push_back(std::move(layer));
    }
  }
  diagnostics.raise_if_any();
  return baseline;
}

BaselineComparison compare_with_baseline(const NetworkReport& report, const Baseline& baseline) {
  if (baseline.energy_unit != report.energy_unit) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' counts energy in {}, this report in {}", baseline.source,
                            baseline.energy_unit, report.energy_unit));
  }
  std::map<Key, const BaselineLayer*> known;
  for (const BaselineLayer& layer : baseline.layers) known[{layer.dataflow, layer.layer}] = &layer;
  const std::string only_dataflow = report.runs.size() == 1 ? single_dataflow(known) : "";
  BaselineComparison result;
  for (const DataflowRun& run : report.runs) {
    double energy = 0, cycles = 0, old_energy = 0, old_cycles = 0;
    for (const NetworkLayer& layer : report.network.layers) {
      const auto found = known.find({only_dataflow.empty() ? run.dataflow : only_dataflow, layer.name});
      if (found == known.end()) {
        result.only_here.push_back(run.dataflow + ": " + layer.name);
        continue;
      }
      const BaselineLayer& old = *found->second;
      known.erase(found);
      const LayerCost& cost = report.cost(run, layer);
      LayerRatio ratio{run.dataflow, layer.name};
      if (cost.has_cost() && old.has_cost && old.energy > 0 && old.cycles > 0) {
        ratio.energy = cost.energy / old.energy;
        ratio.cycles = cost.cycles / old.cycles;
        energy += cost.energy, old_energy += old.energy;
        cycles += cost.cycles, old_cycles += old.cycles;
      }
      result.layers.push_back(ratio);
    }
    if (old_energy > 0) result.totals.push_back({run.dataflow, "", energy / old_energy, cycles / old_cycles});
  }
  for (const auto& [key, layer] : known) result.only_there.push_back(key.first + ": " + key.second);
  if (result.layers.empty()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("no layer of this report is in '{}'", baseline.source),
                "layers are matched by dataflow and name");
  }
  return result;
}

std::string comparison_text(const BaselineComparison& comparison, const Baseline& baseline) {
  TextTable table({"against " + baseline.source, "dataflow", ">energy ratio", ">cycles ratio"});
  for (const LayerRatio& ratio : comparison.layers) {
    table.row({shortened_middle(ratio.layer, 40), ratio.dataflow, ratio_text(ratio.energy),
               ratio_text(ratio.cycles)});
  }
  table.rule();
  for (const LayerRatio& ratio : comparison.totals) {
    table.row({"all layers", ratio.dataflow, ratio_text(ratio.energy), ratio_text(ratio.cycles)});
  }
  std::string text = table.to_string();
  for (const std::string& layer : comparison.only_here) text += "note: not in the baseline: " + layer + "\n";
  for (const std::string& layer : comparison.only_there)
    text += "note: only in the baseline: " + layer + "\n";
  return text;
}

std::string comparison_json(const BaselineComparison& comparison, const Baseline& baseline) {
  const auto entries = [](const std::vector<LayerRatio>& ratios) {
    Json list = Json::array();
    for (const LayerRatio& ratio : ratios) {
      list.push_back({{"dataflow", ratio.dataflow},
                      {"layer", ratio.layer},
                      {"energy_ratio", ratio.energy > 0 ? Json(ratio.energy) : Json()},
                      {"cycles_ratio", ratio.cycles > 0 ? Json(ratio.cycles) : Json()}});
    }
    return list;
  };
  const Json result = {{"baseline", baseline.source},
                       {"layers", entries(comparison.layers)},
                       {"totals", entries(comparison.totals)},
                       {"only_here", comparison.only_here},
                       {"only_in_baseline", comparison.only_there}};
  return json_text(result, 2) + "\n";
}

}  // namespace tilewright
