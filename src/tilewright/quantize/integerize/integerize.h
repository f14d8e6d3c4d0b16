// Lowers a quantised model to integer operators: from the QDQ form (DequantizeLinear -> operator ->
// QuantizeLinear, as exporters, TFLite converters and our own quantizer write it) and the QLinear form to the
// operators of docs/reference/arithmetic.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// The result for one operator of the source graph (QuantizeLinear, DequantizeLinear and operators on
// constants are not listed).
struct IntegerizeRecord {
  std::string node;
  std::string op;
  std::string integer_op;  // the integer operator it became; empty: it stays in float
  std::string reason;      // why it stays in float, or why it is also needed there
  int64_t macs = 0;        // multiply-accumulates, 0 for operators without weights
};

// The meaning of an integer value of the result: `source`, a float value, is scale * (integer - zero_point).
struct IntegerMeaning {
  std::string integer;  // value of the integer graph
  std::string source;   // value of the graph before quantisation: what QuantizeLinear took, where it is known
  double scale = 1;
  int32_t zero_point = 0;
  bool operator==(const IntegerMeaning&) const = default;
};

struct IntegerizeReport {
  std::vector<IntegerizeRecord> records;  // in graph order
  std::vector<IntegerMeaning> meanings;   // one per quantised activation, in graph order
  int64_t total_macs() const;
  int64_t integer_macs() const;
  // In [0, 1]; 1 for a graph without multiply-accumulates.
  double integer_mac_share() const;
};

// Whether anything in `graph` quantises: QuantizeLinear, DequantizeLinear, QLinear operators, signs of
// activations, or integer operators themselves.
bool is_quantized(const Graph& graph);

// A table of the operators that stay in float, with reasons, and the totals.
std::string to_string(const IntegerizeReport& report);

// The integer form of `qdq`; operators without one stay in float between DequantizeLinear and QuantizeLinear.
// Graph inputs and outputs keep names, types and shapes. `report` may be null.
//
// Differences from evaluating the source in float: an operator's result is rounded once, half up instead of
// half to even, and its bias is rounded to a multiple of x_scale * w_scale. Values are therefore those of the
// QDQ graph except where the exact result lies on (or within float error of) a rounding boundary.
// Errors: those of attribute access and of `convolution_window` and its kin (invalid input).
Graph integerize(const Graph& qdq, IntegerizeReport* report = nullptr);

}  // namespace tilewright
