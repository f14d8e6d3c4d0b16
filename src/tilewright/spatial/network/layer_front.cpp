// Fronts of energy and latency by repeated proven searches under a falling latency limit, or, where time is
// short, by searches at limits that lie apart; those with the words of a buffer by one search
// (mapper_pareto.h).
#include "tilewright/spatial/network/layer_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tilewright/base/json.h"
#include "tilewright/report/line_chart.h"
#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

// No less than counts as a limit.
double time_part(const Deadline& deadline, size_t parts) {
  return deadline.limited() ? std::max(1e-6, deadline.left() / double(parts)) : 0;
}

// The points that no other beats, by ascending cycles.
void keep_layer_front(LayerFront& front) {
  std::vector<size_t> order(front.points.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const FrontCost &one = front.points[a], &other = front.points[b];
    return one.cycles != other.cycles ? one.cycles < other.cycles : one.energy < other.energy;
  });
  LayerFront kept;
  kept.proven = front.proven;
  for (const size_t i : order) {
    if (!kept.points.empty() && front.points[i].energy >= kept.points.back().energy) continue;
    kept.points.push_back(front.points[i]);
    kept.mappings.push_back(std::move(front.mappings[i]));
  }
  front = std::move(kept);
}

// Row `row` of `shown` ones, evenly spread over `count`.
size_t spread(size_t row, size_t shown, size_t count) {
  return shown == 1 ? 0 : row * (count - 1) / (shown - 1);
}

int level_of(const ArrayHardware& hardware, const std::string& name) {
  std::string known;
  for (size_t level = 0; level < hardware.levels.size(); ++level) {
    if (hardware.levels[level].name == name) return int(level);
    known += (level == 0 ? "" : ", ") + hardware.levels[level].name;
  }
  throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' has no level '{}'", hardware.name, name),
              "its levels: " + known);
}

// The searches of one front and the points that they found.
class FrontSearch {
 public:
  FrontSearch(const Mapspace& mapspace, const MapperOptions& options)
      : mapspace_(mapspace), deadline_(limit_seconds(options), options.deadline), options_(options) {
    options_.deadline = &deadline_;
  }

  // Least energy first, then the least among faster mappings, in half of the time.
  void search_all() {
    const Deadline half(deadline_.left() / 2, &deadline_);
    while (!half.over()) {
      const MapResult result = search(MapObjective::kEnergy, 0, &half);
      if (result.status == MapStatus::kInfeasible) return;
      // A search that was stopped before it found any mapping has nothing to go on from.
      if (!result.found()) break;
      front_.proven = front_.proven && result.status == MapStatus::kOptimal;
      add(result.mapping, result.cost);
      options_.max_cycles = result.cost.cycles - 1;
    }
    front_.proven = false;
    spread_out();
  }

  void add(const Mapping& mapping, const Cost& cost) {
    front_.points.push_back({double(cost.cycles), cost.energy});
    front_.mappings.push_back(print_mapping(mapspace_.workload, mapping));
  }

  LayerFront take() {
    keep_layer_front(front_);
    return std::move(front_);
  }

 private:
  // The rest of the time is for points that lie apart: the fastest mapping, then each time the least energy
  // at the middle of the widest gap between the cycles of two points; without a gap, the least energy again.
  void spread_out() {
    constexpr int kSearches = 8;
    search_within(MapObjective::kLatency, {}, kSearches);
    std::optional<int64_t> limit;
    if (!front_.points.empty()) limit = int64_t(front_.points.front().cycles);
    for (int left = kSearches - 1; left > 0 && !deadline_.over(); --left) {
      search_within(MapObjective::kEnergy, limit, limit ? left : 1);
      limit = middle_of_widest_gap();
    }
  }

  // In one of `parts` of the time that is left.
  void search_within(MapObjective objective, std::optional<int64_t> max_cycles, int parts) {
    options_.max_cycles = max_cycles;
    const MapResult result = search(objective, time_part(deadline_, size_t(parts)), &deadline_);
    if (result.found()) add(result.mapping, result.cost);
    keep_layer_front(front_);
  }

  MapResult search(MapObjective objective, double seconds, const Deadline* deadline) {
    options_.objective = objective;
    options_.time_limit_s = seconds;
    options_.deadline = deadline;
    return find_mapping(mapspace_, options_);
  }

  // In cycles, by their ratio; none if there is no gap. A gap begins at the last limit that was searched in
  // it.
  std::optional<int64_t> middle_of_widest_gap() {
    double widest = 1, middle = 0;
    for (size_t i = 1; i < front_.points.size(); ++i) {
      double from = front_.points[i - 1].cycles;
      for (const double limit : limits_) {
        if (limit < front_.points[i].cycles) from = std::max(from, limit);
      }
      if (front_.points[i].cycles / from <= widest) continue;
      widest = front_.points[i].cycles / from;
      middle = std::sqrt(front_.points[i].cycles * from);
    }
    if (middle == 0) return std::nullopt;
    limits_.push_back(middle);
    return int64_t(middle);
  }

