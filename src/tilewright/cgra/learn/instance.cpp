// All-pairs longest chains by dynamic programming over the topological order, then the bounds' lists from
// them.
#include "tilewright/cgra/learn/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {
namespace {

constexpr int kNone = -1;

// [from][to]: clocks of the longest chain of operands between the starts, kNone without one.
std::vector<std::vector<int>> longest_chains(const PlacementModel& model) {
  if (model.deadline && !model.deadline->fits(double(model.nodes) * model.nodes * sizeof(int))) {
    model.deadline->expire_whole(Ending::kMemory);
    throw Expired();
  }
  std::vector<std::vector<int>> chain(size_t(model.nodes), std::vector<int>(size_t(model.nodes), kNone));
  for (int from = 0; from < model.nodes; ++from) {
    model.check();
    std::vector<int>& row = chain[size_t(from)];
    row[size_t(from)] = 0;
    for (const int node : model.topological) {
      if (row[size_t(node)] == kNone) continue;
      for (const int id : model.outgoing[size_t(node)]) {
        const Edge& edge = model.edges[size_t(id)];
        if (edge.distance != 0) continue;
        int& there = row[size_t(edge.to)];
        there = std::max(there, row[size_t(node)] + model.latency_cycles);
      }
    }
  }
  return chain;
}

// `text` has places for both numbers.
void refuse_above(int most, int given, const char* text, Diagnostics& diagnostics) {
  if (given <= most) return;
  diagnostics.error(ErrorKind::kUnsupported, "", "",
                    "the learned policy " + fmt::format(fmt::runtime(text), most, given),
                    "use another method");
}

// Before any table is made.
void check_size(const PlacementModel& model) {
  Diagnostics diagnostics;
  refuse_above(PlacementInstance::kMostNodes, model.nodes, "places up to {} nodes, the graph has {}",
               diagnostics);
  refuse_above(PlacementInstance::kMostTiles, model.tiles, "places on up to {} tiles, the fabric has {}",
               diagnostics);
  refuse_above(PlacementInstance::kMostSlots, model.ii, "places in up to {} slots, the interval is {}",
               diagnostics);
  int latest = 0;
  for (const int clock : model.fixed_time) latest = std::max(latest, clock);
  refuse_above(PlacementInstance::kMostCycles, latest, "counts up to {} clocks, a node is fixed to {}",
               diagnostics);
  diagnostics.raise_if_any();
}

void check_chains(const std::vector<std::vector<int>>& chain) {
  Diagnostics diagnostics;
  int longest = 0;
  for (const auto& row : chain) longest = std::max(longest, *std::max_element(row.begin(), row.end()));
  refuse_above(PlacementInstance::kMostCycles / 2, longest,
               "counts up to {} clocks, the graph's longest chain takes {}", diagnostics);
  diagnostics.raise_if_any();
}

void order_instance(PlacementInstance& instance, PlacementOrder order, const std::vector<int>& later_cycles) {
  const PlacementModel& model = instance.model;
  std::vector<uint8_t> fixed(size_t(model.nodes), 0);
  for (int node = 0; node < model.nodes; ++node) {
    const auto& allowed = model.allowed[size_t(node)];
    fixed[size_t(node)] =
        model.fixed_time[size_t(node)] >= 0 && std::count(allowed.begin(), allowed.end(), 1) == 1;
    if (fixed[size_t(node)]) instance.preplaced.push_back(int16_t(node));
  }
  std::vector<int> rank(size_t(model.nodes));
  for (size_t i = 0; i < model.topological.size(); ++i) rank[size_t(model.topological[i])] = int(i);
  using Entry = std::pair<int, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<int> waiting(size_t(model.nodes), 0);
  for (const Edge& edge : model.edges) waiting[size_t(edge.to)] += edge.distance == 0;
  const auto push = [&](int node) {
    const int later = later_cycles.empty() ? 0 : later_cycles[size_t(node)];
    const int tail = order == PlacementOrder::kTopological ? 0 : instance.tail[size_t(node)];
    ready.push({later - tail, rank[size_t(node)]});
  };
  for (int node = 0; node < model.nodes; ++node) {
    if (waiting[size_t(node)] == 0) push(node);
  }
  while (!ready.empty()) {
    const int node = model.topological[size_t(ready.top().second)];
    ready.pop();
    if (!fixed[size_t(node)]) instance.order.push_back(int16_t(node));
    for (const int id : model.outgoing[size_t(node)]) {
      const Edge& edge = model.edges[size_t(id)];
      if (edge.distance == 0 && --waiting[size_t(edge.to)] == 0) push(edge.to);
    }
  }
}

void make_tables(PlacementInstance& instance) {
  const PlacementModel& model = instance.model;
  const size_t tiles = size_t(model.tiles), width = size_t(instance.width);
  const bool limited = model.rules.delay != Delay::kUnbounded;
  instance.least.assign(tiles * width, PlacementInstance::kFar);
  instance.least_to = instance.distance = instance.least;
  if (limited) instance.most = instance.most_to = instance.least;
  instance.near.assign(tiles * width, 0);
  instance.near_tiles.assign(width, 0);
  std::vector<int> sums(tiles, 0);
  for (int a = 0; a < model.tiles; ++a) {
    for (int b = 0; b < model.tiles; ++b) {
      const size_t at = size_t(a) * width + size_t(b), back = size_t(b) * width + size_t(a);
      const int transfer = model.transfer[size_t(a)][size_t(b)];
      instance.least[at] = instance.least_to[back] = int16_t(model.least_gap(a, b));
      if (limited) instance.most[at] = instance.most_to[back] = int16_t(model.most_gap(a, b));
      instance.distance[at] = int16_t(std::min(transfer, model.transfer[size_t(b)][size_t(a)]));
      instance.near[at] = transfer <= 2;
      instance.near_tiles[size_t(a)] = int16_t(instance.near_tiles[size_t(a)] + (transfer <= 2));
      sums[size_t(a)] += transfer;
    }
  }
  for (int a = 0; a < model.tiles; ++a) {
    auto& near = instance.around.emplace_back();
    near.push_back({int16_t(a), int16_t(model.transfer[size_t(a)][size_t(a)])});
    for (int b = 0; b < model.tiles && near.size() < 5; ++b) {
      const int transfer = model.transfer[size_t(a)][size_t(b)];
      if (b != a && transfer <= 1) near.push_back({int16_t(b), int16_t(transfer)});
    }
  }
  const int middle = *std::min_element(sums.begin(), sums.end());
  instance.border.assign(width, 0);
  for (size_t tile = 0; tile < tiles; ++tile) {
    instance.border[tile] = int16_t((sums[tile] - middle) / std::max(1, model.tiles));
  }
}

// Which of two nodes is placed first: those fixed beforehand, then the order.
std::vector<int> positions(const PlacementInstance& instance) {
  std::vector<int> position(size_t(instance.nodes()), kNone);
  for (size_t i = 0; i < instance.order.size(); ++i) position[size_t(instance.order[i])] = int(i);
  return position;
}

void make_limits(PlacementInstance& instance, const std::vector<int>& position) {
  const PlacementModel& model = instance.model;
  instance.operands.resize(size_t(model.nodes));
  instance.others.resize(size_t(model.nodes));
  const bool limited = model.rules.delay != Delay::kUnbounded;
  for (const Edge& edge : model.edges) {
    if (edge.from == edge.to) continue;
    const int16_t shift = int16_t(std::min(edge.distance * model.ii, 15000));
    const bool plain = !limited && position[size_t(edge.from)] < position[size_t(edge.to)];
    auto& list = plain ? instance.operands : instance.others;
    list[size_t(edge.to)].push_back({int16_t(edge.from), shift, true});
    instance.others[size_t(edge.from)].push_back({int16_t(edge.to), shift, false});
  }
  // Consumers placed later never limit their operand.
  for (int node = 0; node < model.nodes; ++node) {
    auto& list = instance.others[size_t(node)];
    std::erase_if(list, [&](const PlacementInstance::Limit& limit) {
      return position[size_t(limit.node)] > position[size_t(node)];
    });
  }
}

void close_impossible_loops(PlacementInstance& instance) {
  const PlacementModel& model = instance.model;
  for (const Edge& edge : model.edges) {
    if (edge.from != edge.to) continue;
    for (int tile = 0; tile < model.tiles; ++tile) {
      const int gap = edge.distance * model.ii;
      if (gap < model.least_gap(tile, tile) || gap > model.most_gap(tile, tile))
        instance.allowed[size_t(model.unit[size_t(edge.to)])] &= ~(uint64_t{1} << tile);
    }
  }
}

// Transfers by way of an operation between may be shorter than the direct one, by so much for every operation
// (where links are crossed within a clock, each operation begins a clock anew).
int shortcut_cycles(const PlacementModel& model) {
  int most = 0;
  const auto& way = model.transfer;
  for (size_t a = 0; a < way.size(); ++a) {
    for (size_t b = 0; b < way.size(); ++b) {
      for (size_t c = 0; c < way.size(); ++c) most = std::max(most, way[a][c] - way[a][b] - way[b][c]);
    }
  }
  return most;
}

void make_reaches(PlacementInstance& instance, const std::vector<std::vector<int>>& chain,
                  const std::vector<int>& position) {
  const PlacementModel& model = instance.model;
  const size_t nodes = size_t(model.nodes);
  instance.meets.resize(nodes);
  instance.mates.resize(nodes);
  instance.returns.resize(nodes);
  const auto before = [&](size_t a, size_t b) { return position[a] < position[b]; };
  const int shortcut = shortcut_cycles(model);
  // What `cycles` of a chain, or of two that meet, may save on the way by shortcuts.
  const auto saved = [&](int cycles) { return shortcut * (cycles / std::max(1, model.latency_cycles) - 1); };
  DeadlineWatch watch(model.deadline);
  for (size_t v = 0; v < nodes; ++v) {
    const auto& unit = model.units[size_t(model.unit[v])];
    for (size_t u = 0; u < nodes; ++u) {
      watch.check();
      if (u == v || !before(u, v)) continue;
      int meet = kNone, mate = kNone;
      for (size_t x = 0; x < nodes; ++x) {
        if (x != u && x != v && chain[u][x] != kNone && chain[v][x] != kNone)
          meet = std::max(
              meet, chain[u][x] + chain[v][x] + 2 * instance.tail[x] - saved(chain[u][x] + chain[v][x]));
      }
      for (const int w : unit) {
        if (size_t(w) != v && before(v, size_t(w)) && chain[u][size_t(w)] != kNone)
          mate = std::max(mate, chain[u][size_t(w)] + instance.tail[size_t(w)] - saved(chain[u][size_t(w)]));
      }
      if (meet != kNone) instance.meets[v].push_back({int16_t(u), int16_t(meet)});
      if (mate != kNone) instance.mates[v].push_back({int16_t(u), int16_t(mate)});
    }
    for (size_t x = 0; x < nodes; ++x) {
      watch.check();
      if (x == v || chain[v][x] == kNone || model.unit[x] == model.unit[v]) continue;
      const auto& others = model.units[size_t(model.unit[x])];
      if (std::any_of(others.begin(), others.end(), [&](int w) { return before(size_t(w), v); }))
        instance.returns[v].push_back(
            {int16_t(x), int16_t(chain[v][x] + instance.tail[x] - saved(chain[v][x]))});
    }
    auto& meets = instance.meets[v];
    std::stable_sort(meets.begin(), meets.end(), [&](const auto& a, const auto& b) {
      return a.cycles + instance.earliest[size_t(a.node)] > b.cycles + instance.earliest[size_t(b.node)];
    });
    if (meets.size() > PlacementInstance::kKin) meets.resize(PlacementInstance::kKin);
  }
}

void make_partners(PlacementInstance& instance, const std::vector<int>& position) {
  const PlacementModel& model = instance.model;
  instance.partners.resize(size_t(model.nodes));
  for (size_t v = 0; v < size_t(model.nodes); ++v) {
    auto& partners = instance.partners[v];
    for (const int out : model.outgoing[v]) {
      for (const int in : model.incoming[size_t(model.edges[size_t(out)].to)]) {
        const int other = model.edges[size_t(in)].from;
        if (position[size_t(other)] < position[v]) partners.push_back(int16_t(other));
      }
    }
    std::sort(partners.begin(), partners.end());
    partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
    if (partners.size() > 8) partners.resize(8);
  }
}

void make_cliques(PlacementInstance& instance) {
  const PlacementModel& model = instance.model;
  instance.cliques_of.resize(size_t(model.nodes));
  for (const auto& unit : model.units) {
    auto& units = instance.apart_units.emplace_back();
    for (const int node : unit) {
      for (const int other : model.apart_of[size_t(node)])
        units.push_back(int16_t(model.unit[size_t(other)]));
    }
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    instance.most_apart = std::max(instance.most_apart, int(units.size()));
  }
  const auto add = [&](std::vector<int16_t> members) {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (members.size() < 2) return;
    for (const int16_t node : members)
      instance.cliques_of[size_t(node)].push_back(int16_t(instance.cliques.size()));
    instance.cliques.push_back(std::move(members));
  };
  std::vector<int16_t> starters;
  std::vector<std::vector<int16_t>> siblings(size_t(model.nodes));
  for (const PlacementModel::Apart& pair : model.apart) {
    auto& list = pair.why == PlacementModel::Why::kStarters ? starters : siblings[size_t(pair.cause)];
    list.push_back(int16_t(pair.first));
    list.push_back(int16_t(pair.second));
  }
  add(std::move(starters));
  for (auto& list : siblings) add(std::move(list));
}

}  // namespace

