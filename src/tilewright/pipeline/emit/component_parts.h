// Wide components by narrow ones. Thousands of equal columns, lanes or words take Yosys hours; the counts of
// two narrow components of the same kind give those of the wide one in a line (measured:
// docs/design/pipeline/pipeline_models.md).
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

// What is synthesised for a component, and the weight of its counts in the component's.
struct ComponentPart {
  netlist::Instance instance;
  double weight = 1;
};

// Widths from which on a component is counted by parts.
struct PartLimits {
  int64_t rom_bits = 512;       // of a memory of constants
  int64_t sum_bits = 512;       // that a finish works on at a time
  int64_t held_beats = 40;      // of the sums that wait in a finish
  int64_t window_bits = 6000;   // of a sliding window
  int64_t product_bits = 3000;  // of an array: products times bits of a sum
  int64_t ring_bits = 2048;     // of a word of a ring of weights
};

// A multiple of the widths of the families' block RAM, so that a wide memory is cut as its columns are.
constexpr int64_t kRomColumns = 72;

// The component itself, or
// - of a rom_walker with contents in `images` (to which those of its parts are added): columns that are the
//   same in every word are left out, as synthesis does; of memories made of logic, where equal columns become
//   one, all but the first of these, too. Of what is left kRomColumns and twice as many.
// - of a finish: 4 and 8 of its lanes (of lanes with wide tables of logic 1 and 2), with as many beats per
//   sums; or 16 and 32 of the beats.
// - of a sliding_window: 4 and 8 of the elements of a word.
// - of an array 2 and 4 of the columns or lanes (wide fixed point: 1 and 2), of a weight_ring 2 and 4 banks.
std::vector<ComponentPart> component_parts(const netlist::Instance& component, const PartLimits& limits,
                                           MemoryImages& images);

}  // namespace tilewright::pipeline
