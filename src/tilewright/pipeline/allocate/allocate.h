// Chooses the hardware of every layer within a budget: stages or processors, whichever is better.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/hardware/device.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/estimate/estimate.h"
#include "tilewright/pipeline/network/network.h"
#include "tilewright/search/deadline.h"

namespace tilewright::pipeline {

enum class Objective { kLatency, kThroughput };  // cycles of one image; between images

struct Budget {
  synthesis::DeviceFamily family = synthesis::DeviceFamily::kXc7;
  synthesis::Resources resources;  // carry is never the limit
  int64_t multipliers = 0;         // products per cycle of all arrays; 0: no limit but the blocks
  // What finishes of integers multiply with. The search tries kLut, too, where blocks are few.
  Multiplier finish_multiplier = Multiplier::kDsp;
  // The memory next to the part: `channels` ports of `port_bytes`.
  int64_t port_bytes = 8, channels = 1;
  MemoryPort port;
  double clock_mhz = 100;
};

// All of a device. A bare part without `dram:` gets one channel of 8 bytes; without a clock 100 MHz.
Budget device_budget(const Device& device);
// Replaces what `text` names: "dsp=5640,bram=4320,uram=960,lut=..,ff=..,multipliers=705,channels=1". Errors
// (invalid input): unknown names, values that are not numbers, all at once.
void apply_budget(Budget& budget, const std::string& text);

struct AllocateOptions {
  bool streaming = true, processors = true;  // shapes to try
  // Products of wide fixed point in blocks, or of narrow integers in look-up tables where blocks run out.
  bool lut_multipliers = true;
  // Share of the look-up tables and flip-flops to plan for: the rest is for the error of their estimate, and
  // for wiring. If nothing fits, all of them.
  double logic_share = 0.8;
  // Designs of no more cycles than this are as good as each other: the one that needs the least of `sparing`
  // is taken, and the other objective is not searched for. 0: the fewest cycles.
  int64_t enough_cycles = 0;
  int64_t synthesis::Resources::*sparing = &synthesis::Resources::lut;
  uint64_t seed = 1;
  int64_t nodes = 2'000;        // of the exact search over stages, then annealing continues from its best
  int64_t evaluations = 5'000;  // of annealing
  // Ends the search: the best found by then is used.
  const Deadline* deadline = nullptr;
  bool over() const { return deadline != nullptr && deadline->over(); }
};

struct AllocationResult {
  Allocation allocation;
  Estimate estimate;
  std::string explanation;        // which layer got which multipliers and why, what bounds each layer
  bool proven_optimal = false;    // among the stages that the allocator knows (divisors of the channels)
  int64_t evaluated = 0;          // allocations that were estimated
  Ending ending = Ending::kNone;  // what ended the search before it was done
  // Other designs within the budget that a simulation may find better than their estimates say: those that
  // are near the best for this objective, then those for the other. Together with this one they are the same
  // for both objectives.
  std::vector<AllocationResult> rivals;
};

// Both objectives are searched and share what they find; so do searches with parts of the budget, so that
// more of everything seldom gives a worse design. Errors (infeasible): the budget does not hold the network
// in any shape: each resource that is short, by how much, whether that holds for any design, and a budget
// near the smallest in which this search finds a design, or a memory port that holds no element, or a
// deadline before anything that fits; (unsupported) no shape can compute it.
AllocationResult allocate(const Network& network, const Budget& budget, Objective objective,
                          const AllocateOptions& options = {});

}  // namespace tilewright::pipeline
