// The end of a layer on the overlay: which parameter vectors it needs in ACC and which ALU passes turn
// accumulators into outputs, for the plain and the wide instruction set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/overlay/isa/isa.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// One ALU instruction over all outputs of a tile. A tensor operand is parameter vector `parameter` of the
// output channel block.
struct OutputPass {
  AluOpcode opcode = AluOpcode::kAdd;
  bool use_imm = true;
  int32_t imm = 0;
  int parameter = 0;
  bool of_rows = false;  // a tensor operand is the parameters of the row (Tiling::row_base), not of the block
  // Of a sum, whose second source lies behind the outputs: the pass is over that, or adds it.
  bool of_second = false, adds_second = false;
  int32_t clip_low = 0, clip_high = 0;
};

struct OutputPasses {
  // parameters[p][o]: vector p, output channel o.
  std::vector<std::vector<int32_t>> parameters;
  std::vector<int32_t> unused;  // by vector: the value of lanes without a channel
  // Before a tile's sums, instead of the reset: sets every accumulator to its parameter, whatever finished
  // tile (or zero) it held. Empty: sums start from a reset, and the first of the passes adds the bias.
  std::optional<OutputPass> start;
  std::vector<OutputPass> passes;
};

// Plain: bias with rounding constant and zero point (as the start where that is possible), shifts, minimum,
// maximum. Wide: one requantising pass over bias, multiplier and shift; before it
// the passes over rows, if the layer has any. why_no_plain_output(layer) must be
// empty for plain hardware.
OutputPasses make_output_passes(const OverlayLayer& layer, IsaVersion isa);

// Why the plain instruction set cannot compute the output exactly; empty when it can.
std::string why_no_plain_output(const OverlayLayer& layer);

}  // namespace tilewright::overlay
