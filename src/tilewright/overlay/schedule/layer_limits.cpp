// What keeps a layer from running exactly on an overlay: widths and blocks first, then what the encoding and
// the plain output stage cannot do.
#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/schedule/layer.h"
#include "tilewright/overlay/schedule/output_passes.h"

namespace tilewright::overlay {
namespace {

bool reads_outside(const OverlayLayer& layer) {
  for (const Phase& phase : layer.phases) {
    const int64_t rows = ceil_div(layer.out_height - phase.out_y, layer.out_step_y);
    const int64_t cols = ceil_div(layer.out_width - phase.out_x, layer.out_step_x);
    for (const TapGrid& grid : phase.grids) {
      const LayerSource& source = layer.sources[size_t(grid.source)];
      const int64_t bottom = (rows - 1) * layer.in_step_y + grid.dy + int64_t(grid.ny - 1) * grid.dy_step;
      const int64_t right = (cols - 1) * layer.in_step_x + grid.dx + int64_t(grid.nx - 1) * grid.dx_step;
      if (grid.dy < 0 || grid.dx < 0 || bottom >= source.height || right >= source.width) return true;
    }
  }
  return false;
}

// Whether `value` is one that the lanes of a source can hold.
bool representable(int64_t value, const LayerSource& source, int bits) {
  if (bits == 1) return source.bipolar ? value == -1 || value == 1 : value == 0 || value == 1;
  return value >= lowest_weight(bits) && value <= highest_weight(bits);
}

// Whether some output of a pool sees nothing but padding.
bool has_empty_window(const OverlayLayer& layer) {
  const TapGrid& grid = layer.phases[0].grids[0];
  const LayerSource& source = layer.sources[0];
  const auto empty = [](int64_t outputs, int64_t step, int64_t first, int taps, int64_t distance,
                        int64_t size) {
    for (int64_t o = 0; o < outputs; ++o) {
      bool inside = false;
      for (int k = 0; k < taps; ++k) {
        const int64_t at = o * step + first + k * distance;
        inside = inside || (at >= 0 && at < size);
      }
      if (!inside) return true;
    }
    return false;
  };
  return empty(layer.out_height, layer.in_step_y, grid.dy, grid.ny, grid.dy_step, source.height) ||
         empty(layer.out_width, layer.in_step_x, grid.dx, grid.nx, grid.dx_step, source.width);
}

std::string why_not_blocks(const OverlayHardware& hardware) {
  if (hardware.block_in % hardware.block_out != 0) {
    return "the overlay's block_in is not a multiple of its block_out; outputs could not be stored as inputs";
  }
  if (hardware.block_in != hardware.block_out && hardware.batch > 1) {
    return "the overlay's block_in and block_out differ and its batch is not 1; outputs could not be stored "
           "as "
           "inputs";
  }
  if (hardware.input_bits != hardware.output_bits) {
    return "the overlay's input_bits and output_bits differ; activations could not be passed between layers";
  }
  if (hardware.accumulator_bits != 32) return "only overlays with 32-bit accumulators are compiled for";
  return {};
}

// 1-bit weights are -1 and +1: nothing that needs a zero among them runs.
std::string why_not_one_bit_weights(const OverlayLayer& layer, const OverlayHardware& hardware) {
  const bool aligned = layer.pattern == ChannelPattern::kGrouped &&
                       layer.group_inputs % hardware.block_in == 0 &&
                       layer.group_outputs % hardware.block_in == 0;
  if (layer.pattern != ChannelPattern::kDense && !aligned) {
    return "1-bit weights have no zero, which all layers but dense ones and groups of whole blocks need";
  }
  const std::vector<int64_t> values = layer.weights.to_integers();
  if (!std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 1 || v == -1; })) {
    return "1-bit weights must be -1 and +1";
  }
  const int64_t channels = layer.sources[0].channels;
  if (hardware.input_bits != 1 && channels % hardware.block_in != 0) {
    return "1-bit weights have no zero for the lanes beyond the last channel, and only 1-bit inputs can do "
           "without";
  }
  // The lanes beyond an odd number of channels do not cancel: they must then hold zero bits everywhere.
  if (channels % 2 != 0 && reads_outside(layer) && layer.pad_value == 1) {
    return "an odd number of 1-bit channels can only be padded with the zero bit";
  }
  if (channels % 2 != 0 && layer.sources[0].bipolar && layer.phases.size() > 1) {
    return "transposed convolutions of an odd number of bipolar channels do not run on the overlay";
  }
  return {};
}

