// Operators that move, join, cut and resize, on NHWC tensors that come from the file's layout and from a
// convolution, which leaves them channels-first.
#include "nhwc_testing.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

// A model with the input "x", which reaches the operator under test as it is or through a 1x1 convolution
// with the identity as weights.
struct Source {
  TfliteBuilder model;
  int x = 0;

  Source(const Shape& shape, bool through_convolution) {
    x = model.input("x", dims_of(shape));
    if (!through_convolution) return;
    Tensor identity(ElementType::kF32, {shape[3], 1, 1, shape[3]});
    for (int64_t c = 0; c < shape[3]; ++c) identity.set_number(c * shape[3] + c, 1);
    const int weights = model.constant("identity", identity);
    const int copy = model.add("copy", ElementType::kF32, dims_of(shape));
    schema::Conv2DOptionsT options;
    options.stride_h = options.stride_w = 1;
    model.op(Op::BuiltinOperator_CONV_2D, {x, weights, -1}, {copy}, options);
    x = copy;
  }
};

// Runs `make`, which adds the operator and returns what is expected, in both layouts.
void in_both_layouts(const Shape& shape, const std::function<Tensor(Source&, const Tensor&)>& make) {
  Random random(8);
  const Tensor x = random_tensor(random, shape);
  for (const bool through_convolution : {false, true}) {
    SCOPED_TRACE(through_convolution ? "channels first" : "as in the file");
    Source source(shape, through_convolution);
    const Tensor expected = make(source, x);
    expect_output(source.model, {x}, expected);
  }
}

TEST(TfliteMovement, ReshapeWithAnOpenSize) {
  in_both_layouts({2, 3, 4, 5}, [](Source& s, const Tensor& x) {
    const int shape = s.model.integers("shape", {2, -1});
    s.model.op(Op::BuiltinOperator_RESHAPE, {s.x, shape}, {s.model.output("y", {2, 60})});
    return x.reshaped({2, 60});
  });
  in_both_layouts({1, 3, 4, 5}, [](Source& s, const Tensor& x) {
    schema::ReshapeOptionsT options;
    options.new_shape = {12, 5};
    s.model.op(Op::BuiltinOperator_RESHAPE, {s.x}, {s.model.output("y", {12, 5})}, options);
    return x.reshaped({12, 5});
  });
}

TEST(TfliteMovement, SqueezeAndExpandDims) {
  in_both_layouts({1, 3, 1, 5}, [](Source& s, const Tensor& x) {
    schema::SqueezeOptionsT options;
    options.squeeze_dims = {-2};
    s.model.op(Op::BuiltinOperator_SQUEEZE, {s.x}, {s.model.output("y", {1, 3, 5})}, options);
    return x.reshaped({1, 3, 5});
  });
  in_both_layouts({1, 3, 1, 5}, [](Source& s, const Tensor& x) {
    s.model.op(Op::BuiltinOperator_SQUEEZE, {s.x}, {s.model.output("y", {3, 5})}, schema::SqueezeOptionsT());
    return x.reshaped({3, 5});
  });
  in_both_layouts({1, 3, 2, 5}, [](Source& s, const Tensor& x) {
    const int axis = s.model.scalar("axis", -1);
    s.model.op(Op::BuiltinOperator_EXPAND_DIMS, {s.x, axis}, {s.model.output("y", {1, 3, 2, 5, 1})});
    return x.reshaped({1, 3, 2, 5, 1});
  });
}

TEST(TfliteMovement, Transpose) {
  for (const std::vector<int32_t>& order :
       {std::vector<int32_t>{0, 3, 1, 2}, std::vector<int32_t>{0, 2, 1, 3},
        std::vector<int32_t>{3, 2, 1, 0}}) {
    in_both_layouts({2, 3, 4, 5}, [&](Source& s, const Tensor& x) {
      Shape shape = x.shape();
      for (int a = 0; a < 4; ++a) shape[a] = x.shape()[order[size_t(a)]];
      const int perm = s.model.integers("perm", order);
      s.model.op(Op::BuiltinOperator_TRANSPOSE, {s.x, perm}, {s.model.output("y", dims_of(shape))});
      return nhwc(shape, [&](auto i, auto j, auto k, auto l) {
        const int64_t index[4] = {i, j, k, l};
        int64_t from[4];
        for (int a = 0; a < 4; ++a) from[order[size_t(a)]] = index[a];
        return at(x, from[0], from[1], from[2], from[3]);
      });
    });
  }
}

