// All subsets of the dataflows, each layer taking the best member. With six dataflows and subsets of up to
// three there are 41 subsets: no search is needed.
#include "tilewright/spatial/network/union_architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tilewright/base/json.h"
#include "tilewright/report/text_table.h"
#include "tilewright/spatial/network/front.h"

namespace tilewright {

UnionChoice best_of_runs(const WorkloadNetwork& network, const std::vector<DataflowRun>& runs,
                         const std::vector<int>& dataflows) {
  UnionChoice choice;
  choice.dataflows = dataflows;
  choice.by_shape.assign(network.shapes.size(), -1);
  std::vector<std::vector<FrontCost>> fronts;  // by layer
  for (size_t shape = 0; shape < network.shapes.size(); ++shape) {
    const LayerCost* best = nullptr;
    for (size_t r = 0; r < runs.size(); ++r) {
      const LayerCost& cost = runs[r].costs[shape];
      if (!cost.has_cost()) continue;
      if (!best || cost.energy < best->energy ||
          (cost.energy == best->energy && cost.cycles < best->cycles)) {
        best = &cost;
        choice.by_shape[shape] = dataflows[r];
      }
    }
    const int64_t times = network.occurrences(int(shape));
    if (!best) {
      choice.missing += int(times);
      continue;
    }
    std::vector<FrontCost> points;
    for (const DataflowRun& run : runs) {
      const LayerCost& cost = run.costs[shape];
      if (cost.has_cost()) points.push_back({cost.cycles, cost.energy});
    }
    fronts.insert(fronts.end(), size_t(times), pareto_front(std::move(points)));
    choice.energy += double(times) * best->energy;
    choice.cycles += double(times) * best->cycles;
  }
  double least = std::numeric_limits<double>::infinity();
  for (const FrontCost& point : merge_fronts(fronts).points)
    least = std::min(least, point.cycles * point.energy);
  choice.least_edp = least;
  return choice;
}

namespace {

// Subsets of `count` things with 1 to `largest` members, small ones first, in lexicographic order.
std::vector<std::vector<int>> subsets(int count, int largest) {
  std::vector<std::vector<int>> result;
  for (int size = 1; size <= std::min(count, largest); ++size) {
    std::vector<int> members(static_cast<size_t>(size));
    std::iota(members.begin(), members.end(), 0);
    while (true) {
      result.push_back(members);
      int at = size - 1;
      while (at >= 0 && members[size_t(at)] == count - size + at) --at;
      if (at < 0) break;
      ++members[size_t(at)];
      for (int next = at + 1; next < size; ++next) members[size_t(next)] = members[size_t(next - 1)] + 1;
    }
  }
  return result;
}

std::string names(const UnionTable& table, const std::vector<int>& members) {
  std::string text;
  for (const int member : members) text += (text.empty() ? "" : " + ") + table.dataflows[size_t(member)];
  return text;
}

// The first of each size: `shared` is sorted.
const UnionChoice* best_of_size(const UnionTable& table, size_t size) {
  for (const UnionChoice& choice : table.shared) {
    if (choice.dataflows.size() == size && choice.missing == 0) return &choice;
  }
  return nullptr;
}

std::string gain_text(double energy, double single) {
  return fmt::format("{:.2f} %", 100 * (1 - energy / single));
}

}  // namespace

UnionTable union_table(
    const WorkloadNetwork& network, const std::vector<std::string>& dataflows, int largest,
    const std::function<const DataflowRun&(int dataflow, const std::vector<int>& partners)>& run_on) {
  UnionTable table;
  table.dataflows = dataflows;
  std::vector<std::pair<UnionChoice, UnionChoice>> all;
  for (const std::vector<int>& members : subsets(int(dataflows.size()), largest)) {
    std::vector<DataflowRun> shared, alone;
    for (const int member : members) {
      shared.push_back(run_on(member, members));
      alone.push_back(run_on(member, {member}));
    }
    all.emplace_back(best_of_runs(network, shared, members), best_of_runs(network, alone, members));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    if (a.first.missing != b.first.missing) return a.first.missing < b.first.missing;
    return a.first.energy < b.first.energy;
  });
  for (auto& [shared, redivided] : all) {
    table.shared.push_back(std::move(shared));
    table.redivided.push_back(std::move(redivided));
  }
  return table;
}

