// A trial with data: a schedule compiled to instruction bytes and run on the cycle simulator, which gives its
// cycles and its outputs. It measures the same cycles as ScheduleTimer does without data; it exists for
// comparison with that and with the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/overlay/lower/layer_layout.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {

class DataTrial {
 public:
  // One tensor of integers per source of `layer`, which must outlive it. Errors (invalid input): as
  // CycleSimulator.
  DataTrial(const OverlayLayer& layer, const OverlayHardware& hardware, const MemoryModel& memory,
            std::vector<Tensor> inputs);

  // Cycles of a tiling of the layer as it is (not folded) that fits. Errors: those of lower_layer and of
  // CycleSimulator.
  uint64_t run(const Tiling& tiling);
  // The output of the last run: i8, [batch, channels, height, width].
  Tensor output() const;

 private:
  void pack(const Tiling& tiling, const LayerLayout& layout);
  std::span<std::byte> part(uint64_t address, int64_t bytes);
  SourceView result_view() const;

  const OverlayLayer& layer_;
  OverlayHardware hardware_;
  std::vector<Tensor> inputs_;
  CycleSimulator simulator_;
  std::vector<std::byte> memory_;
  bool packed_ = false;  // everything that all tilings share is in memory_
  uint64_t result_ = 0;  // address
};

}  // namespace tilewright::overlay