std::string why_not_widths(const OverlayLayer& layer, const OverlayHardware& hardware) {
  const bool outside = layer.kind == OverlayLayerKind::kMatrix && reads_outside(layer);
  for (const LayerSource& source : layer.sources) {
    if (source.planes == 1 && outside && !representable(layer.pad_value, source, hardware.input_bits)) {
      return "the padding, " + std::to_string(layer.pad_value) + ", is not a value of " +
             std::to_string(hardware.input_bits) + "-bit" + (source.bipolar ? " bipolar" : "") + " inputs";
    }
  }
  if (layer.kind == OverlayLayerKind::kMaximum) {
    if (layer.sources[0].bipolar) return "maximum pools of bipolar values do not run on the overlay";
    if (hardware.input_bits < 8 && has_empty_window(layer)) {
      return "a maximum over nothing but padding, -128, is not a value of " +
             std::to_string(hardware.input_bits) + " bits";
    }
  } else {
    const LayerSource like{.bipolar = false};
    if (layer.out_plane == 0 && (!representable(layer.output.clip_low, like, hardware.output_bits) ||
                                 !representable(layer.output.clip_high, like, hardware.output_bits))) {
      return "its outputs, " + std::to_string(layer.output.clip_low) + " to " +
             std::to_string(layer.output.clip_high) + ", need more than " +
             std::to_string(hardware.output_bits) + " bits";
    }
    if (layer.output.bipolar && hardware.output_bits != 1) {
      return "bipolar outputs need an overlay of 1-bit activations";
    }
  }
  return hardware.weight_bits == 1 ? why_not_one_bit_weights(layer, hardware) : std::string();
}

std::string why_not_planes(const OverlayLayer& layer, const OverlayHardware& hardware) {
  if (layer.out_plane == 0 && layer.sources[0].planes == 1) return {};
  if (hardware.isa == IsaVersion::kVta) return "activations of 16 bits need the wide instruction set";
  return hardware.input_bits == 8 && hardware.weight_bits == 8
             ? ""
             : "activations of 16 bits need an overlay of 8 bits";
}

}  // namespace

std::string why_not(const OverlayLayer& layer, const OverlayHardware& hardware) {
  std::string reason = why_not_blocks(hardware);
  if (reason.empty()) reason = why_not_planes(layer, hardware);
  if (reason.empty()) reason = why_not_widths(layer, hardware);
  if (!reason.empty()) return reason;
  // Row strides of LOAD and STORE have 16 bits in the plain encoding; single rows need none.
  const int64_t ratio = hardware.block_in / hardware.block_out;
  int64_t stride = layer.out_height > 1 || ratio > 1 ? layer.row_distance() * ratio : 0;
  for (const LayerSource& source : layer.sources) {
    if (source.height > 1) stride = std::max(stride, source.width * layer.in_step_y);
  }
  if (hardware.isa == IsaVersion::kVta && stride > 65535) {
    return "images whose rows, times the vertical stride, exceed 65535 positions do not fit the plain "
           "instructions";
  }
  if (layer.kind == OverlayLayerKind::kMaximum) return {};
  if (layer.kind == OverlayLayerKind::kProduct) {
    if (hardware.isa == IsaVersion::kVta) return "products of two activations need the wide instruction set";
    return hardware.input_bits == 8 ? "" : "products of two activations need an overlay of 8 bits";
  }
  if (hardware.isa == IsaVersion::kVta) {
    reason = why_no_plain_output(layer);
    if (!reason.empty()) return reason;
    if (layer.pad_value != 0 && layer.sources.size() > 1 && reads_outside(layer)) {
      return "the plain instruction set pads with zero only";
    }
  }
  return {};
}

}  // namespace tilewright::overlay
