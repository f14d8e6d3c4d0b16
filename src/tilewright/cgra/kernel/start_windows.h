// When each operation of a kernel may start, by timing alone.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/cgra/problem/model.h"

namespace tilewright::cgra {

// First and last clock at which each node may start.
struct StartWindows {
  std::vector<int> first, last;
  int width(int node) const { return last[node] - first[node] + 1; }
};

// Clocks below which no schedule at model.ii ends, by the chains and cycles of edges and the fixed times;
// nothing where a cycle of the graph (or a fixed time) contradicts the II.
std::optional<int> least_makespan_cycles(const PlacementModel& model);

// Windows that contain every schedule of at most `makespan_cycles`; nothing where there is none.
std::optional<StartWindows> start_windows(const PlacementModel& model, int makespan_cycles);

// The windows cut to at most `width` clocks each (their late ends, where values live short) and tightened:
// not every schedule is inside any more. Nothing where the cut leaves no schedule.
std::optional<StartWindows> narrow_windows(const PlacementModel& model, StartWindows windows, int width);

// A makespan within which some schedule at model.ii lies if any routed schedule exists: with routes, every
// clock of waiting takes one of the fabric's `delay_registers` x tiles x II places, so the starts of
// connected operations cannot drift further apart; unconnected ones can move independently by multiples of
// II. Links within the clock.
int sufficient_makespan_cycles(const PlacementModel& model, int delay_registers);

}  // namespace tilewright::cgra
