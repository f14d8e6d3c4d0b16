// token_models: the two transformers of models/, in float and in 8 bits by the quantiser's defaults of the
// command. vit-fashion: share of right answers on the Fashion-MNIST test images, calibrated on 512 training
// images; byte-lm: bits per byte of the chapters that it was not trained on, calibrated on chapters that it
// was. Integers are those of the host's integer execution.
//
// usage: token_models [--quick]     --quick: the first 1,000 images and every window of the first tenth
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "model/own_networks/language_network.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"

namespace {

using namespace tilewright;

constexpr int kThreads = 2;

struct Integers {
  Graph graph;
  IntegerizeReport report;
};

template <typename Quantize>
Integers integers(const char* network, const Quantize& quantize_with) {
  QuantizeOptions options;
  options.calibration.reset();  // as the command has it
  options.threads = kThreads;
  const auto start = std::chrono::steady_clock::now();
  const Graph quantized = quantize_with(options);
  Integers result;
  result.graph = integerize(quantized, &result.report);
  fmt::print("{}: quantised in {:.0f} s, {:.2f} % of the multiply-accumulates in integers\n", network,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
             100 * result.report.integer_mac_share());
  std::fflush(stdout);
  return result;
}

int measure(bool quick) {
  const int64_t images = quick ? 1000 : 10000;
  const FashionImages test = fashion_test_images(images);
  const Graph vit = trained_network("vit");
  const Integers vit_integers = integers(
      "vit-fashion", [](const QuantizeOptions& options) { return quantized_network("vit", options, 512); });
  const AccuracyReport accuracy =
      compare_accuracy(vit, vit_integers.graph, {test.images}, test.labels, kThreads);
  fmt::print("vit-fashion: {}\n", to_string(accuracy));
  std::fflush(stdout);

  const std::vector<uint8_t> text = held_out_text();
  const int64_t windows = byte_lm::windows_in(text) / (quick ? 10 : 1);
  const Graph language = language_network();
  const Integers language_integers =
      integers("byte-lm", [](const QuantizeOptions& options) { return quantized_language_network(options); });
  const double in_float = bits_per_byte(language, text, windows, kThreads),
               in_integers = bits_per_byte(language_integers.graph, text, windows, kThreads);
  fmt::print("byte-lm: {:.4f} bits per byte in float, {:.4f} in 8 bits, over {} windows\n", in_float,
             in_integers, windows);

  const Graph vit_as_read = read_onnx(fashion_file("vit")), language_as_read = read_onnx(language_file());
  const NodeStatistics vit_total = statistics(vit_as_read).total,
                       language_total = statistics(language_as_read).total;
  fmt::print(
      "{{\"figure\": \"token_models\", \"images\": {}, \"vit_parameters\": {}, \"vit_macs\": {}, "
      "\"vit_float_accuracy\": {:.2f}, \"vit_int8_accuracy\": {:.2f}, \"vit_integer_mac_share\": {:.4f}, "
      "\"windows\": {}, \"lm_parameters\": {}, \"lm_macs\": {}, \"lm_bits_per_byte_float\": {:.4f}, "
      "\"lm_bits_per_byte_int8\": {:.4f}, \"lm_integer_mac_share\": {:.4f}}}\n",
      images, transformer::learned_numbers(vit_as_read), vit_total.macs, 100 * accuracy.float_accuracy(),
      100 * accuracy.quantized_accuracy(), vit_integers.report.integer_mac_share(), windows,
      transformer::learned_numbers(language_as_read), language_total.macs, in_float, in_integers,
      language_integers.report.integer_mac_share());
  return images > 0 && windows > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "token_models: %s\n", error.what());
    return 1;
  }
}
