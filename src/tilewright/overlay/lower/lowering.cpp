// The order of a step: tokens and loads, first-touch (reset, unless micro-ops overwrite), micro-kernels, the
// token that frees the buffers; after the last step of a tile the output passes, a token and the stores. With
// an early start the first-touch comes before the token for the data. Where the sums of the next tile can run
// beside them, several passes are issued between these sums.
#include "tilewright/overlay/lower/lowering.h"

#include <span>
#include <utility>

#include "tilewright/overlay/lower/lowering_kernels.h"
#include "tilewright/overlay/lower/lowering_transfers.h"

namespace tilewright::overlay {
namespace {

class LayerLowering {
 public:
  LayerLowering(const Tiling& tiling, const LayerAddresses& addresses, Runtime& runtime)
      : tiling_(tiling),
        addresses_(addresses),
        runtime_(runtime),
        transfers_(tiling, addresses, runtime),
        kernels_(tiling, runtime),
        plan_(plan_steps(tiling)) {}

  void run() {
    const bool first = runtime_.instruction_count() == 0;
    kernels_.prefetch(plan_);  // while the layer before is still being stored
    transfers_.load_table();
    transfers_.load_ahead();
    if (!first) wait_for_previous_layer();
    transfers_.load_constants();
    load_all_parameters();
    for (const Step& step : plan_.steps) emit(step);
  }

 private:
  void load_all_parameters() {
    if (addresses_.has_parameters) return;
    for (int64_t bank = 0; tiling_.all_parameters && bank < tiling_.banks; ++bank) {
      transfers_.load_parameters({0, tiling_.blocks.out}, bank);
    }
  }

  void wait_for_previous_layer() {
    runtime_.dep_push(Stage::kStore, Stage::kCompute);
    runtime_.dep_pop(Stage::kStore, Stage::kCompute);
    runtime_.dep_push(Stage::kCompute, Stage::kLoad);
    runtime_.dep_pop(Stage::kCompute, Stage::kLoad);
  }

  void emit(const Step& step) {
    const Tile& tile = plan_.tiles[size_t(step.tile)];
    const int64_t slot = step.tile % tiling_.output_slots;
    const bool loads = step.load_input || step.load_weights, early = tiling_.starts_early();
    if (loads) {
      if (step.wait_for_step) runtime_.dep_pop(Stage::kCompute, Stage::kLoad);
      if (step.load_weights && !addresses_.has_weights) transfers_.load_weights(tile.out, step);
      if (step.load_input) transfers_.load_inputs(tile, step);
      runtime_.dep_push(Stage::kLoad, Stage::kCompute);
    }
    // The first sums of a tile wait until its slot has been stored. If there are more passes than steps, one
    // of them goes ahead and fills that time.
    if (step.first && int64_t(passes_left_.size()) > steps_of_tile(step)) pass_of_tile_before();
    pass_of_tile_before();
    if (loads && !early) runtime_.dep_pop(Stage::kLoad, Stage::kCompute);
    if (step.first) {
      if (step.tile >= tiling_.output_slots) runtime_.dep_pop(Stage::kStore, Stage::kCompute);
      Range& loaded = parameters_[tiling_.banks == 2 ? slot : 0];
      if (tiling_.parameter_vectors > 0 && !tiling_.all_parameters && !addresses_.has_parameters &&
          tile.out != loaded) {
        transfers_.load_parameters(tile.out, slot);
        loaded = tile.out;
      }
      if (early) push(kernels_.next());
    }
    if (loads && early) runtime_.dep_pop(Stage::kLoad, Stage::kCompute);
    const LayerKernels::Sequence& sums = kernels_.next();
    // A pass before every step is enough, unless the tile has only one: then a pass before every kernel.
    const bool only_step = step.first && step.last;
    for (const KernelHandle& kernel : sums) {
      if (only_step && &kernel != &sums.front()) pass_of_tile_before();
      runtime_.push(kernel);
    }
    if (step.give_token) runtime_.dep_push(Stage::kCompute, Stage::kLoad);
    if (step.last) finish(step, tile, slot);
  }

  // The number of steps of the tile that begins with `first`.
  int64_t steps_of_tile(const Step& first) const {
    const Step* step = &first;
    while (!step->last) ++step;
    return step - &first + 1;
  }

  void push(const LayerKernels::Sequence& kernels) {
    for (const KernelHandle kernel : kernels) runtime_.push(kernel);
  }

  // One of the output passes that are left of the tile before, if there are any.
  void pass_of_tile_before() {
    if (left_of_tile_ == nullptr) return;
    runtime_.push(passes_left_.front());
    passes_left_ = passes_left_.subspan(1);
    if (!passes_left_.empty()) return;
    const Step& step = *std::exchange(left_of_tile_, nullptr);
    const Tile& tile = plan_.tiles[size_t(step.tile)];
    store(tile, tile, step.tile % tiling_.output_slots);
    free_slot(step);
  }

  void finish(const Step& step, const Tile& tile, int64_t slot) {
    while (left_of_tile_ != nullptr) pass_of_tile_before();
    const bool last = &step == &plan_.steps.back();
    if (tiling_.passes_between_sums() && !last) {
      passes_left_ = kernels_.next();
      left_of_tile_ = &step;
      return;
    }
    for (const Tile& part : parts_to_finish(tiling_, tile, last)) {
      push(kernels_.next());
      store(tile, part, slot);
    }
    free_slot(step);
  }

  void store(const Tile& tile, const Tile& part, int64_t slot) {
    runtime_.dep_push(Stage::kCompute, Stage::kStore);
    runtime_.dep_pop(Stage::kCompute, Stage::kStore);
    transfers_.store_outputs(tile, part, slot);
  }

  void free_slot(const Step& step) {
    if (step.tile + tiling_.output_slots < int64_t(plan_.tiles.size()))
      runtime_.dep_push(Stage::kStore, Stage::kCompute);
  }

  const Tiling& tiling_;
  const LayerAddresses& addresses_;
  Runtime& runtime_;
  LayerTransfers transfers_;
  LayerKernels kernels_;
  StepPlan plan_;
  Range parameters_[2] = {{-1, -1}, {-1, -1}};  // output blocks whose parameters are loaded, by bank
  const Step* left_of_tile_ = nullptr;          // the last step of the tile that has passes left
  std::span<const KernelHandle> passes_left_;
};

}  // namespace

void lower_layer(const Tiling& tiling, const LayerAddresses& addresses, Runtime& runtime) {
  LayerLowering(tiling, addresses, runtime).run();
}

}  // namespace tilewright::overlay