  const Mapspace& mapspace_;
  const Deadline deadline_;
  MapperOptions options_;
  LayerFront front_;
  std::vector<double> limits_;
};

}  // namespace

LayerFront layer_front(const Mapspace& mapspace, const MapperOptions& options, const Mapping* known) {
  FrontSearch search(mapspace, options);
  if (known != nullptr)
    search.add(*known, evaluate_mapping(mapspace.workload, mapspace.hardware, *known, options.rules));
  search.search_all();
  return search.take();
}

NetworkFronts network_fronts(const WorkloadNetwork& network, const ArrayHardware& hardware,
                             const NetworkMapOptions& options, const NetworkProgressSink& progress,
                             const DataflowRun* known) {
  const Deadline deadline(limit_seconds(options.mapper), options.mapper.deadline);
  NetworkFronts result;
  for (size_t shape = 0; shape < network.shapes.size(); ++shape) {
    const Workload& workload = network.shapes[shape];
    if (progress) progress({workload.name, int(shape) + 1, int(network.shapes.size())});
    Mapspace mapspace;
    try {
      mapspace = layer_mapspace(workload, hardware, options);
    } catch (const Error&) {
      result.shapes.emplace_back();  // the table says why; the other layers have their fronts
      continue;
    }
    MapperOptions mapper = options.mapper;
    mapper.deadline = &deadline;
    mapper.time_limit_s = time_part(deadline, network.shapes.size() - shape);
    std::optional<Mapping> best;
    if (known != nullptr && known->costs[shape].has_cost())
      best = parse_mapping(known->costs[shape].mapping, "the mapping of the table", workload);
    result.shapes.push_back(layer_front(mapspace, mapper, best ? &*best : nullptr));
    result.proven = result.proven && result.shapes.back().proven;
  }
  std::vector<std::vector<FrontCost>> layers;
  for (const NetworkLayer& layer : network.layers)
    layers.push_back(result.shapes[size_t(layer.shape)].points);
  result.front = merge_fronts(layers);
  return result;
}

std::string front_text(const NetworkFronts& fronts, const NetworkReport& report, size_t rows) {
  const std::vector<FrontCost>& points = fronts.front.points;
  std::string text = fmt::format(
      "Energy-latency front of the network: {} {}{}, merged from those of {} distinct layers (points: "
      "{}){}\n",
      points.size(), points.size() == 1 ? "point" : "points",
      fronts.front.energy_slack > 0 ? fmt::format(" (thinned: energies at most {:.2e} above the exact front)",
                                                  fronts.front.energy_slack)
                                    : "",
      fronts.shapes.size(),
      [&] {
        size_t sum = 0;
        for (const LayerFront& shape : fronts.shapes) sum += shape.points.size();
        return sum;
      }(),
      fronts.proven ? ", all proven" : "; searches were stopped, so it is an upper bound");
  if (points.empty()) return text + "note: a layer has no mapping, so neither has the network\n";
  TextTable table({">cycles", ">time", ">energy", ">cycles/least", ">energy/least", ">EDP"});
  const size_t shown = std::min(rows, points.size());
  for (size_t row = 0; row < shown; ++row) {
    const FrontCost& point = points[spread(row, shown, points.size())];
    table.row({fmt::format("{:.0f}", point.cycles), time_text(point.cycles, report.clock_mhz),
               energy_text(point.energy, report.energy_unit),
               fmt::format("{:.3f}", point.cycles / points.front().cycles),
               fmt::format("{:.3f}", point.energy / points.back().energy),
               fmt::format("{:.4g}", point.energy * point.cycles)});
  }
  return text + table.to_string();
}

std::string front_json(const NetworkFronts& fronts) {
  using Json = nlohmann::ordered_json;
  Json result = {{"proven", fronts.proven}, {"energy_slack", fronts.front.energy_slack}};
  Json points = Json::array(), shapes = Json::array();
  for (const FrontCost& point : fronts.front.points) {
    points.push_back({{"cycles", int64_t(point.cycles)}, {"energy", point.energy}});
  }
  for (const LayerFront& shape : fronts.shapes) {
    Json list = Json::array();
    for (size_t i = 0; i < shape.points.size(); ++i) {
      list.push_back({{"cycles", int64_t(shape.points[i].cycles)},
                      {"energy", shape.points[i].energy},
                      {"mapping", shape.mappings[i]}});
    }
    shapes.push_back(std::move(list));
  }
  result["points"] = std::move(points);
  result["distinct_layers"] = std::move(shapes);
  return json_text(result);
}

