// The ONNX project's data for its integer operators, computed by the reference kernels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/proto/onnx_tensor.h"
#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct NodeData {
  std::vector<Tensor> inputs;
  Tensor output;
};

std::optional<NodeData> read_data(const char* test) {
  const fs::path folder = fs::path(TILEWRIGHT_ONNX_TESTDATA) / "node" / test / "test_data_set_0";
  if (!fs::exists(folder)) return {};
  NodeData data;
  for (int i = 0; fs::exists(folder / fmt::format("input_{}.pb", i)); ++i) {
    data.inputs.push_back(parse_onnx_tensor(read_file(folder / fmt::format("input_{}.pb", i))));
  }
  data.output = parse_onnx_tensor(read_file(folder / "output_0.pb"));
  return data;
}

// x - zero_point as i8 or i16, for data whose differences fit.
Tensor centred(const Tensor& x, int64_t zero_point, ElementType type) {
  Tensor result(type, x.shape());
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t value = x.integer_at(i) - zero_point;
    EXPECT_TRUE(lowest(type) <= value && value <= highest(type));
    result.set_integer(i, value);
  }
  return result;
}

Tensor transposed(const Tensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  Tensor result(matrix.type(), {columns, rows});
  for (int64_t i = 0; i < matrix.size(); ++i) {
    result.set_integer(i % columns * rows + i / columns, matrix.integer_at(i));
  }
  return result;
}

const Tensor kOne = Tensor::of<int32_t>({1}, {1});
const Tensor kZero = Tensor::of<int32_t>({1}, {0});

class ConvIntegerData : public ::testing::TestWithParam<const char*> {};

TEST_P(ConvIntegerData, IsReproduced) {
  const auto data = read_data(GetParam());
  if (!data) GTEST_SKIP() << "no ONNX test data";
  const Tensor x = centred(data->inputs.at(0), data->inputs.at(2).integer_at(0), ElementType::kI8);
  ConvParameters p;
  if (std::string(GetParam()) == "test_convinteger_with_padding") p.window.pads = {1, 1, 1, 1};
  const Tensor y =
      reference_conv(x, centred(data->inputs.at(1), 0, ElementType::kI16), kZero, kOne, kZero, p);
  EXPECT_EQ(y.to_integers(), data->output.to_integers());
}

INSTANTIATE_TEST_SUITE_P(Onnx, ConvIntegerData,
                         ::testing::Values("test_basic_convinteger", "test_convinteger_with_padding",
                                           "test_convinteger_without_padding"));

TEST(OnnxData, MatMulIntegerIsReproduced) {
  const auto data = read_data("test_matmulinteger");
  if (!data) GTEST_SKIP() << "no ONNX test data";
  const Tensor a = centred(data->inputs.at(0), data->inputs.at(2).integer_at(0), ElementType::kI8);
  const Tensor b = centred(data->inputs.at(1), data->inputs.at(3).integer_at(0), ElementType::kI16);
  const Tensor bias(ElementType::kI32, {b.shape()[1]});
  EXPECT_EQ(reference_gemm(a, transposed(b), bias, kOne, kZero, {}).to_integers(),
            data->output.to_integers());
}

// With x stored as x - 128, what the zero point contributes to each output channel: -(zero_point - 128) * sum
// W.
Tensor zero_point_bias(const Tensor& weights, int64_t zero_point) {
  const int64_t channels = weights.shape()[0], depth = weights.size() / channels;
  Tensor bias(ElementType::kI32, {channels});
  for (int64_t o = 0; o < channels; ++o) {
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += weights.integer_at(o * depth + k);
    bias.set_integer(o, (128 - zero_point) * sum);
  }
  return bias;
}

// The scale of a QLinear operator as multiplier and shift.
struct Scale {
  Tensor multiplier, shift;
};

Scale scale_of(const Tensor& x_scale, const Tensor& w_scale, const Tensor& y_scale) {
  const Requantization r = encode_scale(x_scale.number_at(0) * w_scale.number_at(0) / y_scale.number_at(0));
  return {Tensor::of<int32_t>({1}, {r.multiplier}), Tensor::of<int32_t>({1}, {r.shift})};
}

TEST(OnnxData, QLinearConvIsReproduced) {
  const auto data = read_data("test_qlinearconv");
  if (!data) GTEST_SKIP() << "no ONNX test data";
  const std::vector<Tensor>& in = data->inputs;
  const Scale scale = scale_of(in.at(1), in.at(4), in.at(6));
  ConvParameters p;
  p.output.y_zero_point = int32_t(in.at(7).integer_at(0)) - 128;
  const Tensor w = centred(in.at(3), in.at(5).integer_at(0), ElementType::kI16);
  const Tensor y =
      reference_conv(centred(in.at(0), 128, ElementType::kI8), w, zero_point_bias(w, in.at(2).integer_at(0)),
                     scale.multiplier, scale.shift, p);
  EXPECT_EQ(y.to_integers(), centred(data->output, 128, ElementType::kI8).to_integers());
}

TEST(OnnxData, QLinearMatMulIsReproduced) {
  const auto data = read_data("test_qlinearmatmul_2D");
  if (!data) GTEST_SKIP() << "no ONNX test data";
  const std::vector<Tensor>& in = data->inputs;
  const Scale scale = scale_of(in.at(1), in.at(4), in.at(6));
  const Tensor w = transposed(centred(in.at(3), in.at(5).integer_at(0), ElementType::kI16));
  OutputStage output;
  output.y_zero_point = int32_t(in.at(7).integer_at(0)) - 128;
  const Tensor y =
      reference_gemm(centred(in.at(0), 128, ElementType::kI8), w, zero_point_bias(w, in.at(2).integer_at(0)),
                     scale.multiplier, scale.shift, output);
  EXPECT_EQ(y.to_integers(), centred(data->output, 128, ElementType::kI8).to_integers());
}

}  // namespace
}  // namespace tilewright
