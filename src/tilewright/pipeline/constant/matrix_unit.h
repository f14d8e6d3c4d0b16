// An adder graph as hardware: one vector per cycle, registers between its levels.
#pragma once

#include <string>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/constant/adder_graph.h"

namespace tilewright::pipeline {

struct MatrixUnitOptions {
  std::string name = "matrix_unit";
  // Sums one after another between two rows of registers; 0: no registers. The last level always ends in one.
  int levels = 3;
};

// Ports: in0, in1, .. and out0, out1, .., as wide as their ranges need, two's complement where a range
// reaches below zero; `enable` with registers: all of them step together.
struct MatrixUnit {
  netlist::Module module;
  int latency = 0;  // rows of registers
};

MatrixUnit make_matrix_unit(const AdderGraph& graph, const MatrixUnitOptions& options = {});

}  // namespace tilewright::pipeline
