// Which hardware each layer of a network gets: only the decisions that define a design, not what follows from
// them. Written as YAML, so that `generate --allocation file.yaml` reproduces a design.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// kPair, kPacked..: products of two, three or four outputs with one activation in a DSP block.
enum class Multiplier { kDsp, kPair, kPacked2, kPacked3, kPacked4, kLut };
constexpr Multiplier kMultipliers[] = {Multiplier::kDsp,     Multiplier::kPair,    Multiplier::kPacked2,
                                       Multiplier::kPacked3, Multiplier::kPacked4, Multiplier::kLut};
// How a window reaches the array (docs/design/pipeline/pipeline.md): word by word, or all taps at once.
enum class Feeder { kChannelMajor, kRowMajor };

// Parallelism of an array and its finish: pi input channels (or lanes) and po output channels per cycle, pf
// results per cycle.
struct ArrayShape {
  int64_t pi = 1, po = 1, pf = 1;
  Multiplier multiplier = Multiplier::kDsp;
  Feeder feeder = Feeder::kChannelMajor;
  bool operator==(const ArrayShape&) const = default;
};

// An engine of the processor shape. `pi` is one for all of a design (the word of its tensors).
struct EngineAllocation {
  std::string name;
  bool lanes = false;  // lane_array: depthwise, pools, averages
  ArrayShape shape;
  int64_t taps_y = 1, taps_x = 1;  // of a row-major lane engine: the window it is built for
  bool operator==(const EngineAllocation&) const = default;
};

struct LayerAllocation {
  std::string layer;
  // Streaming: a stage of this shape. Processors: the engine's index; rows per task (0: the whole layer).
  ArrayShape stage;
  int engine = 0;
  int64_t band_rows = 0;
  bool unroll = false;                        // first layer only: its window becomes channels on the host
  int64_t input_fifo = 0, residual_fifo = 0;  // streaming: depths in beats; 0: none
  bool operator==(const LayerAllocation&) const = default;
};

struct Allocation {
  bool streaming = false;
  std::vector<EngineAllocation> engines;  // processors
  std::vector<LayerAllocation> layers;    // in the order of the network
  // Processors: tensor memories, and in which unit each tensor lies.
  int64_t units = 1;
  std::vector<int> tensor_unit;
  // Processors: tensors free their words right after their last reader, which is less memory, but engines
  // wait for each other. Stages: windows keep no more rows than they need.
  bool tight_memory = false;
  bool weights_on_chip = true;  // else from DRAM through a ring of this many words of the array
  int64_t ring_words = 0;
  netlist::MemoryKind tensor_memory = netlist::MemoryKind::kBlockRam;
  netlist::MemoryKind weight_memory = netlist::MemoryKind::kBlockRam;
  // The memory port: bytes per beat, and how many of them fetch weights side by side.
  int64_t port_bytes = 8, weight_channels = 1;
  int64_t max_burst_beats = 64;
  double clock_mhz = 100;
  // What the finishes of integers multiply with: kDsp, or kLut for parts whose blocks are few or none.
  Multiplier finish_multiplier = Multiplier::kDsp;
  bool operator==(const Allocation&) const = default;

  // Every rule of docs/design/pipeline/pipeline.md that it breaks for this network.
  void verify(const Network& network, Diagnostics& diagnostics) const;
};

// Errors (invalid input): all problems at once, each with its line.
Allocation parse_allocation(const std::string& text, const std::string& source_name);
std::string print_allocation(const Allocation& allocation);

}  // namespace tilewright::pipeline
