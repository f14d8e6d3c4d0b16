// mixed_precision: weights of 4 and 8 bits with at most 6 on average, layer by layer as quantize_mixed
// chooses them, against 6 bits in every layer, and against layers drawn at random until no more weights are
// wide: the same recipe, the same samples. The signal-to-noise ratio of the outputs beside the float network,
// on samples that were not calibrated on, and top-1. Networks with classes of quantiser_networks.h.
//
// usage: mixed_precision [--quick] [--network NAME]     --quick: 1,000 Fashion-MNIST images
#include "tilewright/quantize/mixed_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "model/quantiser_networks.h"
#include "tilewright/base/random.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/noise.h"
#include "tilewright/transform/pipeline.h"

namespace {

using namespace tilewright;
using namespace quantiser_figures;

constexpr double kMeanBits = 6;
constexpr int kDraws = 9;

struct Row {
  std::string name;
  double in_float = 0, ours = 0, uniform = 0;         // top-1
  double ours_db = 0, uniform_db = 0, random_db = 0;  // random: the median
  double best_random_db = 0, mean_bits = 0, seconds = 0;
};

double output_db(const Graph& graph, const Data& data, const Graph& quantized, const QuantizeReport& report) {
  return least_db(NoiseMeter(graph, data.noise, kThreads).measure(quantized, report.factors).outputs);
}

// 4 bits in layers drawn until the mean is kept: as few as that takes.
std::map<std::string, int> drawn_bits(const MixedReport& report, uint64_t seed) {
  std::vector<MixedReport::Layer> layers = report.layers;
  Random random(seed);
  for (size_t i = layers.size() - 1; i > 0; --i)
    std::swap(layers[i], layers[size_t(random.between(0, int64_t(i)))]);
  double bits = 0, weights = 0;
  for (const MixedReport::Layer& layer : layers) {
    bits += 8 * double(layer.weights);
    weights += double(layer.weights);
  }
  std::map<std::string, int> result;
  for (const MixedReport::Layer& layer : layers) {
    if (bits <= kMeanBits * weights) break;
    result[layer.node] = 4;
    bits -= 4 * double(layer.weights);
  }
  return result;
}

Row measure(const Network& network) {
  const Graph graph = optimize(network.load());
  const Data data = network.data(graph);
  Row row;
  row.name = network.name;
  row.in_float = points(graph, data);
  QuantizeOptions options;
  options.calibration.reset();
  options.threads = kThreads;
  MixedBits bits;
  bits.mean_bits = kMeanBits;
  QuantizeReport report;
  MixedReport mixed;
  const auto start = std::chrono::steady_clock::now();
  const Graph ours = quantize_mixed(graph, data.calibration, options, bits, &report, &mixed);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  row.ours_db = output_db(graph, data, ours, report);
  row.ours = points(integerize(ours), data);
  row.mean_bits = mixed.mean_bits;

  QuantizeOptions recipe = report.recipe;
  recipe.weight_bits = int(kMeanBits);
  const Graph uniform = quantize(graph, data.calibration, recipe, &report);
  row.uniform_db = output_db(graph, data, uniform, report);
  row.uniform = points(integerize(uniform), data);
  recipe.weight_bits = 8;
  std::vector<double> drawn;
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    recipe.layer_bits = drawn_bits(mixed, seed);
    drawn.push_back(output_db(graph, data, quantize(graph, data.calibration, recipe, &report), report));
  }
  std::sort(drawn.begin(), drawn.end());
  row.random_db = drawn[drawn.size() / 2];
  row.best_random_db = drawn.back();
  fmt::print(
      "{}: float {:.2f} %; {:.2f} bits chosen {:.2f} %, {:.1f} dB; uniform {:.2f} %, {:.1f} dB; random "
      "{:.1f} dB "
      "(best of {}: {:.1f}); {:.1f} s\n",
      row.name, row.in_float, row.mean_bits, row.ours, row.ours_db, row.uniform, row.uniform_db,
      row.random_db, kDraws, row.best_random_db, row.seconds);
  std::fflush(stdout);
  return row;
}

int measure(int64_t fashion_images, const std::string& only) {
  std::vector<Row> rows;
  for (const Network& network : networks(fashion_images)) {
    const bool drawn = std::any_of(zoo::modern_networks().begin(), zoo::modern_networks().end(),
                                   [&](const zoo::Network& modern) { return modern.name == network.name; });
    if (!drawn && (only.empty() || network.name == only)) rows.push_back(measure(network));
  }
  if (rows.empty()) throw Error(ErrorKind::kInvalidInput, "there is no such network");
  int below_random = 0, below_uniform = 0;
  std::vector<double> gains;
  std::string details;
  for (const Row& row : rows) {
    below_random += row.ours_db < row.random_db;
    below_uniform += row.ours_db < row.uniform_db;
    gains.push_back(row.ours_db - row.random_db);
    details += fmt::format(
        "{}\"{}\": {{\"float\": {:.2f}, \"ours\": {:.2f}, \"uniform\": {:.2f}, \"mean_bits\": {:.2f}, "
        "\"ours_db\": {:.2f}, \"uniform_db\": {:.2f}, \"random_db\": {:.2f}, \"best_random_db\": {:.2f}}}",
        details.empty() ? "" : ", ", row.name, row.in_float, row.ours, row.uniform, row.mean_bits,
        row.ours_db, row.uniform_db, row.random_db, row.best_random_db);
  }
  std::sort(gains.begin(), gains.end());
  fmt::print(
      "{{\"figure\": \"mixed_precision\", \"networks\": {}, \"median_gain_over_random_db\": {:.2f}, "
      "\"below_random\": {}, \"below_uniform\": {}, \"per_network\": {{{}}}}}\n",
      rows.size(), gains[gains.size() / 2], below_random, below_uniform, details);
  return below_random == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t images = 10000;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") images = 1000;
    if (argument == "--network" && i + 1 < argc) only = argv[++i];
  }
  try {
    return measure(images, only);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mixed_precision: %s\n", error.what());
    return 1;
  }
}
