// The features of a component's area. Look-up tables and flip-flops are weighted sums of these
// features (weights: estimate/resource_coefficients.cpp, fitted to Yosys runs); blocks are counted exactly.
// A component's own source has its features; here are the parts that several share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::pipeline {

struct ResourceFeatures {
  const char* form = "";        // whose weights count: the component, or one of its forms
  std::vector<double> lut, ff;  // the first of each is 1
  int64_t dsp = 0, bram = 0, uram = 0;
};

// The parameters of a component on a family.
struct ComponentSizes {
  const netlist::Parameters& parameters;
  synthesis::DeviceFamily family;
  int64_t operator()(const char* name) const { return netlist::integer(parameters, name); }
  int64_t operator()(const char* name, int64_t fallback) const {
    return netlist::integer_or(parameters, name, fallback);
  }
  std::string text(const char* name, const char* fallback = "") const {
    return netlist::text_or(parameters, name, fallback);
  }
};

namespace area {

// Of an index below `value`, at least 1.
int64_t bits_of(int64_t value);

// One register of `width` bits behind a handshake.
ResourceFeatures registered_beat(double width);

// Look-up tables, and the flip-flops of a read register where the cells have none.
struct MemoryLogic {
  double lut = 0, ff = 0;
};
// A memory of one write and one read port: adds its cells to `features`. On an iCE40 "lutram" is whatever
// Yosys finds cheaper, a block or registers. `bypassed`: a word may be read while it is written.
MemoryLogic add_memory(ResourceFeatures& features, const std::string& wanted, int64_t words, int64_t width,
                       synthesis::DeviceFamily family, bool bypassed = false);

// How much of a table of constants remains: rows are told apart by six inputs per look-up table, and many
// columns are equal.
double table_logic(int64_t tasks, double bits);

// DSP blocks of a signed product of a x b bits: the partial products of tw_stream_multiply.sv.
int64_t product_blocks(int64_t a, int64_t b, synthesis::DeviceFamily family);

// Products of an array, by what they are made of, and the trees that add them; bits unless they are numbers.
struct Products {
  double counted = 0;                            // signs times signs, number
  double chosen = 0;                             // signs times numbers, of logic
  double gated = 0, logic_out = 0;               // of logic: rows of additions; results
  double single = 0, wide = 0, paired = 0;       // of one block, of several, two of one: results
  double packed = 0;                             // two or more of one, corrected by activations: results
  double activations = 0, weights = 0;           // operands in registers of their own
  double adders = 0, registers = 0;              // of the trees
  double first_adders = 0, first_registers = 0;  // after single blocks
  int64_t blocks = 0;
  bool accumulates = false;  // the blocks of the 7 series hold the sums of a single product each
};

// `terms` products for each of `outputs` sums, whose activations all outputs share or not.
Products products(const ComponentSizes& p, int64_t terms, int64_t outputs, bool shared);

}  // namespace area
}  // namespace tilewright::pipeline
