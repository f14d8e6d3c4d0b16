// Every float ONNX model of the shared folder: quantised on a few samples and lowered to integers. At least
// 99% of the multiply-accumulates must be integer, in both kinds of scales.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "model_data.h"
#include "shift_checks.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

enum class Weights { kInFile, kConstantOfShape, kConstants };

struct CoverageCase {
  const char* model;
  Weights weights = Weights::kInFile;
  float low = 0, high = 1;  // of the samples
};
void PrintTo(const CoverageCase& c, std::ostream* out) { *out << c.model; }

Graph load(const CoverageCase& model) {
  OnnxOptions options;
  options.dimensions["batch_size"] = 1;
  options.allow_missing_weights = model.weights == Weights::kConstants;
  Graph graph = read_onnx(shared_models() / model.model, options);
  if (model.weights == Weights::kInFile) return graph;
  const auto order = model.weights == Weights::kConstants ? LcgOrder::kConstants : LcgOrder::kConstantOfShape;
  return fill_lcg_weights(std::move(graph), {lcg_gain_of(model.model).value_or(3), order});
}

class QuantizeCoverage : public testing::TestWithParam<CoverageCase> {};

TEST_P(QuantizeCoverage, NinetyNinePercentOfTheMacsAreInteger) {
  const Graph graph = optimize(load(GetParam()));
  std::vector<Tensor> samples;
  for (ValueId v : graph.inputs) {
    samples.push_back(uniform_samples(graph.value(v).shape, 2, GetParam().low, GetParam().high, 1));
  }
  for (const ScaleKind scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    QuantizeOptions options;
    options.scales = scales;
    options.threads = 2;
    const auto start = std::chrono::steady_clock::now();
    const Graph qdq = quantize(graph, samples, options);
    const std::chrono::duration<double> quantize_time = std::chrono::steady_clock::now() - start;
    IntegerizeReport report;
    const Graph integer = integerize(qdq, &report);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    Diagnostics problems;
    verify(qdq, problems);
    verify(integer, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    EXPECT_GE(report.integer_mac_share(), 0.99) << to_string(report);
    if (scales == ScaleKind::kPowerOfTwo) {
      expect_only_shifts(integer);
      continue;
    }
    std::printf("%-58s %6.2f%% of %8.2f M MACs, quantise %5.2f s, lower %5.2f s\n", GetParam().model,
                100 * report.integer_mac_share(), double(report.total_macs()) / 1e6, quantize_time.count(),
                time.count() - quantize_time.count());
    if (report.integer_mac_share() < 1) std::printf("%s", to_string(report).c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, QuantizeCoverage,
    testing::Values(CoverageCase{"onnx_from_tflite/ad_autoencoder_fp32.onnx"},
                    CoverageCase{"onnx_from_tflite/ic_resnet8_fp32.onnx", Weights::kInFile, 0, 255},
                    CoverageCase{"onnx_from_tflite/kws_dscnn_fp32.onnx"},
                    CoverageCase{"onnx_from_tflite/vww_mobilenet_fp32.onnx"},
                    CoverageCase{"onnx_from_tflite/mobilenet_v1_0.25_128_fp32.onnx"},
                    CoverageCase{"onnx_from_tflite/mobilenet_v2_1.0_224_fp32.onnx"},
                    CoverageCase{"onnx_mnist8/model.onnx", Weights::kInFile, 0, 255},
                    CoverageCase{"onnx_squeezenet10/squeezenet1.0_fp16.onnx", Weights::kInFile, -110, 150},
                    CoverageCase{"onnx_squeezenet10/squeezenet1.0_fp32.onnx", Weights::kInFile, -110, 150},
                    CoverageCase{"onnx_super_resolution10/model.onnx"},
                    CoverageCase{"onnx_ultraface/ultraface_rfb320.onnx", Weights::kInFile, -1, 1},
                    CoverageCase{"onnx_seeded/dcgan_generator_seeded.onnx", Weights::kInFile, -1, 1},
                    CoverageCase{"onnx_seeded/fast_style_seeded_224.onnx", Weights::kInFile, 0, 255},
                    CoverageCase{"onnx_shape_only/resnet18_noweights.onnx", Weights::kConstants},
                    CoverageCase{"onnx_shape_only/mobilenetv2_noweights.onnx", Weights::kConstants},
                    CoverageCase{"onnx_light_topologies/light_bvlc_alexnet.onnx", Weights::kConstantOfShape},
                    CoverageCase{"onnx_light_topologies/light_inception_v1.onnx", Weights::kConstantOfShape},
                    CoverageCase{"onnx_light_topologies/light_resnet50.onnx", Weights::kConstantOfShape},
                    CoverageCase{"onnx_light_topologies/light_squeezenet.onnx", Weights::kConstantOfShape},
                    CoverageCase{"onnx_light_topologies/light_vgg19.onnx", Weights::kConstantOfShape}),
    [](const auto& model) {
      std::string name = model.param.model;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '.' || c == '/'; }, '_');
      return name;
    });

}  // namespace
}  // namespace tilewright
