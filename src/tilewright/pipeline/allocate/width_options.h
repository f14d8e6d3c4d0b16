// What the stages of a network would need if its numbers had other widths: the separable side of a choice of
// bits. A stage is taken alone, between neighbours as wide as it wants them.
#pragma once

#include <vector>

#include "tilewright/pipeline/allocate/allocate.h"

namespace tilewright::pipeline {

struct StageWidths {
  int weights = 8, input = 8, output = 8;
  auto operator<=>(const StageWidths&) const = default;
};

class WidthOptions {
 public:
  // network: of integers of 8 bits, whose weights and biases stand for those of fewer. most_cycles: of an
  // image, by layer.
  WidthOptions(const Network& network, const Budget& budget, std::vector<double> most_cycles);

  // What the layer's stages need that no other one undercuts in every resource; none: there is no stage so
  // fast. A width is 2 to 8; tensors and weights that have other numbers (signs, wide ones) keep theirs, and
  // the network's input and output those of memory.
  std::vector<synthesis::Resources> needs(size_t layer, const StageWidths& widths);
  // Memory ports, control and what is between them and the stages.
  synthesis::Resources frame() const { return frame_; }

 private:
  void set_widths(size_t layer, const StageWidths& widths);

  const Network original_;
  const Budget budget_;
  const std::vector<double> most_cycles_;
  Network network_;  // the layer in question at its widths, all others as they are
  std::vector<LayerFacts> facts_;
  std::vector<Allocation> blanks_;  // with its first layer unrolled and not
  synthesis::Resources frame_;
};

}  // namespace tilewright::pipeline
