// A coarse-grained reconfigurable array as a machine description (`kind: fabric` in hardware/*.yaml): tiles
// in a line, ring, mesh or torus, the links between them and the storage of a tile. One model covers
// pipelined lines such as the Streaming Engine's (a value takes clocks per unit of distance) and arrays where
// a value crosses several links within one clock (mesh: 1, HyCUBE: 4).
//
// Time. An operation that starts on tile a at clock t has its value at a's output at clock t +
// operation_latency_cycles. From there the value moves by links and waits in delay registers; the consumer
// reads it on its own tile at the clock at which it starts. Everything repeats every II clocks: clock c uses
// slot c mod II.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

// Which starting operations (without a predecessor) must sit on pairwise different tiles.
enum class StarterRule : uint8_t {
  kOff,
  kRoots,  // all of them
  kFlows,  // one of each synchronous flow: its first in the order of the graph
};

// A directed link between two tiles.
struct FabricLink {
  int from = 0, to = 0;
  int cycles = 0;  // clocks a value takes; 0: within the clock (at most hops_per_cycle in a row)
  bool operator==(const FabricLink&) const = default;
};

struct Fabric {
  static constexpr int kMostTiles = 4096;
  std::string name;
  int rows = 1, columns = 1;
  bool wrap = false;                 // a ring, or a torus
  std::vector<int> spans = {1};      // distances along one dimension that a link crosses, each way
  int operation_latency_cycles = 1;  // from start to the value at the tile's output
  int cycles_per_distance = 0;       // clocks of a link per unit of its span; 0: links within the clock
  int hops_per_cycle = 1;            // links that a value crosses in one clock, where they take none
  int pass_through = 0;     // values per tile and slot that come by a link and leave by one; 0: no limit
  int delay_registers = 1;  // values per tile and slot that wait for the next clock
  int operands = 3;         // per operation
  int instructions = 64;    // instruction RAM, entries per tile
  int max_ii = 64;          // spoke RAM, entries per tile
  int tile_memories = 0;    // per tile; 0: no tile-memory variables
  int tile_memory_entries = 0;
  int memory_interfaces = 0;  // of the asynchronous fabric; 0: there is none: loads and stores are operations
  bool memory_left_column_only = false;  // only tiles of column 0 load and store
  StarterRule starters_apart = StarterRule::kOff;
  bool siblings_apart = false;  // consumers of one value on pairwise different tiles
  bool operator==(const Fabric&) const = default;

  int tiles() const { return rows * columns; }
  // Every rule the description breaks (no tiles, more than kMostTiles, a span longer than the line, tiles
  // that no link reaches, ...).
  void verify(Diagnostics& diagnostics) const;
};

// All directed links, ordered by source, then target.
std::vector<FabricLink> fabric_links(const Fabric& fabric);

// Fewest clocks between a value's appearance at tile a's output and its use on tile b, as a matrix [a][b] of
// tiles() x tiles(); -1 where no path exists. Throws Expired when the time of `deadline`, if any, is over.
std::vector<std::vector<int>> transfer_cycles(const Fabric& fabric, const Deadline* deadline = nullptr);

// The YAML form; parses back to an equal description.
std::string print_fabric(const Fabric& fabric);
// Errors (invalid input): all problems at once, each with its line.
Fabric parse_fabric(const std::string& text, const std::string& source_name);
// `name_or_path`: NAME of a preset in `preset_folder`, a file, or a short form "mesh-RxC", "torus-RxC",
// "hycube-RxC", "line-N", "ring-N" (the last two with the Streaming Engine's tiles). Errors (invalid input):
// none of these, listing the known presets; whatever reading reports.
Fabric find_fabric(const std::string& name_or_path, const std::filesystem::path& preset_folder);

}  // namespace tilewright
