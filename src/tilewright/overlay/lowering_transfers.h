// The loads and stores of one layer.
#pragma once

#include "tilewright/overlay/lowering.h"

namespace tilewright::overlay {

class LayerTransfers {
 public:
  LayerTransfers(const Tiling& tiling, const LayerAddresses& addresses, Runtime& runtime);

  void load_inputs(const Tile& tile, Range in, int64_t slot);
  void load_weights(Range out, Range in, int64_t slot);
  void load_parameters(Range out);
  void store_outputs(const Tile& tile, int64_t slot);

 private:
  // Rows first_row, first_row + row_step, ... and columns first_col... of one plane of an image; may lie
  // outside.
  struct Region {
    int64_t first_row, rows, first_col, cols;
  };
  void load_plane(int64_t plane_element, int64_t sram, const LayerSource& source, const Region& region);
  void load_inside_rows(int64_t plane_element, int64_t sram, const LayerSource& source, const Region& region,
                        int64_t y_pad_before, int64_t y_pad_after);
  void load_padding(int64_t sram, int64_t rows, int64_t cols);

  const Tiling& tiling_;
  const LayerAddresses& addresses_;
  Runtime& runtime_;
  int64_t max_pad_;
  bool pads_in_place_;  // the LOAD instruction can write the layer's pad value
};

}  // namespace tilewright::overlay
