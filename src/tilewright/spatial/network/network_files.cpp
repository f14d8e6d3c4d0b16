// JSON and CSV of a report. Numbers are printed so that they read back as the same doubles.
#include "tilewright/spatial/network/network_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRoleNames[] = {"input", "weight", "output"};

// Whole numbers without a fraction: cycles are counts.
Json number(double value) {
  if (value == double(int64_t(value)) && std::abs(value) < 9e15) return int64_t(value);
  return value;
}

Json parts_json(const std::vector<std::string>& places,
                const std::vector<std::array<double, kDataRoles>>& parts) {
  Json result = Json::object();
  for (size_t p = 0; p < parts.size(); ++p) {
    Json& place = result[places[p]];
    for (size_t r = 0; r < size_t(kDataRoles); ++r) place[kRoleNames[r]] = number(parts[p][r]);
  }
  return result;
}

Json layer_json(const NetworkReport& report, const DataflowRun& run, const NetworkLayer& layer) {
  const LayerCost& cost = report.cost(run, layer);
  const Workload& workload = report.network.workload(layer);
  const int64_t macs = workload.operation_count();
  Json entry = {{"layer", layer.name},
                {"op", layer.op},
                {"same_as", workload.name},
                {"macs", macs},
                {"status", name(cost.status)}};
  if (!cost.has_cost()) {
    entry["reason"] = cost.reason;
    return entry;
  }
  entry["energy"] = number(cost.energy);
  entry["energy_per_mac"] = cost.energy / double(macs);
  entry["cycles"] = number(cost.cycles);
  if (report.clock_mhz > 0) entry["seconds"] = cost.cycles / (report.clock_mhz * 1e6);
  entry["edp"] = number(cost.edp());
  entry["utilisation"] = cost.utilisation;
  entry["active_pes"] = number(cost.active_pes);
  entry["arithmetic_energy"] = number(cost.arithmetic_energy);
  entry["energy_by_place"] = parts_json(run.places, cost.parts);
  entry["objective_value"] = number(cost.value);
  entry["lower_bound"] = number(cost.lower_bound);
  entry["gap"] = number(cost.gap());
  entry["mapspace_size"] = cost.mapspace_size;
  entry["nodes"] = cost.nodes;
  entry["pruned"] = cost.pruned;
  entry["search_s"] = cost.seconds;
  if (!cost.variables.empty()) entry["variables"] = cost.variables;
  entry["mapping"] = cost.mapping;
  return entry;
}

Json run_json(const NetworkReport& report, const DataflowRun& run) {
  const RunTotals total = report.totals(run);
  Json result = {{"dataflow", run.dataflow},
                 {"complete", total.missing == 0},
                 {"proven", total.proven},
                 {"macs", total.macs},
                 {"energy", number(total.energy)},
                 {"energy_per_mac", total.energy_per_mac()},
                 {"cycles", number(total.cycles)},
                 {"edp", number(total.edp())},
                 {"arithmetic_energy", number(total.arithmetic_energy)},
                 {"energy_by_place", parts_json(run.places, total.parts)}};
  if (report.clock_mhz > 0) result["seconds"] = total.cycles / (report.clock_mhz * 1e6);
  Json layers = Json::array();
  for (const NetworkLayer& layer : report.network.layers) layers.push_back(layer_json(report, run, layer));
  result["layers"] = std::move(layers);
  return result;
}

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
  std::string result = "\"";
  for (const char c : field) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

}  // namespace

std::string report_json(const NetworkReport& report, const std::map<std::string, std::string>& sections) {
  Json result = {{"kind", "tilewright map"},
                 {"network", report.network.name},
                 {"hardware", report.hardware},
                 {"pes", report.pes},
                 {"energy_unit", report.energy_unit},
                 {"clock_mhz", report.clock_mhz},
                 {"batch", report.batch > 0 ? Json(report.batch) : Json()},
                 {"objective", report.objective},
                 {"rules", report.rules},
                 {"equal_area", report.equal_area},
                 {"macs_mapped", report.network.mapped_macs()},
                 {"macs_left_out", report.network.unmapped_macs()}};
  Json left_out = Json::array();
  for (const UnmappedNode& node : report.network.unmapped) {
    left_out.push_back({{"node", node.name}, {"op", node.op}, {"macs", node.macs}, {"reason", node.reason}});
  }
  result["left_out"] = std::move(left_out);
  Json runs = Json::array();
  for (const DataflowRun& run : report.runs) runs.push_back(run_json(report, run));
  result["runs"] = std::move(runs);
  for (const auto& section : sections) result[section.first] = Json::parse(section.second);
  return json_text(result, 2) + "\n";
}

std::string report_csv(const NetworkReport& report) {
  std::vector<std::string> places;
  for (const DataflowRun& run : report.runs) {
    for (const std::string& place : run.places) {
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  std::string text =
      "dataflow,layer,op,same_as,macs,status,energy,energy_per_mac,cycles,seconds,edp,utilisation,active_pes,"
      "lower_bound,gap,mapspace_size,nodes,pruned,search_s,arithmetic_energy";
  for (const std::string& place : places) {
    for (const char* role : kRoleNames) text += "," + quoted(place + " " + role);
  }
  text += ",reason\n";
  for (const DataflowRun& run : report.runs) {
    for (const NetworkLayer& layer : report.network.layers) {
      const LayerCost& cost = report.cost(run, layer);
      const Workload& workload = report.network.workload(layer);
      const int64_t macs = workload.operation_count();
      text += fmt::format("{},{},{},{},{},{}", quoted(run.dataflow), quoted(layer.name), quoted(layer.op),
                          quoted(workload.name), macs, name(cost.status));
      if (cost.has_cost()) {
        const std::string seconds =
            report.clock_mhz > 0 ? fmt::format("{}", cost.cycles / (report.clock_mhz * 1e6)) : "";
        text += fmt::format(",{},{},{},{},{},{},{},{},{},{},{},{},{},{}", cost.energy,
                            cost.energy / double(macs), cost.cycles, seconds, cost.edp(), cost.utilisation,
                            cost.active_pes, cost.lower_bound, cost.gap(), cost.mapspace_size, cost.nodes,
                            cost.pruned, cost.seconds, cost.arithmetic_energy);
      } else {
        text += std::string(14, ',');
      }
      for (const std::string& place : places) {
        const auto found = std::find(run.places.begin(), run.places.end(), place);
        const bool known = cost.has_cost() && found != run.places.end();
        for (size_t r = 0; r < size_t(kDataRoles); ++r) {
          text += ",";
          if (known) text += fmt::format("{}", cost.parts[size_t(found - run.places.begin())][r]);
        }
      }
      text += "," + quoted(cost.reason) + "\n";
    }
  }
  return text;
}

}  // namespace tilewright