std::string front_svg(const NetworkFronts& fronts, const NetworkReport& report) {
  const bool timed = report.clock_mhz > 0;
  const double per_cycle = timed ? 1e-3 / report.clock_mhz : 1e-6;
  // A power of 1000 that leaves one to three digits before the point.
  double power = 0;
  if (!fronts.front.points.empty() && fronts.front.points.front().energy >= 1000) {
    power = 3 * std::floor(std::log10(fronts.front.points.front().energy) / 3);
  }
  const double energy_scale = std::pow(10, -power);
  std::string unit = report.energy_unit == "mac" ? (power > 0 ? "MAC energies" : "multiples of one MAC")
                                                 : report.energy_unit;
  if (power > 0) unit = fmt::format("10^{:.0f} {}", power, unit);
  PlotLine all, least;
  const FrontCost* best = nullptr;
  for (const FrontCost& point : fronts.front.points) {
    all.emplace_back(point.cycles * per_cycle, point.energy * energy_scale);
    if (!best || point.cycles * point.energy < best->cycles * best->energy) best = &point;
  }
  if (best) least.emplace_back(best->cycles * per_cycle, best->energy * energy_scale);
  LinePanel panel;
  panel.x_label = timed ? "latency, ms" : "latency, 10^6 cycles";
  panel.y_label = "energy, " + unit;
  panel.x_from_zero = false;
  panel.series = {{fronts.proven ? "front" : "best found", {all}, LineStyle::kFront},
                  {"least energy x delay", {least}, LineStyle::kMarks}};
  return draw_lines(fmt::format("Energy against latency: {} on {}, {}", report.network.name, report.hardware,
                                batch_text(report)),
                    {panel})
      .document();
}

BufferFronts buffer_fronts(const WorkloadNetwork& network, const ArrayHardware& hardware,
                           const std::string& level, const NetworkMapOptions& options,
                           const NetworkProgressSink& progress) {
  const Deadline deadline(limit_seconds(options.mapper), options.mapper.deadline);
  const int index = level_of(hardware, level);
  BufferFronts result{level, {}, true};
  for (size_t shape = 0; shape < network.shapes.size(); ++shape) {
    const Workload& workload = network.shapes[shape];
    if (progress) progress({workload.name, int(shape) + 1, int(network.shapes.size())});
    MapFront& front = result.shapes.emplace_back();
    Mapspace mapspace;
    try {
      mapspace = layer_mapspace(workload, hardware, options);
    } catch (const Error&) {
      continue;  // the table says why; the other layers have their fronts
    }
    MapperOptions mapper = options.mapper;
    mapper.deadline = &deadline;
    mapper.time_limit_s = time_part(deadline, network.shapes.size() - shape);
    front = map_pareto(mapspace, index, mapper);
    result.proven = result.proven && front.status != MapStatus::kStopped;
  }
  return result;
}

std::string buffer_front_text(const BufferFronts& fronts, const NetworkReport& report, size_t rows) {
  std::string text = fmt::format(
      "Fronts of energy, latency and words of '{}', by distinct layer{}\n", fronts.level,
      fronts.proven ? ", all proven" : "; searches were stopped, so points may be missing or beaten");
  TextTable table({"layer", ">points", ">cycles", ">energy", ">words"});
  for (size_t shape = 0; shape < fronts.shapes.size(); ++shape) {
    const std::vector<MapPoint>& points = fronts.shapes[shape].points;
    const size_t shown = std::min(rows, points.size());
    const std::string name = shortened_middle(report.network.shapes[shape].name, 24);
    if (shown == 0) table.row({name, "0"});
    for (size_t row = 0; row < shown; ++row) {
      const MapPoint& point = points[spread(row, shown, points.size())];
      table.row({row == 0 ? name : "", row == 0 ? std::to_string(points.size()) : "",
                 std::to_string(point.cycles), energy_text(point.energy, report.energy_unit),
                 std::to_string(point.buffer_words)});
    }
  }
  return text + table.to_string();
}

std::string buffer_front_json(const BufferFronts& fronts, const NetworkReport& report) {
  using Json = nlohmann::ordered_json;
  Json shapes = Json::array();
  for (size_t shape = 0; shape < fronts.shapes.size(); ++shape) {
    Json points = Json::array();
    for (const MapPoint& point : fronts.shapes[shape].points) {
      points.push_back({{"cycles", point.cycles},
                        {"energy", point.energy},
                        {"words", point.buffer_words},
                        {"mapping", print_mapping(report.network.shapes[shape], point.mapping)}});
    }
    shapes.push_back({{"layer", report.network.shapes[shape].name}, {"points", std::move(points)}});
  }
  return json_text(
      Json{{"level", fronts.level}, {"proven", fronts.proven}, {"distinct_layers", std::move(shapes)}});
}

}  // namespace tilewright