std::string union_text(const UnionTable& table, const NetworkReport& report) {
  const double macs = double(std::max<int64_t>(report.network.mapped_macs(), 1));
  const UnionChoice* single = best_of_size(table, 1);
  TextTable text({"union of dataflows", ">energy/MAC", ">gain", ">cycles", ">re-divided", ">gain",
                  ">least EDP", ">gain", "covers"});
  double single_edp = std::numeric_limits<double>::infinity();
  for (const UnionChoice& choice : table.shared) {
    if (choice.dataflows.size() == 1 && choice.missing == 0)
      single_edp = std::min(single_edp, choice.least_edp);
  }
  constexpr size_t kShownPerSize = 6;
  for (size_t size = 1; size <= 3; ++size) {
    size_t shown = 0;
    for (size_t i = 0; i < table.shared.size() && shown < kShownPerSize; ++i) {
      const UnionChoice& choice = table.shared[i];
      const UnionChoice& ideal = table.redivided[i];
      if (choice.dataflows.size() != size) continue;
      if (shown == 0 && size > 1) text.rule();
      ++shown;
      std::vector<std::string> cells = {names(table, choice.dataflows), "-", "", "-", "-", "", "-", "", ""};
      if (choice.missing == 0) {
        cells[1] = fmt::format("{:.4f}", choice.energy / macs);
        cells[3] = fmt::format("{:.0f}", choice.cycles);
        if (single) cells[2] = gain_text(choice.energy, single->energy);
        cells[6] = fmt::format("{:.4g}", choice.least_edp);
        if (single) cells[7] = gain_text(choice.least_edp, single_edp);
      }
      if (ideal.missing == 0) {
        cells[4] = fmt::format("{:.4f}", ideal.energy / macs);
        if (single) cells[5] = gain_text(ideal.energy, single->energy);
      }
      const int layers = int(report.network.layers.size());
      cells[8] =
          choice.missing == 0 ? "all" : fmt::format("{} of {} layers", layers - choice.missing, layers);
      text.row(std::move(cells));
    }
  }
  std::string result =
      "Union architectures: register files as large as the largest member's, the buffer in the area that is\n"
      "left; gains over the best single dataflow. Re-divided: as if every layer had the storage of its own\n"
      "dataflow. Least EDP: layers assigned for least energy x cycles of the whole network instead. Control\n"
      "and wires for switching are not counted.\n\n" +
      text.to_string();
  for (size_t size = 2; size <= 3; ++size) {
    const UnionChoice* best = best_of_size(table, size);
    // A member that no layer takes buys nothing.
    if (!best || std::set<int>(best->by_shape.begin(), best->by_shape.end()).size() < size) continue;
    TextTable layers({"layer", "with " + names(table, best->dataflows)});
    for (const NetworkLayer& layer : report.network.layers) {
      layers.row(
          {shortened_middle(layer.name, 28), table.dataflows[size_t(best->by_shape[size_t(layer.shape)])]});
    }
    result += "\n" + layers.to_string();
  }
  return result;
}

std::string union_json(const UnionTable& table, const NetworkReport& report) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (size_t i = 0; i < table.shared.size(); ++i) {
    const UnionChoice& choice = table.shared[i];
    Json entry;
    for (const int member : choice.dataflows) entry["dataflows"].push_back(table.dataflows[size_t(member)]);
    entry["missing_layers"] = choice.missing;
    entry["energy"] = choice.energy;
    entry["cycles"] = choice.cycles;
    entry["least_edp"] = choice.least_edp;
    entry["energy_redivided"] = table.redivided[i].energy;
    entry["cycles_redivided"] = table.redivided[i].cycles;
    Json& layers = entry["layers"] = Json::object();
    for (const NetworkLayer& layer : report.network.layers) {
      const int taken = choice.by_shape[size_t(layer.shape)];
      layers[layer.name] = taken < 0 ? Json() : Json(table.dataflows[size_t(taken)]);
    }
    list.push_back(std::move(entry));
  }
  return json_text(list, 2) + "\n";
}

}  // namespace tilewright
