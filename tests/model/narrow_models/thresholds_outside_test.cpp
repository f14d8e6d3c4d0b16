// FINN's example network of thresholds, and ESPCN with weights and activations of a few bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

TEST(MultiThreshold, FinnsNetworkGivesItsPublishedClassesInIntegers) {
  const std::filesystem::path folder = outside_models() / "finn_tfc_w1a1";
  const Graph graph = read_onnx(folder / "model.onnx");
  IntegerizeReport report;
  const Graph integer = integerize(optimize(graph), &report);
  const Tensor images = read_npy(folder / "input.npy"), classes = read_npy(folder / "expected_output.npy");
  ASSERT_EQ(classes.size(), 4);
  for (int64_t i = 0; i < classes.size(); ++i) {
    Tensor image(ElementType::kF32, Shape{1, 1, 28, 28});
    for (int64_t p = 0; p < image.size(); ++p) image.set_number(p, images.number_at(i * image.size() + p));
    const auto expected = int64_t(classes.number_at(i));
    EXPECT_EQ(run(graph, {image})[0].integer_at(0), expected) << "image " << i;
    EXPECT_EQ(run(integer, {image})[0].integer_at(0), expected) << "image " << i << ", integers";
  }
  int layers = 0;
  for (const Node& node : integer.nodes) layers += node.is_tilewright("QGemm");
  EXPECT_EQ(layers, 3) << to_string(report);
}

// The signal-to-noise ratio of an image against another, both of 0..1, in dB.
double peak_ratio(const Tensor& image, const Tensor& expected) {
  double sum = 0;
  for (int64_t i = 0; i < image.size(); ++i) {
    sum += std::pow(image.number_at(i) - expected.number_at(i), 2);
  }
  return 10 * std::log10(double(image.size()) / sum);
}

// Weights of 4 and 8 bits with a scale per channel, activations of 4 bits, batch normalisation between them.
// In integers biases are rounded to the unit of their accumulator, which moves a few of the 4-bit activations
// by one of their 15 steps.
TEST(Qonnx, EspcnGivesItsStoredImage) {
  const std::filesystem::path folder = outside_models() / "qonnx_espcn";
  const Graph graph = read_onnx(folder / "espcn_subpixel_quant.onnx");
  IntegerizeReport report;
  const Graph integer = integerize(optimize(graph), &report);
  int layers = 0;
  for (const Node& node : integer.nodes) layers += node.is_tilewright("QConv");
  EXPECT_EQ(layers, 3) << to_string(report);  // the first convolution reads real numbers
  const Tensor input = read_npy(folder / "espcn_subpixel_quant.ref.in0.npy");
  const Tensor stored = read_npy(folder / "espcn_subpixel_quant.ref.out0.npy");
  const double as_read = peak_ratio(run(graph, {input})[0], stored);
  const double in_integers = peak_ratio(run(integer, {input})[0], stored);
  std::printf("espcn against its stored image: %.1f dB as read, %.1f dB in integers\n", as_read, in_integers);
  EXPECT_GT(as_read, 80);
  EXPECT_GT(in_integers, 40);
}

}  // namespace
}  // namespace tilewright