PlacementInstance compile_instance(const PlacementModel& model, PlacementOrder order,
                                   const std::vector<int>& later_cycles) {
  PlacementInstance instance;
  check_size(model);
  const std::vector<std::vector<int>> chain = longest_chains(model);
  check_chains(chain);
  instance.model = model;
  instance.width = round_up(model.tiles, PlacementInstance::kLanes);
  for (size_t node = 0; node < size_t(model.nodes); ++node) {
    model.check();
    int before = 0;
    for (size_t other = 0; other < size_t(model.nodes); ++other)
      before = std::max(before, chain[other][node]);
    instance.earliest.push_back(int16_t(before));
    instance.tail.push_back(
        int16_t(*std::max_element(chain[node].begin(), chain[node].end()) + model.latency_cycles));
    instance.bound = std::max(instance.bound, int(instance.tail.back()));
  }
  for (const auto& unit : model.units) {
    uint64_t tiles = 0;
    for (int tile = 0; tile < model.tiles; ++tile) {
      if (std::all_of(unit.begin(), unit.end(),
                      [&](int node) { return model.allowed[size_t(node)][size_t(tile)] != 0; }))
        tiles |= uint64_t{1} << tile;
    }
    instance.allowed.push_back(tiles);
    instance.largest_unit = std::max(instance.largest_unit, int(unit.size()));
  }
  order_instance(instance, order, later_cycles);
  make_tables(instance);
  close_impossible_loops(instance);
  for (const uint64_t tiles : instance.allowed) instance.restricted |= std::popcount(tiles) != model.tiles;
  const std::vector<int> position = positions(instance);
  make_limits(instance, position);
  make_reaches(instance, chain, position);
  make_partners(instance, position);
  make_cliques(instance);
  return instance;
}

