// The loads and stores of one layer.
#pragma once

#include "tilewright/overlay/lower/lowering.h"

namespace tilewright::overlay {

class LayerTransfers {
 public:
  LayerTransfers(const Tiling& tiling, const LayerAddresses& addresses, Runtime& runtime);

  // What comes before its layer waits.
  void load_ahead();
  // Of a step.
  void load_inputs(const Tile& tile, const Step& step);
  void load_weights(Range out, const Step& step);
  // To where the tile in `slot` finds them.
  void load_parameters(Range out, int64_t slot);
  // Of the layer, if it has one.
  void load_table();
  // ComputedWeights::input_offset in all lanes of elements behind the inputs.
  void load_constants();
  // `part` of the tile in `slot`.
  void store_outputs(const Tile& tile, const Tile& part, int64_t slot);

 private:
  // In as many instructions as it takes.
  void load(MemoryType type, int64_t sram, const Transfer2D& transfer);
  void store(int64_t sram, Transfer2D transfer);
  void load_factor(const Tile& tile, const Step& step, size_t s, int64_t plane_count);
  void load_weight_parts(Range out, const Step& step);
  void load_computed(Range out, const Step& step);
  // Of source `s`.
  void load_plane(int64_t plane_element, int64_t sram, size_t s, const InputSplit& split);
  void load_inside_rows(int64_t element, int64_t sram, size_t s, const InputSplit& split);
  void load_padding(int64_t sram, size_t s, int64_t rows, int64_t cols);

  const Tiling& tiling_;
  const LayerAddresses& addresses_;
  Runtime& runtime_;
};

}  // namespace tilewright::overlay