TEST(TfliteMovement, ConcatenationAlongEveryAxis) {
  for (const int axis : {1, 2, 3, -1}) {
    in_both_layouts({1, 2, 3, 4}, [&](Source& s, const Tensor& x) {
      Shape shape = x.shape();
      const int positive = axis < 0 ? axis + 4 : axis;
      shape[positive] *= 2;
      schema::ConcatenationOptionsT options;
      options.axis = axis;
      options.fused_activation_function = schema::ActivationFunctionType_RELU;
      s.model.op(Op::BuiltinOperator_CONCATENATION, {s.x, s.x}, {s.model.output("y", dims_of(shape))},
                 options);
      return nhwc(shape, [&](auto n, auto y, auto xx, auto c) {
        const int64_t index[4] = {n, y, xx, c};
        int64_t from[4] = {n, y, xx, c};
        from[positive] = index[positive] % x.shape()[positive];
        return std::max(0.0, at(x, from[0], from[1], from[2], from[3]));
      });
    });
  }
}

TEST(TfliteMovement, SplitAndSplitV) {
  in_both_layouts({1, 2, 3, 4}, [](Source& s, const Tensor& x) {
    const int first = s.model.add("a", ElementType::kF32, {1, 2, 3, 2}), axis = s.model.scalar("axis", 3);
    schema::SplitOptionsT options;
    options.num_splits = 2;
    s.model.op(Op::BuiltinOperator_SPLIT, {axis, s.x}, {first, s.model.output("y", {1, 2, 3, 2})}, options);
    return nhwc({1, 2, 3, 2}, [&](auto n, auto y, auto xx, auto c) { return at(x, n, y, xx, c + 2); });
  });
  in_both_layouts({1, 2, 5, 4}, [](Source& s, const Tensor& x) {
    const int first = s.model.add("a", ElementType::kF32, {1, 2, 1, 4}), axis = s.model.scalar("axis", 2);
    const int sizes = s.model.integers("sizes", {1, -1});
    s.model.op(Op::BuiltinOperator_SPLIT_V, {s.x, sizes, axis}, {first, s.model.output("y", {1, 2, 4, 4})},
               schema::SplitVOptionsT());
    return nhwc({1, 2, 4, 4}, [&](auto n, auto y, auto xx, auto c) { return at(x, n, y, xx + 1, c); });
  });
}

TEST(TfliteMovement, PackAndUnpack) {
  in_both_layouts({1, 2, 3, 4}, [](Source& s, const Tensor& x) {
    const int a = s.model.add("a", ElementType::kF32, {1, 3, 4}),
              b = s.model.add("b", ElementType::kF32, {1, 3, 4});
    schema::UnpackOptionsT unpack;
    unpack.num = 2;
    unpack.axis = 1;
    s.model.op(Op::BuiltinOperator_UNPACK, {s.x}, {a, b}, unpack);
    schema::PackOptionsT pack;
    pack.values_count = 2;
    pack.axis = -1;
    s.model.op(Op::BuiltinOperator_PACK, {b, a}, {s.model.output("y", {1, 3, 4, 2})}, pack);
    return nhwc({1, 3, 4, 2}, [&](auto n, auto y, auto xx, auto c) { return at(x, n, 1 - c, y, xx); });
  });
}

TEST(TfliteMovement, Slice) {
  in_both_layouts({2, 5, 6, 4}, [](Source& s, const Tensor& x) {
    const int begin = s.model.integers("begin", {1, 2, 0, 1}), size = s.model.integers("size", {1, -1, 6, 2});
    s.model.op(Op::BuiltinOperator_SLICE, {s.x, begin, size}, {s.model.output("y", {1, 3, 6, 2})});
    return nhwc({1, 3, 6, 2}, [&](auto, auto y, auto xx, auto c) { return at(x, 1, y + 2, xx, c + 1); });
  });
}

schema::StridedSliceOptionsT masks(int begin, int end, int ellipsis, int new_axis, int shrink) {
  schema::StridedSliceOptionsT options;
  options.begin_mask = begin;
  options.end_mask = end;
  options.ellipsis_mask = ellipsis;
  options.new_axis_mask = new_axis;
  options.shrink_axis_mask = shrink;
  return options;
}

