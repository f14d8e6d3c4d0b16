// What the runs of a program for one token find in the scratchpads, and what they load ahead. Each layer of
// such a program waits for the one before, and reads numbers of its own for a single row: the memory port
// would wait with it, or carry these numbers again for every token.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/overlay/lower/lowering.h"
#include "tilewright/overlay/lower/weights_ahead.h"

namespace tilewright::overlay {

// A layer as the compiler has it: addresses and sizes in bytes of DRAM.
struct TokenLayerData {
  Tiling* tiling = nullptr;
  uint64_t weights = 0, parameters = 0;
  int64_t weight_bytes = 0, parameter_bytes = 0;
};

class KeptData {
 public:
  // Gives the tilings their places in WGT and ACC. Where it `may_keep`: parameters stay in ACC where those of
  // all layers fit it beside two layers' outputs; then so do weights of some layers in half of WGT. Weights
  // that are loaded for one step of a layer are loaded while earlier layers run.
  KeptData(std::vector<TokenLayerData> layers, const OverlayHardware& hardware, bool may_keep);

  // Whether parameters and weights stay from run to run.
  bool keeps() const { return keeps_; }
  int64_t weight_bytes() const { return weight_bytes_; }
  // What the lowering of a layer has to know.
  void describe(size_t layer, LayerAddresses& addresses) const;
  // The instructions that load what stays, `uop_bytes` of micro-ops (0: none) at `uop_address` among it.
  RuntimeOutput setup(uint64_t uop_address, uint64_t uop_bytes) const;

 private:
  std::vector<AheadLayer> ahead_layers();
  int64_t keep_weights(std::vector<AheadLayer>& layers);
  int64_t weight_elements(const TokenLayerData& layer) const {
    return layer.weight_bytes / hardware_.weight_bytes();
  }
  int64_t parameter_elements(const TokenLayerData& layer) const {
    return layer.parameter_bytes / hardware_.accumulator_bytes();
  }

  std::vector<TokenLayerData> layers_;
  const OverlayHardware& hardware_;
  bool keeps_;
  std::vector<bool> kept_;  // by layer: whether its weights stay
  int64_t weight_bytes_ = 0;
  AheadPlan plan_;
};

// A schedule with all weights of a layer for one step, where those of several layers fit WGT together;
// nullopt: they do not.
std::optional<Schedule> one_step_schedule(const OverlayLayer& layer, const OverlayHardware& hardware);

}  // namespace tilewright::overlay
