// Longest paths over the edges' least gaps (Bellman-Ford; loops by their distances, bounded waits as arcs
// backwards), tightened at wide fans: k consumers on different tiles are at best at the k nearest tiles, and
// the latest of them must take the nearest (exchange argument), so both are sorted against each other.
#include "tilewright/cgra/exact/time_bounds.h"

#include <algorithm>
#include <limits>
#include <map>

namespace tilewright::cgra {
namespace {

constexpr int kUnreached = std::numeric_limits<int>::min() / 4;

// Longest paths from `start`; nothing: a cycle of positive length.
std::optional<std::vector<int>> longest_paths(const PlacementModel& model, const std::vector<TimeArc>& arcs,
                                              int nodes, int start) {
  std::vector<int> length(nodes, kUnreached);
  length[start] = 0;
  for (int round = 0; round <= nodes; ++round) {
    bool changed = false;
    for (const TimeArc& arc : arcs) {
      if (length[arc.from] == kUnreached || length[arc.from] + arc.gap <= length[arc.to]) continue;
      length[arc.to] = length[arc.from] + arc.gap;
      changed = true;
    }
    if (!changed) return length;
    model.check();
  }
  return std::nullopt;
}

int wrap(int value, int modulus) { return ((value % modulus) + modulus) % modulus; }

}  // namespace

TimeBounds::TimeBounds(const PlacementConstraints& constraints, const SortedConstraints& sorted, bool derived)
    : constraints_(&constraints), sorted_(&sorted) {
  make_arcs(derived);
  if (!derived) return;
  make_radii();
  make_fans();
}

void TimeBounds::make_arcs(bool derived) {
  const PlacementModel& model = constraints_->model;
  const bool bounded = model.rules.delay != Delay::kUnbounded;
  for (const Edge& edge : sorted_->edges) {
    const int u = sorted_->unit[edge.from], v = sorted_->unit[edge.to];
    const std::vector<int>& others = sorted_->apart_of[u];
    const bool apart = derived && std::find(others.begin(), others.end(), v) != others.end();
    const bool clash =
        derived && edge.from != edge.to && sorted_->occupies[edge.from] && sorted_->occupies[edge.to];
    int least = std::numeric_limits<int>::max(), most = kUnreached;
    for (int a = 0; a < model.tiles; ++a) {
      if (!sorted_->allowed[u][a]) continue;
      model.check();
      for (int b = 0; b < model.tiles; ++b) {
        if (!sorted_->allowed[v][b] || (u == v && a != b) || (apart && a == b)) continue;
        int gap = model.least_gap(a, b);
        // Two operations of one tile have different slots.
        if (a == b && clash && model.ii == 1) continue;
        if (a == b && clash && gap % model.ii == 0) ++gap;
        least = std::min(least, gap);
        if (bounded) most = std::max(most, model.most_gap(a, b));
      }
    }
    if (least == std::numeric_limits<int>::max()) {
      contradiction_ = true;
      continue;
    }
    const int shift = edge.distance * model.ii;
    arcs_.push_back({edge.from, edge.to, least - shift});
    if (bounded) arcs_.push_back({edge.to, edge.from, shift - most});
  }
}

void TimeBounds::make_radii() {
  const PlacementModel& model = constraints_->model;
  // On the centre's own tile a consumer that would start at once has the centre's slot where the latency is a
  // multiple of II.
  const bool own_tile = model.ii > 1;
  const int own = model.latency_cycles % model.ii == 0 ? 1 : 0;
  for (int centre = 0; centre < model.tiles; ++centre) {
    model.check();
    std::vector<int> out, in;
    for (int tile = 0; tile < model.tiles; ++tile) {
      if (tile == centre && !own_tile) continue;
      out.push_back(tile == centre ? own : model.transfer[centre][tile]);
      in.push_back(tile == centre ? own : model.transfer[tile][centre]);
    }
    std::sort(out.begin(), out.end());
    std::sort(in.begin(), in.end());
    out_radii_.push_back(std::move(out));
    in_radii_.push_back(std::move(in));
  }
  for (auto* radii : {&out_radii_, &in_radii_}) {
    std::sort(radii->begin(), radii->end());
    radii->erase(std::unique(radii->begin(), radii->end()), radii->end());
  }
}

void TimeBounds::make_fans() {
  const PlacementModel& model = constraints_->model;
  for (const bool out : {true, false}) {
    std::map<int, std::map<int, int>> ends;  // centre -> other end -> offset, the tightest
    for (const Edge& edge : sorted_->edges) {
      const int centre = out ? edge.from : edge.to, other = out ? edge.to : edge.from;
      const int offset = model.latency_cycles - edge.distance * model.ii;
      const bool usual = sorted_->occupies[centre] && sorted_->occupies[other];
      if (centre == other || !usual || sorted_->unit[centre] == sorted_->unit[other]) continue;
      const auto [entry, fresh] = ends[centre].try_emplace(other, offset);
      if (!fresh) entry->second = std::max(entry->second, offset);
    }
    for (const auto& [centre, others] : ends) {
      model.check();
      Fan fan{centre, out, {}, {}};
      for (const auto& [node, offset] : others) {
        const std::vector<int>& apart = sorted_->apart_of[sorted_->unit[node]];
        const bool fits = std::all_of(fan.nodes.begin(), fan.nodes.end(), [&](int member) {
          return std::binary_search(apart.begin(), apart.end(), sorted_->unit[member]);
        });
        if (!fits) continue;
        fan.nodes.push_back(node);
        fan.offset.push_back(offset);
      }
      if (fan.nodes.size() > 1) fans_.push_back(std::move(fan));
    }
  }
}

void TimeBounds::tighten_high(const Fan& fan, TimeWindows& windows) const {
  std::vector<int> room;
  for (size_t i = 0; i < fan.nodes.size(); ++i) room.push_back(windows.high[fan.nodes[i]] - fan.offset[i]);
  std::sort(room.begin(), room.end());
  int best = kUnreached;
  for (const std::vector<int>& radii : out_radii_) {
    if (radii.size() < room.size()) continue;
    int latest = std::numeric_limits<int>::max();
    for (size_t i = 0; i < room.size(); ++i) latest = std::min(latest, room[i] - radii[i]);
    best = std::max(best, latest);
  }
  windows.high[fan.centre] = std::min(windows.high[fan.centre], best);
}

void TimeBounds::raise_low(const Fan& fan, TimeWindows& windows) const {
  std::vector<int> ready;
  for (size_t i = 0; i < fan.nodes.size(); ++i) ready.push_back(windows.low[fan.nodes[i]] + fan.offset[i]);
  std::sort(ready.rbegin(), ready.rend());
  int best = std::numeric_limits<int>::max() / 4;
  for (const std::vector<int>& radii : in_radii_) {
    if (radii.size() < ready.size()) continue;
    int earliest = kUnreached;
    for (size_t i = 0; i < ready.size(); ++i) earliest = std::max(earliest, ready[i] + radii[i]);
    best = std::min(best, earliest);
  }
  windows.low[fan.centre] = std::max(windows.low[fan.centre], best);
}

std::optional<TimeWindows> TimeBounds::within(int horizon) const {
  const PlacementModel& model = constraints_->model;
  if (contradiction_) return std::nullopt;
  TimeWindows windows;
  windows.edges = sorted_->edges;
  for (int node = 0; node < model.nodes; ++node) {
    const int fixed = sorted_->fixed_time[node], last = horizon - constraints_->tail(node);
    windows.low.push_back(std::max(constraints_->release(node), fixed));
    windows.high.push_back(fixed < 0 ? last : std::min(last, fixed));
    if (windows.low.back() > windows.high.back()) return std::nullopt;
  }
  for (bool changed = true; changed;) {
    model.check();
    const std::vector<int> low = windows.low, high = windows.high;
    for (const TimeArc& arc : arcs_) {
      windows.low[arc.to] = std::max(windows.low[arc.to], windows.low[arc.from] + arc.gap);
      windows.high[arc.from] = std::min(windows.high[arc.from], windows.high[arc.to] - arc.gap);
    }
    for (const Fan& fan : fans_) {
      model.check();
      fan.out ? tighten_high(fan, windows) : raise_low(fan, windows);
    }
    for (int node = 0; node < model.nodes; ++node) {
      if (windows.low[node] > windows.high[node]) return std::nullopt;
    }
    changed = low != windows.low || high != windows.high;
  }
  return windows;
}

std::optional<int> TimeBounds::least_makespan(int most) const {
  int low = 1;
  if (!within(most)) return std::nullopt;
  while (low < most) {  // windows only grow with the horizon
    const int middle = low + (most - low) / 2;
    if (within(middle)) {
      most = middle;
    } else {
      low = middle + 1;
    }
  }
  return most;
}

// Strongly connected components by reachability both ways.
std::vector<int> TimeBounds::blocks(const std::vector<TimeArc>& arcs, int nodes) const {
  std::vector<std::vector<int>> next(nodes), before(nodes);
  for (const TimeArc& arc : arcs) {
    next[arc.from].push_back(arc.to);
    before[arc.to].push_back(arc.from);
  }
  const auto reach = [nodes](const std::vector<std::vector<int>>& ways, int start) {
    std::vector<uint8_t> seen(nodes, 0);
    std::vector<int> open{start};
    seen[start] = 1;
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int to : ways[node]) {
        if (!seen[to]) open.push_back(to);
        seen[to] = 1;
      }
    }
    return seen;
  };
  std::vector<int> block(nodes, -1);
  for (int node = nodes - 1; node >= 0; --node) {  // the origin, the last one, first
    if (block[node] >= 0) continue;
    constraints_->model.check();
    const std::vector<uint8_t> later = reach(next, node), earlier = reach(before, node);
    for (int other = 0; other < nodes; ++other) {
      if (later[other] && earlier[other]) block[other] = node;
    }
  }
  return block;
}

