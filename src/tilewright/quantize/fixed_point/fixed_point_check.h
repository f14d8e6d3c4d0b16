// The behaviour of a fixed-point graph on samples: how large its sums get, and what saturates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// FixedConv, FixedGemm, FixedAdd or FixedEncode. A FixedAveragePool can neither wrap nor saturate.
struct FixedPointUse {
  std::string node;
  std::string op;
  int64_t outputs = 0;     // over all samples
  int64_t saturated = 0;   // of them, at an end of i32 rather than at an activation's bound
  double largest_sum = 0;  // magnitude of the accumulator as a real number; 0 without accumulator
  // Whether, given the weights and the largest input seen, a sum may have passed 2^63 and wrapped; if not, no
  // sum of these samples did.
  bool may_wrap = false;
};

struct FixedPointCheck {
  std::vector<FixedPointUse> nodes;  // in graph order
  int64_t saturated() const;
  bool may_wrap() const;
};
// The totals, and a line for each node that saturates or may wrap.
std::string to_string(const FixedPointCheck& check);

// Runs every sample. Errors: those of SampleInputs and Executor.
FixedPointCheck check_fixed_point(const Graph& fixed, const std::vector<Tensor>& samples, int threads = 1);

}  // namespace tilewright