NodeNeighbours node_neighbours(const PlacementInstance& instance) {
  const PlacementModel& model = instance.model;
  NodeNeighbours near;
  for (int node = 0; node < model.nodes; ++node) {
    auto& operands = near.operands.emplace_back();
    auto& consumers = near.consumers.emplace_back();
    auto& mates = near.mates.emplace_back(model.units[size_t(model.unit[size_t(node)])]);
    for (const int id : model.incoming[size_t(node)]) operands.push_back(model.edges[size_t(id)].from);
    for (const int id : model.outgoing[size_t(node)]) consumers.push_back(model.edges[size_t(id)].to);
    std::erase(mates, node);
  }
  return near;
}

std::vector<float> node_features(const PlacementInstance& instance) {
  const PlacementModel& model = instance.model;
  const std::vector<int> position = positions(instance);
  const float latency = float(model.latency_cycles), longest = float(instance.bound);
  std::vector<float> features;
  features.reserve(size_t(model.nodes) * kNodeFeatures);
  for (size_t node = 0; node < size_t(model.nodes); ++node) {
    const auto& unit = model.units[size_t(model.unit[node])];
    const bool first = std::all_of(unit.begin(), unit.end(),
                                   [&](int other) { return position[size_t(other)] >= position[node]; });
    const float tail = float(instance.tail[node]), before = float(instance.earliest[node]);
    features.insert(
        features.end(),
        {float(model.incoming[node].size()) / 3, float(model.outgoing[node].size()) / 4, before / longest,
         tail / longest, (longest - before - tail) / latency / 4, float(unit.size()) - 1, float(first),
         float(model.apart_of[node].size()) / 8, float(model.incoming[node].empty()),
         float(instance.meets[node].size()) / 12, float(instance.partners[node].size()) / 4,
         float(model.ii) / 8, float(model.latency_cycles % model.ii) / float(model.ii),
         float(model.nodes) / float(model.tiles * model.ii)});
  }
  return features;
}

}  // namespace tilewright::cgra
