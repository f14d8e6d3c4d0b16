// Integer convolutions as matrix products without an im2col buffer. The input is copied once into padded
// planes, split by stride phase, so that tap k of *every* output element lies at a constant distance from the
// plane's beginning: lane q = row * plane_width + column of the product reads plane[offset(k) + q]. The lanes
// between two output rows are computed and dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tilewright/graph/window.h"
#include "tilewright/host/integer/integer_matrix.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Batch, channels and spatial sizes of the whole operator; 1-D operators have a height of 1.
struct IntegerConvShape {
  int64_t batch = 1, input_channels = 1, output_channels = 1, group = 1;
  WindowAxis height, width;
};

// Turns `count` accumulators acc[i] + base (modulo 2^32) of output channel `channel` into output elements at
// `out`. Accumulators of lanes without an output may be among them; `out` has room. Called from several
// threads.
using FinishChannel =
    std::function<void(int64_t channel, const int32_t* acc, uint32_t base, int64_t count, void* out)>;

class IntegerConvolution {
 public:
  // Weights as in ONNX, row-major: [O, C/group, kH, kW], transposed [C, O/group, kH, kW]. Errors
  // (unsupported): more than 4 GiB of padded input per image.
  static IntegerConvolution forward(const IntegerConvShape& shape, std::span<const int16_t> weights,
                                    IntegerIsa isa = best_integer_isa());
  static IntegerConvolution transposed(const IntegerConvShape& shape, std::span<const int16_t> weights,
                                       IntegerIsa isa = best_integer_isa());

  // X: i8 or u8 of batch x input_channels x height.input x width.input elements. Accumulators are
  //   sum (X^ - zero_point) * W, X^ padded with `pad` (transposed: pass zero_point);
  // `finish` writes elements of y's type (1 or 4 bytes each) into y, which has the output's number of
  // elements.
  void run(const Tensor& x, int32_t zero_point, int32_t pad, const FinishChannel& finish, Tensor& y,
           int threads) const;

  int64_t output_channels() const { return shape_.output_channels; }
  // Of one image and one channel.
  int64_t channel_outputs() const { return shape_.height.output * shape_.width.output; }

 private:
  // One product per group that makes the outputs of one stride phase (a forward convolution has one).
  struct Pass {
    std::vector<IntegerMatrix> matrices;                           // by group
    std::vector<int64_t> offsets;                                  // by k, from the first plane of a group
    int64_t rows = 0, columns = 0;                                 // outputs
    int64_t out_first = 0, out_row_step = 0, out_column_step = 1;  // elements of an output channel
  };
  // Plane element (row, column) is input element (row * row_step_ + row_origin, ...), or padding.
  struct Phase {
    int64_t row_origin = 0, column_origin = 0;
  };
  // How planes store X: x + offset inside, pad outside; `zero` is the stored form of the zero point.
  struct Encoding {
    int32_t offset, pad, zero;
  };
  // One tap along one axis: its index in the kernel and where it reads, relative to the lane's own element.
  struct Tap {
    int64_t tap, distance;
  };

  IntegerConvolution(const IntegerConvShape& shape, std::span<const int16_t> weights, IntegerIsa isa);
  void add_transposed_pass(std::span<const int16_t> weights, int64_t phase_y, int64_t phase_x,
                           std::span<const Tap> taps_y, std::span<const Tap> taps_x);
  int64_t phase_elements() const { return plane_rows_ * plane_columns_; }
  int64_t channel_elements() const { return phase_elements() * int64_t(phases_.size()); }
  void check_plane_size() const;
  // Fills the planes of one channel.
  template <typename T, typename X>
  void fill_channel(const X* x, const Encoding& encoding, T* planes) const;
  template <typename T, typename X>
  void run_as(const Tensor& x, const Encoding& encoding, const FinishChannel& finish, Tensor& y,
              int threads) const;
  template <typename T>
  void run_pass(const Pass& pass, const T* planes, int32_t zero, const FinishChannel& finish, std::byte* out,
                int64_t element_bytes, int threads) const;

  IntegerConvShape shape_;
  IntegerIsa isa_;
  IntegerWidth width_;
  int64_t row_step_ = 1, column_step_ = 1;      // input elements from one plane element to the next
  int64_t plane_rows_ = 0, plane_columns_ = 0;  // of one phase
  std::vector<Phase> phases_;                   // planes of one channel
  std::vector<Pass> passes_;
};

}  // namespace tilewright
