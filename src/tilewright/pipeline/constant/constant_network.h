// A whole network of dense layers as one pipeline of constant matrices: an input vector in and a result out
// in every cycle, no memories and no multipliers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/constant/solve.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

struct ConstantNetworkOptions {
  std::string name = "constant_network";
  int levels = 5;            // sums one after another between two rows of registers, at least 1
  MatrixSolveOptions solve;  // of each layer; its time is shared out by weights
};

struct ConstantLayer {
  std::string name;
  int rows = 0, columns = 0;
  int64_t nonzero = 0;       // weights
  int64_t luts = 0;          // of the matrix unit, as its graph counts
  int64_t scale_digits = 0;  // what the rows' factors have beyond one digit each, summed
  int depth = 0, latency = 0;
  GraphBound bound;
  std::string search;
  double cpu_seconds = 0;
};

// Ports of the top: `enable` (all registers step together), `in_valid`, in0.. (elements of the input tensor
// in the order row, column, channel, as wide as its elements), `out_valid`, out0... (two's complement where a
// result may be negative). A result is there `latency` enabled cycles after its input.
struct ConstantNetwork {
  netlist::Netlist design;
  int latency = 0;
  std::vector<ConstantLayer> layers;
  std::vector<NumberRange> outputs;  // of the result's elements
  int64_t luts() const;
};

// Errors (unsupported): every layer that is no dense layer of integers, with its reason.
ConstantNetwork build_constant_network(const Network& network, const ConstantNetworkOptions& options = {});

}  // namespace tilewright::pipeline
