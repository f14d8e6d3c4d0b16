// Where a layer's data lies in memory when it runs alone: one buffer after the other.
#pragma once

#include <cstdint>

#include "tilewright/overlay/lower/lowering.h"

namespace tilewright::overlay {

class LayerLayout {
 public:
  // Sources, result, weights and parameters have the same addresses for all tilings of a layer.
  LayerLayout(const Tiling& tiling, const OverlayHardware& hardware);

  const LayerAddresses& addresses() const { return addresses_; }
  // Allocates `bytes` after everything so far; returns their address.
  uint64_t take(uint64_t bytes);
  uint64_t end() const { return end_; }

 private:
  int64_t take_elements(int64_t bytes, int64_t element_bytes);

  const uint64_t alignment_;
  uint64_t end_ = 4096;
  LayerAddresses addresses_;
};

}  // namespace tilewright::overlay
