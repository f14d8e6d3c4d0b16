// Readers of the two kinds of published benchmark graphs (JSON): loop kernels of open mappers, and synthetic
// graphs with a recorded optimum. What a file records about its best mapping is returned separately from the
// graph.
//
// Both hold structure only: operation names and edges. Their meaning is completed here, by rules that depend
// on the file alone: operands that an operation needs and the file does not list are constants (1 + id mod
// 7), loads read the array "memory", every store writes and every input reads an array of its own, named
// after it (nothing in the file says which stores meet).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/cgra/graph/dataflow_graph.h"

namespace tilewright::cgra {

// A loop kernel. Nodes are named after operation and id in the file ("add12"); constant nodes of the file
// are free and become constant operands.
struct KernelFile {
  DataflowGraph graph;
  // Recorded for unit latency; every node of the file, constants too, counts as an operation there.
  int recurrence_ii = 0, resource_ii_16_tiles = 0, critical_path_nodes = 0;
};

// The best mapping recorded with a synthetic graph.
struct RecordedOptimum {
  int critical_path_cycles = 0;
  std::optional<int> makespan;               // proven, where the file says so
  std::vector<std::pair<int, int>> witness;  // tile and start of every node
};

// A synthetic graph: every group of nodes that share a tile writes one variable ("shared0", ...).
struct SyntheticFile {
  DataflowGraph graph;
  int tiles = 0, ii = 1, operation_latency_cycles = 1;
  bool starters_apart = false, siblings_apart = false;
  RecordedOptimum recorded;
};

// The operation that stands for a name in the kernel files, whatever its case; nothing where there is none.
// Where names differ from ours: ls, sl shl; rs, sr, shrl lshr; ars, ashr, sra, shra shr; mult mul; cmp, icmp,
// clt, vcmp lt; cgt gt; eql eq; sel select; loadb, loadh, oload, oloadh, vload load; storeb, storeh, ostore
// store; cmerge, phi, vphi merge; movc, bitcast, zext, trunc, br copy; incr (a counter) copy of the thread
// number; getelementptr, gep add; sdiv, udiv div; srem, urem rem; cat (bits side by side, of widths that the
// files do not give) or; vadd, vmul, vsub, vselect without the v; "32" (a node that its front end left
// unnamed) copy.
std::optional<Opcode> find_kernel_opcode(const std::string& name);

// Errors (invalid input): unreadable, no JSON, and every problem of its fields, all at once.
KernelFile read_kernel_file(const std::filesystem::path& path);
KernelFile parse_kernel_file(const std::string& text, const std::string& source_name);
SyntheticFile read_synthetic_file(const std::filesystem::path& path);
SyntheticFile parse_synthetic_file(const std::string& text, const std::string& source_name);

}  // namespace tilewright::cgra
