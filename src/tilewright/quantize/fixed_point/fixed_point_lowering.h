// Lowers a float graph to wide fixed point (docs/reference/arithmetic.md): no samples needed, one fraction
// for the whole graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// The result for one operator of the float graph (operators on integers and on constants are not listed).
struct FixedPointRecord {
  std::string node;
  std::string op;
  std::string fixed_op;  // the operator on i32 that does its work; empty: it stays in float
  std::string reason;    // why it stays in float
  int64_t macs = 0;
};

// A fixed-point value and the float value that it represents.
struct FixedPointMeaning {
  std::string fixed;
  std::string source;
};

struct FixedPointReport {
  int fraction = 0;
  std::vector<FixedPointRecord> records;    // in graph order
  std::vector<FixedPointMeaning> meanings;  // in graph order, graph inputs included
  std::vector<std::string> warnings;        // weights and biases that saturate, by node
  int64_t total_macs() const;
  int64_t fixed_macs() const;
  // In [0, 1]; 1 for a graph without multiply-accumulates.
  double fixed_mac_share() const;
};
// The totals, the warnings, and a table of the operators that stay in float.
std::string to_string(const FixedPointReport& report);

// The fixed-point form of `float_graph`, which has gone through `optimize` (batch normalisations that are not
// folded stay in float). Relu, Relu6 and Clip after a layer become its clip. FixedEncode and FixedDecode mark
// where float ends and begins; graph inputs and outputs keep names, types and shapes. `report` may be null.
// Errors (invalid input): a fraction outside 0..30; those of attribute access and of `convolution_window`.
Graph to_fixed_point(const Graph& float_graph, int fraction, FixedPointReport* report = nullptr);

// The fraction bits of a number type by name: 22 of "q10.22" (integer bits, sign included, then fraction; 32
// in all). Errors (invalid input): another form, bits that do not add up to 32, a fraction outside 0..30.
int fraction_of_number_type(const std::string& name);

// Whether `graph` holds operators of wide fixed point.
bool is_fixed_point(const Graph& graph);

}  // namespace tilewright
