// Modules around a design: one with the AXI signal names that other tools expect, and the bench of its
// testbench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/design/build.h"

namespace tilewright::pipeline {

// Knows the top of a design by its name, and the modules of rtl/delivery.
class WrapperLibrary final : public netlist::Library {
 public:
  explicit WrapperLibrary(const Design& design) : top_(*design.netlist.module(design.netlist.top)) {}
  bool ports(const std::string& component, const netlist::Parameters& parameters,
             std::vector<netlist::Port>& result) const override;

 private:
  const netlist::Module& top_;
};

// `tilewright_axi`: s_axi_*, m0_axi_*, .., irq.
netlist::Netlist axi_wrapper(const Design& design);

struct BenchFiles {
  std::string memory, script, expected, mask;
  int64_t memory_words = 0, script_words = 0;  // of a beat; of 44 bits
  int64_t output_word = 0, output_words = 0;   // of a beat; of all images
  int64_t images = 1;
  int64_t patience = 0;  // cycles per image after which a run is taken to hang
  int64_t latency = 32;
};
// `bench`: the design, its host and its memories; for rtl/delivery/testbench.sv.
netlist::Netlist bench(const Design& design, const BenchFiles& files);

}  // namespace tilewright::pipeline
