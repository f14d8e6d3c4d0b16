// Longest paths over difference constraints (Bellman-Ford): start(to) - start(from) >= latency - distance *
// II forwards from clock 0 and backwards from the end.
#include "tilewright/cgra/kernel/start_windows.h"

#include <algorithm>
#include <numeric>

namespace tilewright::cgra {
namespace {

// Raises `first` until every edge holds; false where a cycle (or an end of the windows) does not allow it.
bool raise_starts(const PlacementModel& model, StartWindows& windows) {
  bool changed = true;
  for (int round = 0; changed && round <= model.nodes; ++round) {
    changed = false;
    for (const Edge& edge : model.edges) {
      const int least = windows.first[edge.from] + model.latency_cycles - edge.distance * model.ii;
      if (least <= windows.first[edge.to]) continue;
      windows.first[edge.to] = least;
      changed = true;
    }
  }
  for (int node = 0; node < model.nodes; ++node) changed = changed || windows.width(node) < 1;
  return !changed;
}

bool lower_ends(const PlacementModel& model, StartWindows& windows) {
  bool changed = true;
  for (int round = 0; changed && round <= model.nodes; ++round) {
    changed = false;
    for (const Edge& edge : model.edges) {
      const int most = windows.last[edge.to] - model.latency_cycles + edge.distance * model.ii;
      if (most >= windows.last[edge.from]) continue;
      windows.last[edge.from] = most;
      changed = true;
    }
  }
  for (int node = 0; node < model.nodes; ++node) changed = changed || windows.width(node) < 1;
  return !changed;
}

constexpr int kNoEnd = 1 << 30;  // after every start: what is fixed, and chains after it

StartWindows open_windows(const PlacementModel& model, int last) {
  StartWindows windows{std::vector<int>(model.nodes, 0), std::vector<int>(model.nodes, last)};
  for (int node = 0; node < model.nodes; ++node) {
    if (model.fixed_time[node] < 0) continue;
    windows.first[node] = model.fixed_time[node];
    windows.last[node] = std::min(last, model.fixed_time[node]);
  }
  return windows;
}

}  // namespace

std::optional<int> least_makespan_cycles(const PlacementModel& model) {
  StartWindows windows = open_windows(model, kNoEnd);
  if (!raise_starts(model, windows)) return std::nullopt;
  int latest = 0;
  for (const int first : windows.first) latest = std::max(latest, first);
  return latest + model.latency_cycles;
}

std::optional<StartWindows> start_windows(const PlacementModel& model, int makespan_cycles) {
  StartWindows windows = open_windows(model, makespan_cycles - model.latency_cycles);
  if (!raise_starts(model, windows) || !lower_ends(model, windows)) return std::nullopt;
  return windows;
}

std::optional<StartWindows> narrow_windows(const PlacementModel& model, StartWindows windows, int width) {
  for (int node = 0; node < model.nodes; ++node) {
    windows.first[node] = std::max(windows.first[node], windows.last[node] - width + 1);
  }
  if (!raise_starts(model, windows)) return std::nullopt;
  return windows;
}

int sufficient_makespan_cycles(const PlacementModel& model, int delay_registers) {
  const int waits = model.tiles * delay_registers * model.ii;
  int latest = model.ii - 1 + model.nodes * model.latency_cycles + waits;
  for (const Edge& edge : model.edges) latest += edge.distance * model.ii;
  const auto last_fixed = std::max_element(model.fixed_time.begin(), model.fixed_time.end());
  if (last_fixed != model.fixed_time.end()) latest += std::max(0, *last_fixed);
  return latest + model.latency_cycles;
}

}  // namespace tilewright::cgra