std::optional<TimeWindows> TimeBounds::any_length() const {
  const PlacementModel& model = constraints_->model;
  if (contradiction_) return std::nullopt;
  for (const Fan& fan : fans_) {
    const auto holds = [&](const std::vector<int>& radii) { return radii.size() >= fan.nodes.size(); };
    const auto& all = fan.out ? out_radii_ : in_radii_;
    if (std::none_of(all.begin(), all.end(), holds)) return std::nullopt;
  }
  const int origin = model.nodes;
  std::vector<TimeArc> arcs = arcs_;
  for (int node = 0; node < model.nodes; ++node) {
    const int fixed = sorted_->fixed_time[node];
    arcs.push_back({origin, node, std::max(constraints_->release(node), fixed)});
    if (fixed >= 0) arcs.push_back({node, origin, -fixed});
  }
  const std::vector<int> block = blocks(arcs, model.nodes + 1);
  std::erase_if(arcs, [&](const TimeArc& arc) { return block[arc.from] != block[arc.to]; });
  std::vector<TimeArc> backwards;
  for (const TimeArc& arc : arcs) backwards.push_back({arc.to, arc.from, arc.gap});
  TimeWindows windows{std::vector<int>(model.nodes, 0), std::vector<int>(model.nodes, 0), {}};
  for (int anchor = 0; anchor <= origin; ++anchor) {
    if (block[anchor] != anchor) continue;
    model.check();
    const auto after = longest_paths(model, arcs, model.nodes + 1, anchor);
    const auto before = longest_paths(model, backwards, model.nodes + 1, anchor);
    if (!after || !before) return std::nullopt;
    const int room = anchor == origin ? 0 : model.ii - 1;
    int lowest = 0;
    for (int node = 0; node < model.nodes; ++node) {
      if (block[node] != anchor) continue;
      windows.low[node] = (*after)[node];
      windows.high[node] = room - (*before)[node];
      if (windows.low[node] > windows.high[node]) return std::nullopt;
      lowest = std::min(lowest, windows.low[node]);
    }
    const int lift = (model.ii - 1 - lowest) / model.ii * model.ii;
    for (int node = 0; node < model.nodes && anchor != origin; ++node) {
      if (block[node] != anchor) continue;
      windows.low[node] += lift;
      windows.high[node] += lift;
    }
  }
  for (const Edge& edge : sorted_->edges) {
    if (block[edge.from] == block[edge.to]) windows.edges.push_back(edge);
  }
  return windows;
}

