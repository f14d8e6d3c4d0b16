// A network from its graph to Verilog: whole inferences, with and without random pauses of the memory, bit
// for bit and cycle for cycle.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright::pipeline {

struct RealDesign {
  bool fixed;  // Q10.22, else 8 bits or what the network has
  const char* device;
  const char* budget;
  bool engines = false;  // processors, else the allocator chooses
};

// Needs the tools of missing_for_rtl() (tests/support/pipeline/rtl_testing.h).
void expect_equal_in_every_cycle(const Graph& model, const RealDesign& form);

}  // namespace tilewright::pipeline
