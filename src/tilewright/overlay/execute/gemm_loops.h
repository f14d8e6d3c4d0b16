// The order in which a GEMM instruction runs on vector kernels. Included by each kernel file inside the
// region that selects its instruction set; everything has internal linkage.
//
// One loop of the nest is the pixel loop: it moves the destination and leaves the weights alone, so a block
// of pixels shares each weight register and keeps its accumulators in registers over the whole reduction:
//
//   for each 16 outputs, group (dst), other loop, batch row: for each block of pixels:
//     registers = ACC[pixels]; for each step of the group: registers += WGT[step] x INP[pixels, step]; store
//
// Where no loop qualifies (weights move with both, or a loop reduces into one dst) blocks have one pixel.
#pragma once

#include <cstdint>
#include <utility>

#include "tilewright/overlay/execute/kernel_set.h"

namespace tilewright::overlay {
namespace {

struct PixelLoop {
  uint32_t extent = 1, dst = 0, src = 0, wgt = 0;  // factors
};

// What a block of pixels needs. `input` points at batch row and pixel 0, `weight` at the 16 outputs
// concerned, `accumulator` at pixel 0; step offsets are added to input and weight.
struct Block {
  const GemmStep* steps;
  uint32_t count;
  const std::byte* input;
  size_t input_element, pixel_input;  // bytes per element, bytes from pixel to pixel
  const std::byte* weight;
  size_t weight_element, weight_slice;  // bytes per element, bytes from one group of inputs to the next
  int slices;                           // groups of inputs in one element
  int32_t* accumulator;
  size_t pixel_accumulator;  // lanes from pixel to pixel
  bool overwrite;
};

inline bool is_pixel_loop(const PixelLoop& loop) { return loop.wgt == 0 && loop.dst != 0; }

template <class Kernel, int kPixels>
inline void run_pixels(Block block, uint32_t pixels, typename Kernel::Start start) {
  for (; pixels >= uint32_t(kPixels); pixels -= kPixels) {
    Kernel::template run<kPixels>(block, start);
    block.input += kPixels * block.pixel_input;
    block.accumulator += kPixels * block.pixel_accumulator;
  }
  if constexpr (kPixels > 1) {
    if (pixels > 0) run_pixels<Kernel, kPixels / 2>(block, pixels, start);
  }
}

// Even shares of at most Kernel::kMaxPixels: 28 pixels run as 14 + 14, not as 16 + 8 + 4.
template <class Kernel>
inline void run_all_pixels(const Block& block, uint32_t pixels, typename Kernel::Start start) {
  const uint32_t blocks = (pixels + Kernel::kMaxPixels - 1) / Kernel::kMaxPixels;
  switch ((pixels + blocks - 1) / blocks) {
    case 14:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 14 ? 14 : 1 > (block, pixels, start);
    case 13:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 13 ? 13 : 1 > (block, pixels, start);
    case 12:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 12 ? 12 : 1 > (block, pixels, start);
    case 11:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 11 ? 11 : 1 > (block, pixels, start);
    case 10:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 10 ? 10 : 1 > (block, pixels, start);
    case 9:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 9 ? 9 : 1 > (block, pixels, start);
    case 8:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 8 ? 8 : 1 > (block, pixels, start);
    case 7:
      return run_pixels < Kernel, Kernel::kMaxPixels >= 7 ? 7 : 1 > (block, pixels, start);
    case 6:
      return run_pixels<Kernel, 6>(block, pixels, start);
    case 5:
      return run_pixels<Kernel, 5>(block, pixels, start);
    case 4:
      return run_pixels<Kernel, 4>(block, pixels, start);
    case 3:
      return run_pixels<Kernel, 3>(block, pixels, start);
    case 2:
      return run_pixels<Kernel, 2>(block, pixels, start);
    default:
      return run_pixels<Kernel, 1>(block, pixels, start);
  }
}

template <class Kernel>
void run_gemm(Scratchpads& pads, const UopPlan& plan, const LoopNest& loop) {
  PixelLoop outer{loop.iter_out, loop.dst_factor_out, loop.src_factor_out, loop.wgt_factor_out};
  PixelLoop inner{loop.iter_in, loop.dst_factor_in, loop.src_factor_in, loop.wgt_factor_in};
  if (is_pixel_loop(outer) && (!is_pixel_loop(inner) || outer.extent > inner.extent)) std::swap(outer, inner);
  const bool blocked = is_pixel_loop(inner) || inner.extent == 1;

  Block block{};
  block.input_element = pads.input_element;
  block.weight_element = pads.weight_element;
  block.weight_slice = size_t(pads.accumulator_row) * Kernel::kSliceBytesPerOutput;
  block.slices = pads.input_row / Kernel::kInputsPerSlice;
  block.pixel_input = inner.src * pads.input_element;
  block.pixel_accumulator = inner.dst * pads.accumulator_lanes;
  const size_t input_row_bytes = pads.input_element / size_t(pads.batch);
  for (int o = 0; o < pads.accumulator_row; o += 16) {
    for (const GemmGroup& group : plan.groups) {
      block.steps = plan.steps.data() + group.first;
      block.count = group.count;
      block.overwrite = group.overwrite;
      typename Kernel::Start start{};
      for (uint32_t y = 0; y < outer.extent; ++y) {
        const size_t wgt_y = size_t{y} * outer.wgt;
        for (uint32_t x = 0; x < (blocked ? 1 : inner.extent); ++x) {
          const size_t wgt = wgt_y + size_t{x} * inner.wgt;
          if ((y == 0 && x == 0) || outer.wgt != 0 || inner.wgt != 0) {
            start = Kernel::start(pads, block, wgt, o);
          }
          block.weight =
              pads.weight.data() + wgt * pads.weight_element + size_t(o) * Kernel::kSliceBytesPerOutput;
          const size_t src = size_t{y} * outer.src + size_t{x} * inner.src;
          const size_t dst = group.dst + size_t{y} * outer.dst + size_t{x} * inner.dst;
          for (int row = 0; row < pads.batch; ++row) {
            block.input = pads.input.data() + src * pads.input_element + size_t(row) * input_row_bytes;
            block.accumulator = pads.accumulator.data() + dst * pads.accumulator_lanes +
                                size_t(row) * pads.accumulator_row + size_t(o);
            run_all_pixels<Kernel>(block, blocked ? inner.extent : 1, start);
          }
        }
      }
    }
  }
}

template <class Kernel>
void run_gemm_one(Scratchpads& pads, uint32_t dst, uint32_t src, uint32_t wgt, bool overwrite) {
  const GemmStep step{src, 0};
  Block block{};
  block.steps = &step;
  block.count = 1;
  block.input_element = pads.input_element;
  block.weight_element = pads.weight_element;
  block.weight_slice = size_t(pads.accumulator_row) * Kernel::kSliceBytesPerOutput;
  block.slices = pads.input_row / Kernel::kInputsPerSlice;
  block.overwrite = overwrite;
  const size_t input_row_bytes = pads.input_element / size_t(pads.batch);
  for (int o = 0; o < pads.accumulator_row; o += 16) {
    const typename Kernel::Start start = Kernel::start(pads, block, wgt, o);
    block.weight = pads.weight.data() + wgt * pads.weight_element + size_t(o) * Kernel::kSliceBytesPerOutput;
    for (int row = 0; row < pads.batch; ++row) {
      block.input = pads.input.data() + size_t(row) * input_row_bytes;
      block.accumulator = pads.accumulator.data() + dst * pads.accumulator_lanes +
                          size_t(row) * pads.accumulator_row + size_t(o);
      Kernel::template run<1>(block, start);
    }
  }
}

inline void run_gemm_reset(Scratchpads& pads, const UopPlan& plan, const LoopNest& loop) {
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      const size_t offset = size_t{y} * loop.dst_factor_out + size_t{x} * loop.dst_factor_in;
      for (const GemmGroup& group : plan.groups) {
        int32_t* target = pads.accumulator.data() + (group.dst + offset) * pads.accumulator_lanes;
        std::memset(target, 0, pads.accumulator_lanes * 4);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::overlay