std::optional<std::vector<int>> earliest_times(const PlacementConstraints& constraints,
                                               const SortedConstraints& sorted, const std::vector<int>& tiles,
                                               const std::vector<int>& slots) {
  const PlacementModel& model = constraints.model;
  std::vector<int> times = slots;
  for (int node = 0; node < model.nodes; ++node) {
    times[node] += (constraints.release(node) - slots[node] + model.ii - 1) / model.ii * model.ii;
    if (sorted.fixed_time[node] >= 0) times[node] = sorted.fixed_time[node];
  }
  const auto raise = [&](int node, int least) {
    if (times[node] >= least) return false;
    times[node] = least + wrap(slots[node] - least, model.ii);
    return true;
  };
  const int rounds = 2 * model.nodes + 2;
  for (int round = 0; round <= rounds; ++round) {
    model.check();
    bool changed = false;
    for (const Edge& edge : sorted.edges) {
      const int shift = edge.distance * model.ii, a = tiles[edge.from], b = tiles[edge.to];
      changed |= raise(edge.to, times[edge.from] + model.least_gap(a, b) - shift);
      if (model.rules.delay != Delay::kUnbounded)
        changed |= raise(edge.from, times[edge.to] + shift - model.most_gap(a, b));
    }
    if (changed) continue;
    for (int node = 0; node < model.nodes; ++node) {
      if (sorted.fixed_time[node] >= 0 && times[node] != sorted.fixed_time[node]) return std::nullopt;
    }
    return times;
  }
  return std::nullopt;
}

}  // namespace tilewright::cgra
