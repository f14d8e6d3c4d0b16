// weight_groups: networks of models/ with 4-bit weights and 8-bit activations: one scale for a channel,
// groups of 128 and of 32 consecutive weights with factors, all by the quantiser's defaults of the command;
// and the plainest way, each channel's weights rounded in 7 steps of its range beside min-max ranges and
// nothing else. byte-lm: bits per byte of chapters that it was not trained on; the others: share of right
// answers on the Fashion-MNIST test images. Integers are those of the host's integer execution.
//
// usage: weight_groups [--quick] [--language]     --quick: the first tenth of the images and windows
//                                                 --language: byte-lm alone
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "model/own_networks/language_network.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"

namespace {

using namespace tilewright;

constexpr int kThreads = 2, kCalibrationImages = 512;

struct Way {
  const char* name;
  int weight_bits;
  int64_t weight_group;
  bool plain = false;
};

constexpr Way kWays[] = {
    {"int8", 8, 0}, {"w4_plain", 8, 0, true}, {"w4", 4, 0}, {"w4_g128", 4, 128}, {"w4_g32", 4, 32}};

// 8-bit weights that cover their channel's range, moved to 7 steps of it on either side of 0.
Graph with_seven_steps(Graph qdq) {
  for (Node& node : qdq.nodes) {
    const Tensor* integers = node.is("DequantizeLinear") ? qdq.constant_input(node, 0) : nullptr;
    if (integers == nullptr || integers->type() != ElementType::kI8) continue;
    Tensor coarse = *integers;
    for (int8_t& q : coarse.mutable_data<int8_t>())
      q = int8_t(std::nearbyint(std::nearbyint(q * 7 / 127.0) * 127 / 7));
    node.inputs[0] = qdq.add_constant(node.name + "_seven_steps", std::move(coarse));
  }
  return qdq;
}

Graph integers_of(const Way& way, const std::function<Graph(const QuantizeOptions&)>& quantize_with) {
  QuantizeOptions options;
  options.calibration.reset();  // as the command has it
  options.threads = kThreads;
  options.weight_bits = way.weight_bits;
  options.weight_group = way.weight_group;
  if (!way.plain) return integerize(quantize_with(options));
  options.calibration = CalibrationMethod::kMinMax;
  options.correct_bias = options.reconstruct = false;
  return integerize(with_seven_steps(quantize_with(options)));
}

// Members of the line.
std::string measure_images(bool quick) {
  const int64_t images = quick ? 1000 : 10000;
  const FashionImages test = fashion_test_images(images);
  std::string json = fmt::format(", \"images\": {}", images);
  for (const char* name : {"lenet", "depthwise", "vit"}) {
    const Graph network = trained_network(name);
    for (const Way& way : kWays) {
      const Graph integers = integers_of(way, [&](const QuantizeOptions& options) {
        return quantized_network(name, options, kCalibrationImages);
      });
      const AccuracyReport accuracy =
          compare_accuracy(network, integers, {test.images}, test.labels, kThreads);
      if (&way == kWays) json += fmt::format(", \"{}_float\": {:.2f}", name, 100 * accuracy.float_accuracy());
      json += fmt::format(", \"{}_{}\": {:.2f}", name, way.name, 100 * accuracy.quantized_accuracy());
      fmt::print("{} {}: {}\n", name, way.name, to_string(accuracy));
      std::fflush(stdout);
    }
  }
  return json;
}

int measure(bool quick, bool language_alone) {
  std::string json = "{\"figure\": \"weight_groups\"";
  if (!language_alone) json += measure_images(quick);
  const std::vector<uint8_t> text = held_out_text();
  const int64_t windows = byte_lm::windows_in(text) / (quick ? 10 : 1);
  const double in_float = bits_per_byte(language_network(), text, windows, kThreads);
  json += fmt::format(", \"windows\": {}, \"lm_bits_per_byte_float\": {:.4f}", windows, in_float);
  double in_groups = 0;
  for (const Way& way : kWays) {
    const Graph integers =
        integers_of(way, [](const QuantizeOptions& options) { return quantized_language_network(options); });
    in_groups = bits_per_byte(integers, text, windows, kThreads);
    json += fmt::format(", \"lm_bits_per_byte_{}\": {:.4f}", way.name, in_groups);
    fmt::print("byte-lm {}: {:.4f} bits per byte, {:.4f} in float\n", way.name, in_groups, in_float);
    std::fflush(stdout);
  }
  fmt::print("{}}}\n", json);
  return in_groups < 1.05 * in_float ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bool quick = false, language_alone = false;
    for (int i = 1; i < argc; ++i) {
      quick = quick || std::strcmp(argv[i], "--quick") == 0;
      language_alone = language_alone || std::strcmp(argv[i], "--language") == 0;
    }
    return measure(quick, language_alone);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weight_groups: %s\n", error.what());
    return 1;
  }
}
