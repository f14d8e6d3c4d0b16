// The text form of a graph: to read, to compare with diff, to write by hand in tests. Lossless: parsing what
// print gives yields the same graph, value ids, names and every bit of every constant included.
//
//   graph "lenet"
//   input %0 "image": f32[1x1x28x28]
//   const %1 "conv1.bias": f32[2] = [0.5, -1]
//   node "conv1" Conv(%0, %2, _) -> (%3 "conv1_out": f32[1x2x24x24]) {kernel_shape: [5, 5], group: 1}
//   node "add" tilewright::QAdd(%3, %3) -> (%4 "sum": i8[4]) {multiplier_a: 1, ratio: 0.5f, mode: "x"}
//   value %5 "spare": i64[]
//   output %4
//
// The first line may end with "rounding float" or "rounding twice" (Graph::rounding).
// One statement a line; # begins a comment outside strings. An absent input or output is _. Sizes of
// constants: up to 64 elements as a list, equal elements up to 2^20 of them as "splat v", anything else as
// "base64" followed by the packed little-endian bytes in lines that end with a lone ";". Numbers of float
// types are decimal (shortest form that reads back the same) or 0x... for the bits of what decimals cannot
// say. Attributes: integer 3, float 0.5f, string "a", lists [1, 2], [0.5f], ["a"], empty lists ints[]
// floats[] strings[], tensors as the right side of a constant with its type, f32[2] = [1, 2]. Strings escape
// \" \\ \n and other bytes outside printable ASCII as \xHH.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/graph/graph.h"

namespace tilewright {

std::string print(const Graph& graph);

// Errors (invalid input): all of them syntax, each with its line ("line 7: ..."); the first one ends the
// parse. Value ids must be 0..n-1, each defined once. The verifier checks whether the graph makes sense.
Graph parse_graph(std::string_view text);

// Whether a file that begins so is in this form.
bool is_graph_text(std::string_view beginning);

}  // namespace tilewright
