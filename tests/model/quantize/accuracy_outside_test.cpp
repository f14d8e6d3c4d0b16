// Our own int8 of float models: accuracy on labelled images that calibration has not seen.
#include <gtest/gtest.h>

#include <iostream>

#include "calibration_checks.h"
#include "model_data.h"
#include "shift_checks.h"
#include "speech_features.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

TEST(Accuracy, ResNet8OnCifar10) {
  const Graph graph = optimize(read_onnx(shared_models() / "onnx_from_tflite" / "ic_resnet8_fp32.onnx"));
  const LabelledImages test = cifar10_lossless();
  ASSERT_EQ(test.labels.size(), 100u);
  const LabelledImages calibration = cifar10_jpeg(100, test);
  ASSERT_EQ(calibration.labels.size(), 100u);
  const auto quantised = [&](QuantizeOptions options) {
    options.threads = 2;
    return quantize(graph, {calibration.images}, options);
  };
  const auto check = [](const QuantizeOptions& options, const AccuracyReport& report) {
    EXPECT_EQ(report.float_correct, 88);
    EXPECT_GE(report.quantized_correct,
              report.float_correct - (options.calibration == QuantizeOptions().calibration ? 2 : 10));
  };
  for_each_calibration(graph, test.images, test.labels, 2, quantised, check);
}

// Fewer bits after training, without retraining: what is left on ResNet-8.
TEST(Accuracy, NarrowNumbersOnResNet8) {
  const Graph graph = optimize(read_onnx(shared_models() / "onnx_from_tflite" / "ic_resnet8_fp32.onnx"));
  const LabelledImages test = cifar10_lossless();
  const LabelledImages calibration = cifar10_jpeg(100, test);
  struct Width {
    int weights, activations, least_right;
  };
  for (const Width width : {Width{6, 8, 80}, Width{4, 8, 70}, Width{4, 6, 60}, Width{2, 8, 0}}) {
    QuantizeOptions options;
    options.weight_bits = width.weights;
    options.activation_bits = width.activations;
    options.threads = 2;
    const Graph integer = integerize(quantize(graph, {calibration.images}, options));
    const AccuracyReport report = compare_accuracy(graph, integer, {test.images}, test.labels, 2);
    std::cout << width.weights << "-bit weights, " << width.activations
              << "-bit activations: " << to_string(report);
    EXPECT_GE(report.quantized_correct, width.least_right);
  }
}

// MLPerf Tiny DS-CNN on variants of the recorded words "no" and "yes" (classes 3 and 9), and of two
// background sounds. Calibration sees other variants. Many variants of "no" lie between "no" and "go", so
// that single answers may change in both directions; accuracy may not.
TEST(Accuracy, DsCnnOnSpeech) {
  const Graph graph = optimize(read_onnx(shared_models() / "onnx_from_tflite" / "kws_dscnn_fp32.onnx"));
  std::vector<std::vector<float>> words, background;
  for (const char* sound : {"no", "yes", "silence", "noise"}) {
    auto& list = words.size() < 2 ? words : background;
    list.push_back(
        read_sound(shared_models() / "tflite_micro_examples" / (std::string(sound) + "_1000ms.wav")));
  }
  std::vector<std::vector<float>> all = words;
  all.insert(all.end(), background.begin(), background.end());
  const SpeechSamples calibration = vary_sounds(all, background[1], 10, 1);
  const SpeechSamples spoken = vary_sounds(words, background[1], 100, 2);
  const SpeechSamples unspoken = vary_sounds(background, background[1], 20, 3);
  std::vector<int64_t> labels;
  for (int64_t source : spoken.sources) labels.push_back(source == 0 ? 3 : 9);
  for (const auto scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    QuantizeOptions options;
    options.scales = scales;
    options.threads = 2;
    const Graph integer = integerize(quantize(graph, {calibration.features}, options));
    if (scales == ScaleKind::kPowerOfTwo) expect_only_shifts(integer);
    const AccuracyReport report = compare_accuracy(graph, integer, {spoken.features}, labels, 2);
    std::cout << (scales == ScaleKind::kReal ? "real scales, " : "powers of two, ")
              << "words: " << to_string(report);
    // "yes" is always understood, "no" sometimes: the features are those that the network was trained on.
    EXPECT_GE(report.float_accuracy(), 0.55);
    EXPECT_GE(report.quantized_accuracy(), report.float_accuracy() - 0.02);
    EXPECT_GE(report.agreements, 90 * report.samples / 100);
    const AccuracyReport quiet = compare_accuracy(graph, integer, {unspoken.features}, {}, 2);
    std::cout << "background: " << to_string(quiet);
    EXPECT_GE(quiet.agreements, 95 * quiet.samples / 100);
  }
}

}  // namespace
}  // namespace tilewright
