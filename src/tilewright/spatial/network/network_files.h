// The report of a network as JSON and CSV, and the comparison with a JSON written earlier.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

// Everything the report holds: header, nodes left out, and per run its totals and one entry per layer.
// `sections` are further top-level entries, each the text of a JSON document.
std::string report_json(const NetworkReport& report, const std::map<std::string, std::string>& sections = {});
// One line per run and layer; a column per place and role. Fields are quoted where they need it.
std::string report_csv(const NetworkReport& report);

// A layer of a report read back.
struct BaselineLayer {
  std::string dataflow, layer;
  bool has_cost = false;
  double energy = 0, cycles = 0;
};
struct Baseline {
  std::string source, network, hardware, energy_unit;
  std::vector<BaselineLayer> layers;
};
// Errors (invalid input): unreadable, not the JSON of a report; every problem of its fields.
Baseline read_baseline(const std::filesystem::path& path);

struct LayerRatio {
  std::string dataflow, layer;
  double energy = 0, cycles = 0;  // this report over the baseline; 0 where either has no cost
};
struct BaselineComparison {
  std::vector<LayerRatio> layers;
  std::vector<LayerRatio> totals;                  // per run, over the layers both have; layer is empty
  std::vector<std::string> only_here, only_there;  // "dataflow: layer"
};
// Layers match by dataflow and name. When each side has one dataflow these are compared whatever their names.
// Errors (invalid input): nothing matches, or the energies have different units.
BaselineComparison compare_with_baseline(const NetworkReport& report, const Baseline& baseline);
std::string comparison_text(const BaselineComparison& comparison, const Baseline& baseline);
std::string comparison_json(const BaselineComparison& comparison, const Baseline& baseline);

}  // namespace tilewright
