// quantiser_quality: what 8 bits cost networks that were not trained for them, by the quantiser's defaults
// and, from the same calibration samples, by plain min-max ranges with one scale per weight tensor (plain) or
// per channel (channels). Top-1 counts on labelled images of the integer arithmetic; the median over the
// layers of the signal-to-noise ratio, beside the float network.
// The networks and their samples: quantiser_networks.h.
//
// usage: quantiser_quality [--quick] [--network NAME] [--steps]
//   --quick: 1,000 Fashion-MNIST images; --steps: one row for each step of the quantiser alone
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "model/quantiser_networks.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/noise.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/recipe_choice.h"
#include "tilewright/transform/pipeline.h"

namespace {

using namespace tilewright;
using namespace quantiser_figures;

struct Quality {
  double points = 0;  // top-1 of 100; 0 without classes
  double median_db = 0, worst_db = 0;
  double output_db = 0;  // the least of the outputs
  double seconds = 0;    // to quantise
  std::string recipe;    // that was taken
};

Quality measure(const Graph& graph, const Data& data, QuantizeOptions options) {
  options.threads = kThreads;
  const auto start = std::chrono::steady_clock::now();
  QuantizeReport report;
  const Graph quantized = quantize(graph, data.calibration, options, &report);
  Quality quality;
  quality.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const NetworkNoise measured = NoiseMeter(graph, data.noise, kThreads).measure(quantized, report.factors);
  quality.median_db = median_db(measured.values);
  quality.worst_db = least_db(measured.values);
  quality.output_db = least_db(measured.outputs);
  quality.recipe = recipe_name(report.recipe);
  quality.points = points(integerize(quantized), data);
  return quality;
}

QuantizeOptions plain(bool per_channel) {
  QuantizeOptions options;
  options.calibration = CalibrationMethod::kMinMax;
  options.per_channel = per_channel;
  options.equalize = options.correct_bias = options.reconstruct = false;
  return options;
}

// The command's defaults.
QuantizeOptions best() {
  QuantizeOptions options;
  options.calibration.reset();
  return options;
}

void print(const std::string& row, const Quality& q) {
  fmt::print(
      "  {:<50} {:6.2f} % right, median {:6.2f} dB, least {:6.2f} dB, output {:6.2f} dB, {:5.1f} s  {}\n",
      row, q.points, q.median_db, q.worst_db, q.output_db, q.seconds, q.recipe);
  std::fflush(stdout);
}

void print_steps(const Graph& graph, const Data& data) {
  const std::pair<const char*, CalibrationMethod> methods[] = {
      {"min-max", CalibrationMethod::kMinMax},
      {"squared-error", CalibrationMethod::kSquaredError},
      {"layer-error", CalibrationMethod::kLayerError}};
  for (const int bits : {8, 4}) {
    for (const auto& [name, method] : methods) {
      for (const char* step : {"none", "equalize", "bias", "rounding", "bias, rounding",
                               "equalize, bias, rounding", "tensor: bias, rounding"}) {
        const std::string steps = step;
        const auto has = [&](const char* part) { return steps.find(part) != std::string::npos; };
        QuantizeOptions options;
        options.calibration = method;
        options.weight_bits = bits;
        options.equalize = has("equalize");
        options.correct_bias = has("bias");
        options.reconstruct = has("rounding");
        options.per_channel = !has("tensor");
        print(fmt::format("{} bits, {}, {}", bits, name, steps), measure(graph, data, options));
      }
    }
  }
}

int measure(int64_t fashion_images, const std::string& only, bool steps) {
  struct Row {
    std::string name;
    double in_float = 0;
    Quality plain, channels, ours;
  };
  std::vector<Row> rows;
  for (const Network& network : networks(fashion_images)) {
    if (!only.empty() && network.name != only) continue;
    const Graph graph = optimize(network.load());
    const Data data = network.data(graph);
    Row row{network.name, points(graph, data), measure(graph, data, plain(false)),
            measure(graph, data, plain(true)), measure(graph, data, best())};
    fmt::print("{}: float {:.2f} %\n", row.name, row.in_float);
    print("plain", row.plain);
    print("channels", row.channels);
    if (steps) print_steps(graph, data);
    print("default", row.ours);
    rows.push_back(std::move(row));
  }
  double worst_loss = 0;
  int worse = 0, worse_than_channels = 0;
  for (const Row& row : rows) {
    worst_loss = std::max(worst_loss, row.in_float - row.ours.points);
    worse += row.ours.points < row.plain.points || row.ours.median_db < row.plain.median_db;
    worse_than_channels +=
        row.ours.points < row.channels.points || row.ours.median_db < row.channels.median_db;
  }
  // Of the three networks that plain min-max leaves the most noise in, the least gain.
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.plain.median_db < b.plain.median_db; });
  double gain = 1e9, gain_over_channels = 1e9;
  for (size_t i = 0; i < rows.size() && i < 3; ++i) {
    gain = std::min(gain, rows[i].ours.median_db - rows[i].plain.median_db);
    gain_over_channels = std::min(gain_over_channels, rows[i].ours.median_db - rows[i].channels.median_db);
  }
  std::string details;
  for (const Row& row : rows) {
    details += fmt::format(
        "{}\"{}\": {{\"float\": {:.2f}, \"plain\": {:.2f}, \"channels\": {:.2f}, \"ours\": {:.2f}, "
        "\"plain_db\": {:.2f}, \"channels_db\": {:.2f}, \"ours_db\": {:.2f}}}",
        details.empty() ? "" : ", ", row.name, row.in_float, row.plain.points, row.channels.points,
        row.ours.points, row.plain.median_db, row.channels.median_db, row.ours.median_db);
  }
  fmt::print(
      "{{\"figure\": \"quantiser_quality\", \"networks\": {}, \"worst_loss_points\": {:.2f}, "
      "\"median_gain_db\": {:.2f}, \"worse_than_plain\": {}, \"gain_over_channels_db\": {:.2f}, "
      "\"worse_than_channels\": {}, \"per_network\": {{{}}}}}\n",
      rows.size(), worst_loss, gain, worse, gain_over_channels, worse_than_channels, details);
  return worse == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t images = 10000;
  std::string only;
  bool steps = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") images = 1000;
    if (argument == "--steps") steps = true;
    if (argument == "--network" && i + 1 < argc) only = argv[++i];
  }
  try {
    return measure(images, only, steps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quantiser_quality: %s\n", error.what());
    return 1;
  }
}