TEST(TfliteMovement, StridedSliceWithEveryMask) {
  // x[:, 4:0:-2, ::2, 1:-1]
  in_both_layouts({2, 5, 6, 4}, [](Source& s, const Tensor& x) {
    const int begin = s.model.integers("begin", {0, 4, 0, 1}), end = s.model.integers("end", {0, 0, 0, -1});
    const int strides = s.model.integers("strides", {1, -2, 2, 1});
    s.model.op(Op::BuiltinOperator_STRIDED_SLICE, {s.x, begin, end, strides},
               {s.model.output("y", {2, 2, 3, 2})}, masks(0b0101, 0b0101, 0, 0, 0));
    return nhwc({2, 2, 3, 2},
                [&](auto n, auto y, auto xx, auto c) { return at(x, n, 4 - 2 * y, 2 * xx, c + 1); });
  });
  // x[1, ..., newaxis, -1]
  in_both_layouts({2, 5, 6, 4}, [](Source& s, const Tensor& x) {
    const int begin = s.model.integers("begin", {1, 0, 0, -1}), end = s.model.integers("end", {2, 0, 0, 0});
    const int strides = s.model.integers("strides", {1, 1, 1, 1});
    s.model.op(Op::BuiltinOperator_STRIDED_SLICE, {s.x, begin, end, strides},
               {s.model.output("y", {5, 6, 1})}, masks(0, 0, 0b0010, 0b0100, 0b1001));
    return nhwc({5, 6, 1, 1}, [&](auto y, auto xx, auto, auto) { return at(x, 1, y, xx, 3); })
        .reshaped({5, 6, 1});
  });
}

TEST(TfliteMovement, PadsWithZerosNumbersAndMirrors) {
  const std::vector<int32_t> amounts = {0, 0, 1, 2, 2, 1, 0, 1};
  const auto padded = [&](const Tensor& x, const std::function<double(int64_t, int64_t, int64_t)>& outside) {
    return nhwc({1, 6, 7, 3}, [&](auto, auto y, auto xx, auto c) {
      const int64_t from_y = y - 1, from_x = xx - 2;
      const bool inside = from_y >= 0 && from_y < 3 && from_x >= 0 && from_x < 4 && c < 2;
      return inside ? at(x, 0, from_y, from_x, c) : outside(from_y, from_x, c);
    });
  };
  const auto paddings = [&](Source& s) {
    return s.model.constant("pads", Tensor(Shape{4, 2}, std::span<const int32_t>(amounts)));
  };
  in_both_layouts({1, 3, 4, 2}, [&](Source& s, const Tensor& x) {
    const int pads = paddings(s);
    s.model.op(Op::BuiltinOperator_PAD, {s.x, pads}, {s.model.output("y", {1, 6, 7, 3})});
    return padded(x, [](auto, auto, auto) { return 0.0; });
  });
  in_both_layouts({1, 3, 4, 2}, [&](Source& s, const Tensor& x) {
    const int pads = paddings(s), number = s.model.constant("number", Tensor::scalar(2.5f));
    s.model.op(Op::BuiltinOperator_PADV2, {s.x, pads, number}, {s.model.output("y", {1, 6, 7, 3})});
    return padded(x, [](auto, auto, auto) { return 2.5; });
  });
  in_both_layouts({1, 3, 4, 2}, [&](Source& s, const Tensor& x) {
    const int pads = paddings(s);
    s.model.op(Op::BuiltinOperator_MIRROR_PAD, {s.x, pads}, {s.model.output("y", {1, 6, 7, 3})},
               schema::MirrorPadOptionsT());
    const auto mirrored = [](int64_t i, int64_t size) {
      return i < 0 ? -i : i >= size ? 2 * size - 2 - i : i;
    };
    return padded(x, [&](auto y, auto xx, auto c) {
      return at(x, 0, mirrored(y, 3), mirrored(xx, 4), mirrored(c, 2));
    });
  });
}

TEST(TfliteMovement, SpaceToDepthAndBack) {
  in_both_layouts({1, 4, 6, 3}, [](Source& s, const Tensor& x) {
    schema::SpaceToDepthOptionsT options;
    options.block_size = 2;
    s.model.op(Op::BuiltinOperator_SPACE_TO_DEPTH, {s.x}, {s.model.output("y", {1, 2, 3, 12})}, options);
    return nhwc({1, 2, 3, 12}, [&](auto n, auto y, auto xx, auto c) {
      return at(x, n, y * 2 + c / 6, xx * 2 + c / 3 % 2, c % 3);
    });
  });
  in_both_layouts({1, 2, 3, 12}, [](Source& s, const Tensor& x) {
    schema::DepthToSpaceOptionsT options;
    options.block_size = 2;
    s.model.op(Op::BuiltinOperator_DEPTH_TO_SPACE, {s.x}, {s.model.output("y", {1, 4, 6, 3})}, options);
    return nhwc({1, 4, 6, 3}, [&](auto n, auto y, auto xx, auto c) {
      return at(x, n, y / 2, xx / 2, (y % 2 * 2 + xx % 2) * 3 + c);
    });
  });
}

