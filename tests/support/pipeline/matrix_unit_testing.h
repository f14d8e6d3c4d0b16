// Vectors through a matrix unit, one per cycle: in any model of its netlist, and in Icarus, which also takes
// what synthesis made of it.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "support/pipeline/constant_matrix_testing.h"
#include "tilewright/netlist/operation.h"
#include "tilewright/pipeline/constant/matrix_unit.h"

namespace tilewright::pipeline {

inline netlist::Netlist unit_design(const MatrixUnit& unit) { return {unit.module.name, {unit.module}}; }

// A unit, or a network of several, in cells of AMD's UltraScale+.
struct SynthesisedUnit {
  int64_t lut = 0;  // inverters included, which count nothing elsewhere: here they stand before carry chains
  int64_t ff = 0, dsp = 0;
  std::filesystem::path netlist;  // Verilog of cells; empty: not asked for
};

// With `netlist` the cells are written. Errors: as run_yosys.
SynthesisedUnit synthesise_design(const netlist::Netlist& design, const std::filesystem::path& folder,
                                  bool netlist);
inline SynthesisedUnit synthesise_unit(const MatrixUnit& unit, const std::filesystem::path& folder,
                                       bool netlist) {
  return synthesise_design(unit_design(unit), folder, netlist);
}

// Results that differ from the product, of vectors that probe every row and then are random, in Icarus; every
// third cycle has enable = 0 and a vector that must be ignored. `netlist`: Verilog of cells; empty: the
// unit's own. Errors: as run_tool_checked.
int64_t icarus_mismatches(const MatrixUnit& unit, const MatrixCase& one, int64_t vectors,
                          const std::filesystem::path& netlist, const std::filesystem::path& folder,
                          Random& random);

// The same in a model with the interface of RtlModel. With `pauses` some cycles have enable = 0.
template <typename Model>
int64_t unit_mismatches(Model& model, const MatrixCase& one, int latency, int64_t vectors, bool pauses,
                        Random& random) {
  std::vector<int> inputs, outputs;
  for (int i = 0; i < one.matrix.columns; ++i) inputs.push_back(model.port("in" + std::to_string(i)));
  for (int i = 0; i < one.matrix.rows; ++i) outputs.push_back(model.port("out" + std::to_string(i)));
  std::vector<int> output_bits, input_bits;
  for (int i = 0; i < one.matrix.rows; ++i) {
    output_bits.push_back(range_bits(row_range(one.matrix, i, one.ranges)));
  }
  for (const NumberRange& range : one.ranges) input_bits.push_back(range_bits(range));
  const int enable = latency > 0 ? model.port("enable") : -1;
  std::deque<std::vector<int64_t>> due;
  int64_t mismatches = 0;
  model.reset();
  for (int64_t sent = 0; sent < vectors + latency;) {
    const bool step = !pauses || random.chance(0.7);
    const std::vector<int64_t> vector = probing_vector(one, sent, random);
    for (size_t i = 0; i < inputs.size(); ++i) {
      model.set(inputs[i], netlist::low_bits(uint64_t(vector[i]), input_bits[i]));
    }
    if (enable >= 0) model.set(enable, step ? 1 : 0);
    if (step) due.push_back(multiply(one.matrix, vector));
    model.settle();
    if (latency > 0) model.edge();
    model.settle();
    if (!step) continue;
    ++sent;
    if (int64_t(due.size()) < std::max(1, latency)) continue;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (model.get(outputs[i]) != netlist::low_bits(uint64_t(due.front()[i]), output_bits[i])) ++mismatches;
    }
    due.pop_front();
  }
  return mismatches;
}

}  // namespace tilewright::pipeline
