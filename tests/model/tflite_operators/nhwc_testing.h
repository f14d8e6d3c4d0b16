// Small NHWC references: direct loops, in double precision.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "support/frontend/tflite_builder_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright::tflite_testing {

inline Tensor random_tensor(Random& random, Shape shape) {
  Tensor tensor(ElementType::kF32, std::move(shape));
  for (float& number : tensor.mutable_data<float>()) number = float(random.between(-1000, 1000)) / 500;
  return tensor;
}

inline std::vector<int32_t> dims_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

inline double at(const Tensor& t, int64_t n, int64_t y, int64_t x, int64_t c) {
  const Shape& s = t.shape();
  return t.number_at(((n * s[1] + y) * s[2] + x) * s[3] + c);
}

// A tensor of `shape` with the number that `f` gives for each (n, y, x, c).
inline Tensor nhwc(const Shape& shape, const std::function<double(int64_t, int64_t, int64_t, int64_t)>& f) {
  Tensor tensor(ElementType::kF32, shape);
  int64_t i = 0;
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t y = 0; y < shape[1]; ++y) {
      for (int64_t x = 0; x < shape[2]; ++x) {
        for (int64_t c = 0; c < shape[3]; ++c) tensor.set_number(i++, f(n, y, x, c));
      }
    }
  }
  return tensor;
}

// One axis of a window: how many outputs, and what comes before the first input.
struct Extent {
  int64_t output = 0, before = 0;
};
inline Extent extent(bool same, int64_t input, int64_t kernel, int64_t stride, int64_t dilation) {
  const int64_t reach = (kernel - 1) * dilation + 1;
  if (!same) return {(input - reach) / stride + 1, 0};
  const int64_t output = (input + stride - 1) / stride;
  return {output, std::max<int64_t>((output - 1) * stride + reach - input, 0) / 2};
}

// The graph of the file, as read and optimised, gives `expected` for these inputs.
inline void expect_output(const TfliteBuilder& builder, const std::vector<Tensor>& inputs,
                          const Tensor& expected, double tolerance = 1e-5) {
  const Graph graph = parse_tflite(builder.build());
  for (const Graph& form : {graph, optimize(graph)}) {
    const Tensor output = run(form, inputs)[0];
    ASSERT_EQ(output.shape(), expected.shape());
    ASSERT_EQ(output.type(), expected.type());
    for (int64_t i = 0; i < output.size(); ++i) {
      const double wanted = expected.number_at(i);
      ASSERT_NEAR(output.number_at(i), wanted, tolerance * std::max(1.0, std::fabs(wanted))) << "at " << i;
    }
  }
}

}  // namespace tilewright::tflite_testing
