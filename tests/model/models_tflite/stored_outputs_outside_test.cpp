// Every TFLite network of the shared folder against the outputs that the TFLite runtime stored beside it: the
// quantised ones in integer operators and bit for bit, the float ones to rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "support/outside_testing.h"
#include "tilewright/base/hash.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct StoredCase {
  const char* model;
  double tolerance;  // largest difference: in steps, or as a share of the largest output above 1
};
void PrintTo(const StoredCase& c, std::ostream* out) { *out << c.model; }

std::string case_name(const ::testing::TestParamInfo<StoredCase>& info) {
  std::string name = fs::path(info.param.model).filename().string();
  for (char& letter : name) letter = letter == '.' ? '_' : letter;
  return name;
}

fs::path file_of(const char* model, const std::string& suffix) {
  return outside_models() / (std::string(model) + suffix);
}

double largest_difference(const Tensor& actual, const Tensor& expected) {
  double worst = 0;
  for (int64_t i = 0; i < actual.size(); ++i) {
    worst = std::max(worst, std::fabs(actual.number_at(i) - expected.number_at(i)));
  }
  return worst;
}

void expect_stored(const Graph& graph, const StoredCase& c) {
  const Tensor input = read_npy(file_of(c.model, ".ref.in0.npy"));
  const Tensor stored = read_npy(file_of(c.model, ".ref.out0.npy"));
  const Tensor output = run(graph, {input})[0];
  ASSERT_EQ(output.shape(), stored.shape());
  ASSERT_EQ(output.type(), stored.type());
  const double worst = largest_difference(output, stored);
  std::printf("%s: %lld outputs, largest difference %g\n", c.model, static_cast<long long>(output.size()),
              worst);
  double magnitude = 1;
  for (int64_t i = 0; i < stored.size() && stored.type() == ElementType::kF32; ++i) {
    magnitude = std::max(magnitude, std::fabs(stored.number_at(i)));
  }
  EXPECT_LE(worst, c.tolerance * magnitude);
}

class QuantizedTflite : public ::testing::TestWithParam<StoredCase> {};

TEST_P(QuantizedTflite, IntegersGiveTheStoredOutputs) {
  const StoredCase& c = GetParam();
  Diagnostics warnings;
  const Graph graph = read_tflite(file_of(c.model, ".tflite"), {}, &warnings);
  EXPECT_TRUE(warnings.warnings().empty()) << to_string(warnings.warnings()[0]);
  for (const bool optimized : {false, true}) {
    IntegerizeReport report;
    const Graph integer = integerize(optimized ? optimize(graph) : graph, &report);
    EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
    expect_stored(integer, c);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, QuantizedTflite,
                         ::testing::Values(StoredCase{"tflite_mlperf_tiny/ic_resnet8_int8", 0},
                                           StoredCase{"tflite_mlperf_tiny/kws_dscnn_int8", 0},
                                           StoredCase{"tflite_mlperf_tiny/vww_mobilenet_int8", 0},
                                           StoredCase{"tflite_mlperf_tiny/ad_autoencoder_int8", 0},
                                           StoredCase{"tflite_mobilenet/mobilenet_v1_0.25_128_uint8", 0},
                                           StoredCase{"tflite_mobilenet/mobilenet_v2_1.0_224_uint8", 0},
                                           StoredCase{"tflite_micro_examples/hello_world_int8", 0},
                                           StoredCase{"tflite_micro_examples/micro_speech_int8", 0},
                                           StoredCase{"tflite_micro_examples/person_detect_int8_fixed", 0}),
                         case_name);

// Hashes of what a runtime without delegate computed from the stored inputs (tfjs-tflite 0.0.1-alpha.3).
TEST(BuiltInKernels, GiveTheOutputsOfARuntimeWithoutDelegate) {
  TfliteOptions kernels;
  kernels.rounding = Rounding::kTwice;
  for (const auto& [model, hash] :
       {std::pair{"tflite_mobilenet/mobilenet_v1_0.25_128_uint8", 0xf2b577b9241e0a62u},
        std::pair{"tflite_mobilenet/mobilenet_v2_1.0_224_uint8", 0xd4b0e5d0d1213b42u}}) {
    const Graph graph = optimize(read_tflite(file_of(model, ".tflite"), kernels));
    const Tensor output = run(integerize(graph), {read_npy(file_of(model, ".ref.in0.npy"))})[0];
    const auto bytes = output.bytes();
    EXPECT_EQ(fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), hash) << model;
  }
}

class FloatTflite : public ::testing::TestWithParam<StoredCase> {};

TEST_P(FloatTflite, TheGraphGivesTheStoredOutputs) {
  const StoredCase& c = GetParam();
  const Graph graph = read_tflite(file_of(c.model, ".tflite"));
  expect_stored(graph, c);
  expect_stored(optimize(graph), c);
}

// This "float" network has 8-bit weights in its convolutions.
TEST(DynamicRange, ActivationsRoundedOnTheFlyGiveTheStoredOutputs) {
  const StoredCase c{"tflite_mlperf_tiny/kws_dscnn_fp32", 1e-5};
  TfliteOptions options;
  options.round_dynamic_range = true;
  Diagnostics silent, warned;
  expect_stored(read_tflite(file_of(c.model, ".tflite"), options, &silent), c);
  EXPECT_TRUE(silent.warnings().empty());
  const Graph plain = read_tflite(file_of(c.model, ".tflite"), {}, &warned);
  EXPECT_EQ(warned.warnings().size(), 5u);
  expect_stored(plain, {c.model, 2e-3});
}

INSTANTIATE_TEST_SUITE_P(Shared, FloatTflite,
                         ::testing::Values(StoredCase{"tflite_mlperf_tiny/ic_resnet8_fp32", 1e-5},
                                           StoredCase{"tflite_mlperf_tiny/vww_mobilenet_fp32", 1e-5},
                                           StoredCase{"tflite_mlperf_tiny/ad_autoencoder_fp32", 1e-5},
                                           StoredCase{"tflite_micro_examples/hello_world_float", 1e-5}),
                         case_name);

}  // namespace
}  // namespace tilewright
