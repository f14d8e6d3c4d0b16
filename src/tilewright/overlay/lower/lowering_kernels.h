// The micro-kernels of one layer, recorded on first use.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "tilewright/overlay/lower/affine_kernel.h"
#include "tilewright/overlay/lower/lowering.h"

namespace tilewright::overlay {

class LayerKernels {
 public:
  LayerKernels(const Tiling& tiling, Runtime& runtime);

  // Kernels that are pushed one after the other.
  using Sequence = std::vector<KernelHandle>;

  // Records every kernel of the steps and brings their micro-ops into the cache together, where they fit it.
  void prefetch(const StepPlan& plan);
  // The kernels of the plan, in its order: those that Tiling::starts_early issues before the data of a tile's
  // first step; of a step, first touch (unless it was started) and multiply-accumulate, or maximum, into its
  // output slot; of each part (parts_to_finish) of the tile that the last step finished, the output passes.
  const Sequence& next();

 private:
  // The first part of a key.
  enum KernelKind : int64_t {
    kResetKey,
    kTapKey,
    kWholeTileKey,
    kPassKey,
    kCopyKey,
    kMaximumKey,
    kUnusedKey,
    kFactorKey,
    kFactorNumberKey,
    kMultiplyKey,
    kOffsetKey,
    kRowKey
  };
  // Output blocks (relative to the tile) whose input blocks and weights advance evenly.
  struct Run {
    int64_t out = 0, count = 1;                  // output blocks
    int64_t subs = 1;                            // sub-blocks of each
    int64_t in = 0, in_count = 1, in_delta = 0;  // input blocks of the first; advance per output block
    int64_t weight = 0, weight_delta = 0;        // weight elements, per weight index
    bool first_touch = false;
  };
  std::vector<Run> runs_of(const Tile& tile, const Step& step) const;
  // The output blocks of a tile with all their sub-blocks, and the last one if it has fewer.
  std::vector<Run> parts_of(const Tile& tile) const;

  void matrix(const Tile& tile, const Step& step, int64_t slot);
  // What ComputedWeights::input_offset adds to each output, to the biases of the tile in `slot`.
  void add_offsets(const Tile& tile, const Step& step, int64_t slot);
  void row_pass(const Tile& tile, int64_t slot, const OutputPass& pass);
  void maximum(const Tile& tile, const Step& step, int64_t slot);
  void product(const Tile& tile, const Step& step, int64_t slot);
  // A product's other factor, to where the slot has room for it.
  void copy_factor(const Tile& tile, const Step& step, int64_t slot, const Run& part);
  void multiply_by_factor(const Tile& tile, int64_t slot, const Run& part);
  void tap_grid(const Tile& tile, const Step& step, int64_t slot, const Phase& phase, const TapGrid& grid,
                const std::vector<Run>& runs, bool overwrite);
  void maximum_tap(const Tile& tile, int64_t slot, int64_t dy, int64_t dx);
  // All accumulators of a tile: reset, or an ALU operation with an immediate.
  void whole_tile(const Tile& tile, int64_t slot, MicroKernel kernel);
  void reset_slot(int64_t slot, int64_t elements);
  // Accumulators that are stored but belong to no channel.
  void clear_unused(const Tile& tile, int64_t index, int64_t slot);
  // Makes the accumulators of a tile zero, or what the sums start from.
  void start_tile(const Tile& tile, int64_t index, int64_t slot);
  void output_pass(const Tile& tile, const Tile& part, int64_t slot, const OutputPass& pass);
  void output_pass(const Tile& tile, const Tile& part, int64_t slot, const OutputPass& pass, const Run& run);
  BoxAxis output_batch_axis(const Tile& tile) const;

  // Appends the kernel, or the vector of kernels, that `make` builds to the sequence, built once per key.
  template <typename Make>
  void push(std::vector<int64_t> key, Make&& make);

  // All that a sequence depends on.
  using SequenceKey = std::array<uint64_t, 7>;
  struct SequenceHash {
    size_t operator()(const SequenceKey& key) const;
  };
  // The sequence that `build` appends, built once per key.
  template <typename Build>
  const Sequence& sequence(const SequenceKey& key, Build&& build);
  const Sequence& accumulation(const Tile& tile, const Step& step, int64_t slot);
  const Sequence& starting(const Tile& tile, const Step& step, int64_t slot);
  const Sequence& finishing(const Tile& tile, const Tile& part, int64_t slot);

  const Tiling& tiling_;
  Runtime& runtime_;
  bool overwrite_;  // first micro-ops overwrite instead of a reset pass
  int passes_ = 1;
  std::map<std::vector<int64_t>, std::vector<KernelHandle>> recorded_;
  std::unordered_map<SequenceKey, Sequence, SequenceHash> sequences_;
  Sequence* building_ = nullptr;
  std::vector<const Sequence*> planned_;  // of all starts, steps and parts, in the order of the plan
  size_t next_ = 0;                       // of planned_
};

template <typename Make>
void LayerKernels::push(std::vector<int64_t> key, Make&& make) {
  auto [entry, fresh] = recorded_.try_emplace(std::move(key));
  if (fresh) {
    if constexpr (std::is_same_v<decltype(make()), MicroKernel>) {
      entry->second.push_back(runtime_.record(make()));
    } else {
      for (const MicroKernel& kernel : make()) entry->second.push_back(runtime_.record(kernel));
    }
  }
  building_->insert(building_->end(), entry->second.begin(), entry->second.end());
}

}  // namespace tilewright::overlay