// The position in the input of output `i`, as the runtime's kernels have it.
double position(int64_t i, int64_t in, int64_t out, bool align, bool half) {
  const double scale = align && out > 1 ? double(in - 1) / double(out - 1) : double(in) / double(out);
  return half ? (double(i) + 0.5) * scale - 0.5 : double(i) * scale;
}

TEST(TfliteMovement, ResizeBilinear) {
  for (const auto& [align, half] : {std::pair{false, false}, {true, false}, {false, true}}) {
    in_both_layouts({1, 4, 5, 2}, [&, align = align, half = half](Source& s, const Tensor& x) {
      const int size = s.model.integers("size", {7, 3});
      schema::ResizeBilinearOptionsT options;
      options.align_corners = align;
      options.half_pixel_centers = half;
      s.model.op(Op::BuiltinOperator_RESIZE_BILINEAR, {s.x, size}, {s.model.output("y", {1, 7, 3, 2})},
                 options);
      return nhwc({1, 7, 3, 2}, [&](auto, auto oy, auto ox, auto c) {
        const double py = position(oy, 4, 7, align, half), px = position(ox, 5, 3, align, half);
        const auto at_clamped = [&](double y, double xx) {
          return at(x, 0, int64_t(std::clamp(y, 0.0, 3.0)), int64_t(std::clamp(xx, 0.0, 4.0)), c);
        };
        const double fy = std::floor(py), fx = std::floor(px), wy = py - fy, wx = px - fx;
        return (1 - wy) * ((1 - wx) * at_clamped(fy, fx) + wx * at_clamped(fy, fx + 1)) +
               wy * ((1 - wx) * at_clamped(fy + 1, fx) + wx * at_clamped(fy + 1, fx + 1));
      });
    });
  }
}

TEST(TfliteMovement, ResizeNearestNeighbor) {
  for (const auto& [align, half] : {std::pair{false, false}, {true, false}, {false, true}}) {
    in_both_layouts({1, 4, 6, 2}, [&, align = align, half = half](Source& s, const Tensor& x) {
      const int size = s.model.integers("size", {8, 3});
      schema::ResizeNearestNeighborOptionsT options;
      options.align_corners = align;
      options.half_pixel_centers = half;
      s.model.op(Op::BuiltinOperator_RESIZE_NEAREST_NEIGHBOR, {s.x, size},
                 {s.model.output("y", {1, 8, 3, 2})}, options);
      const auto nearest = [&](int64_t i, int64_t in, int64_t out) {
        const double scale = align ? double(in - 1) / double(out - 1) : double(in) / double(out);
        const double p = (double(i) + (half ? 0.5 : 0)) * scale;
        return std::min(int64_t(align ? std::round(p) : std::floor(p)), in - 1);
      };
      return nhwc({1, 8, 3, 2}, [&](auto, auto oy, auto ox, auto c) {
        return at(x, 0, nearest(oy, 4, 8), nearest(ox, 6, 3), c);
      });
    });
  }
}

// What converters write for Reshape(x, [shape(x)[0], 12]).
TEST(TfliteMovement, ShapesComputedFromShapesAreConstant) {
  in_both_layouts({2, 2, 3, 2}, [](Source& s, const Tensor& x) {
    TfliteBuilder& m = s.model;
    const int shape = m.add("shape", ElementType::kI32, {4}), batch = m.add("batch", ElementType::kI32, {});
    const int target = m.add("target", ElementType::kI32, {2}), rest = m.scalar("rest", 12);
    const int zero = m.integers("zero", {0}), one = m.integers("one", {1});
    m.op(Op::BuiltinOperator_SHAPE, {s.x}, {shape});
    m.op(Op::BuiltinOperator_STRIDED_SLICE, {shape, zero, one, one}, {batch}, masks(0, 0, 0, 0, 1));
    schema::PackOptionsT pack;
    pack.values_count = 2;
    m.op(Op::BuiltinOperator_PACK, {batch, rest}, {target}, pack);
    m.op(Op::BuiltinOperator_RESHAPE, {s.x, target}, {m.output("y", {2, 12})});
    return x.reshaped({2, 12});
  });
}

}  // namespace
}  // namespace tilewright
