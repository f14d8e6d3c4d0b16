// The micro-kernels of layers on tokens that others do not have: the offset of a product's first operand, and
// operations on whole rows.
#include "tilewright/overlay/lower/lowering_kernels.h"

namespace tilewright::overlay {

// The sums of every output's weights times the offset: products with elements that hold it in all lanes.
void LayerKernels::add_offsets(const Tile& tile, const Step& step, int64_t slot) {
  push({kOffsetKey, slot, step.weight_slot, tile.out.begin, tile.out.size(), step.in.size(), step.first},
       [&] {
         const auto u32 = [](int64_t v) { return uint32_t(v); };
         const int64_t first = tiling_.all_parameters ? tile.out.begin : 0;
         const OverlayLayer::Visible visible = tiling_.layer->visible;
         AffineBox box;
         box.axes = {{u32(tiling_.constants), 0, 1, 0},
                     {u32(step.in.size()), 0, 0, 1, visible == OverlayLayer::Visible::kInputs},
                     {u32(tile.out.size()), u32(tiling_.parameter_vectors), 0, u32(step.in.size()),
                      visible == OverlayLayer::Visible::kOutputs}};
         box.dst = u32(tiling_.parameter_base(slot) + first * tiling_.parameter_vectors);
         box.src = u32(tiling_.constant_base());
         box.wgt = u32(tiling_.weight_at(step.weight_slot));
         MicroKernel kernel;
         kernel.beside_alu = tiling_.banks == 2;
         return cover_box(runtime_.hardware(), box, kernel, step.first);
       });
}

// All blocks of an image are a row; three elements for each.
void LayerKernels::row_pass(const Tile& tile, int64_t slot, const OutputPass& pass) {
  push({kRowKey, slot, int64_t(pass.opcode), tile.batch.size(), tile.out.size()}, [&] {
    const BoxAxis batch = output_batch_axis(tile);
    MicroKernel kernel;
    kernel.is_alu = true;
    kernel.opcode = pass.opcode;
    kernel.imm = pass.imm;
    kernel.clip_low = pass.clip_low;
    kernel.clip_high = pass.clip_high;
    kernel.outer = {.extent = batch.extent, .dst = kParameterElements, .src = batch.src};
    kernel.inner = {.extent = uint32_t(tile.out.size()), .src = uint32_t(tiling_.output_plane)};
    kernel.uops = {
        {.dst = uint32_t(tiling_.row_base(slot)), .src = uint32_t(tiling_.slot_base(slot)), .wgt = 0}};
    if (tiling_.layer->visible == OverlayLayer::Visible::kOutputs) {
      kernel.visible = MicroKernel::Visible::kInner;
      kernel.visible_blocks = kernel.inner.extent;
      kernel.visible_lanes = true;
    }
    return kernel;
  });
}

}  // namespace tilewright::overlay
