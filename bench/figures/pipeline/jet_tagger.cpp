// The network that jet taggers of the literature have, 16-64-32-32-5, as one pipeline of constant weights:
// 8-bit weights and activations, seeded. Three in four weights are zero, as pruning leaves them; the same
// network with all its weights is counted by its graphs beside it. Weights are normal with a deviation of 40,
// cut off at 127; scales are powers of two that use the activations' range. Tables and flip-flops of the
// whole module by Yosys for UltraScale+, vectors through Verilator against the network's integer evaluation.
//
//   jet_tagger [--quick]    --quick: fewer searches and vectors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>

#include "support/pipeline/matrix_unit_testing.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/pipeline/constant/constant_network.h"
#include "tilewright/pipeline/verilog/rtl_model.h"

using namespace tilewright;
using namespace tilewright::pipeline;

namespace {

constexpr int kSizes[] = {16, 64, 32, 32, 5};
constexpr double kDeviation = 40;

// Of two uniform numbers (Box and Muller).
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * random.uniform());
}

Network tagger(double zeros) {
  Random random(1);
  Network network;
  network.name = "jet_tagger";
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    network.tensors.push_back({fmt::format("t{}", i), {1, 1, kSizes[i]}, 8, false});
  }
  for (int i = 0; i + 1 < int(std::size(kSizes)); ++i) {
    Layer& layer = network.layers.emplace_back();
    layer.name = fmt::format("dense{}", i);
    layer.input = i, layer.output = i + 1;
    for (int w = 0; w < kSizes[i] * kSizes[i + 1]; ++w) {
      const double weight = std::clamp(std::round(kDeviation * normal(random)), -127.0, 127.0);
      layer.weights.push_back(random.chance(zeros) ? 0 : int32_t(weight));
    }
    const bool last = i + 2 == int(std::size(kSizes));
    layer.finish.clip_low = last ? -128 : 0;
    layer.finish.clip_high = 127;
    // Inputs have deviations of about 74 (uniform) or 40 (behind a ReLU).
    const double sums = kDeviation * (i == 0 ? 74 : 40) * std::sqrt((1 - zeros) * kSizes[i]);
    const double scale = std::exp2(std::round(std::log2(50 / sums)));
    for (int channel = 0; channel < kSizes[i + 1]; ++channel) {
      layer.finish.bias.push_back(int32_t(sums * 0.3 * normal(random)));
    }
    layer.finish.scale.assign(size_t(kSizes[i + 1]), encode_scale(scale));
  }
  network.output = int(std::size(kSizes)) - 1;
  return network;
}

int64_t verilator_mismatches(const ConstantNetwork& made, const Network& network, int vectors,
                             const std::filesystem::path& folder) {
  RtlModelOptions options;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  options.cache_folder = folder;
  RtlModel model(made.design, {}, options);
  Random random(5);
  const int enable = model.port("enable"), in_valid = model.port("in_valid"),
            out_valid = model.port("out_valid");
  std::vector<int> inputs, outputs;
  for (int i = 0; i < kSizes[0]; ++i) inputs.push_back(model.port(fmt::format("in{}", i)));
  for (size_t i = 0; i < made.outputs.size(); ++i) outputs.push_back(model.port(fmt::format("out{}", i)));
  std::deque<std::vector<int32_t>> due;
  int64_t mismatches = 0;
  model.reset();
  model.set(enable, 1);
  for (int i = 0; i < vectors + made.latency; ++i) {
    std::vector<int32_t> input;
    for (const int port : inputs) {
      input.push_back(int32_t(i == 0 ? -128 : i == 1 ? 127 : random.between(-128, 127)));
      model.set(port, netlist::low_bits(uint64_t(int64_t{input.back()}), 8));
    }
    model.set(in_valid, 1);
    due.push_back(evaluate(network, input)[size_t(network.output)]);
    model.settle();
    model.edge();
    model.settle();
    if (int(due.size()) < made.latency) continue;
    if (model.get(out_valid) != 1) ++mismatches;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const uint64_t expected =
          netlist::low_bits(uint64_t(int64_t{due.front()[o]}), range_bits(made.outputs[o]));
      if (model.get(outputs[o]) != expected) ++mismatches;
    }
    due.pop_front();
  }
  return mismatches;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  ConstantNetworkOptions options;
  options.solve.attempts = quick ? 2 : 16;
  const Network network = tagger(0.75);
  const ConstantNetwork made = build_constant_network(network, options);
  for (const ConstantLayer& layer : made.layers) {
    std::printf(
        "%s: %d x %d, %ld weights not 0, %ld tables (at least %ld), depth %d, %d cycles, %s, %.1f s\n",
        layer.name.c_str(), layer.rows, layer.columns, long(layer.nonzero), long(layer.luts),
        long(layer.bound.luts), layer.depth, layer.latency, layer.search.c_str(), layer.cpu_seconds);
  }
  options.solve.attempts = 2;
  const int64_t dense = build_constant_network(tagger(0), options).luts();
  const TemporaryFolder folder(std::filesystem::temp_directory_path(), "tilewright-jet-tagger");
  const SynthesisedUnit cells = synthesise_design(made.design, folder.path(), false);
  const int vectors = quick ? 200 : 10000;
  const int64_t mismatches = verilator_mismatches(made, network, vectors, folder.path());
  std::printf(
      "{\"figure\": \"jet_tagger\", \"latency_cycles\": %d, \"interval_cycles\": 1, \"lut\": %ld, \"ff\": "
      "%ld, "
      "\"dsp\": %ld, \"vectors\": %d, \"mismatches\": %ld, \"lut_of_all_weights\": %ld}\n",
      made.latency, long(cells.lut), long(cells.ff), long(cells.dsp), vectors, long(mismatches), long(dense));
  return mismatches == 0 && cells.dsp == 0 && made.latency <= 10 && cells.lut <= 15000 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
