// How many multiplications the Verilog of a design does per cycle: counted in the source as Yosys elaborates
// it, before any optimisation, not derived from parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

// Products of one width: multiplier modules (multiply of rtl/pipeline; those of pairs and packed ones count
// as what they make), and `*` anywhere else. XNOR products and selected activations are not multiplications.
struct MultiplierClass {
  int a_bits = 0, b_bits = 0;  // a_bits >= b_bits
  bool in_array = false;       // of a mac_array or lane_array; else of a finish or of addresses
  int64_t products = 0;
  // `*` that they are written with, of those whose result is wide enough for a block (9 bits): 0 of "lut",
  // half as many of "pair", 4 of 32 x 32, a third of "packed3".
  int64_t operators = 0;
};

struct MultiplierCount {
  std::vector<MultiplierClass> classes;  // by in_array, then width, the widest first
  int64_t array_products() const;
  // Products in arrays, both of whose operands have more than 18 bits.
  int64_t wide_array_products() const;
  int64_t operators() const;  // in all of the design
};

struct MultiplierCountOptions {
  std::filesystem::path rtl_folder;  // the folder rtl of Tilewright
  std::filesystem::path folder;      // takes sources, script and Yosys' answer
  double timeout_s = 600;
};

// Errors: unsupported (no Yosys); invalid input (it refuses the sources); infeasible (time limit).
MultiplierCount count_multipliers(const netlist::Netlist& design, const MemoryImages& images,
                                  const MultiplierCountOptions& options);

// The same from Yosys' netlist of a design whose top is `top`. `source_name`: for messages. Errors (invalid
// input): it is not such a netlist.
MultiplierCount parse_multipliers(const std::string& text, const std::string& source_name,
                                  const std::string& top);

}  // namespace tilewright::pipeline
