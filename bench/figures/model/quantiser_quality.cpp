// quantiser_quality: what 8 bits cost networks that were not trained for them, by the quantiser's defaults
// and, from the same calibration samples, by plain min-max ranges with one scale per weight tensor (plain) or
// per channel (channels). Top-1 counts on labelled images of the integer arithmetic; the median over the
// layers of the signal-to-noise ratio, beside the float network.
//
// With TILEWRIGHT_OUTSIDE also MobileNet v2 and v1 on photos and ResNet-8 on CIFAR-10. The modern networks
// have drawn weights and noise as input: no classes.
//
// usage: quantiser_quality [--quick] [--network NAME] [--steps]
//   --quick: 1,000 Fashion-MNIST images; --steps: one row for each step of the quantiser alone
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "model/quantize/model_data.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/samples/input_samples.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/zoo.h"

namespace {

using namespace tilewright;

constexpr int kThreads = 2;

struct Data {
  std::vector<Tensor> calibration, images;  // one array per input
  std::vector<std::set<int64_t>> right;     // accepted classes of each image; empty: none
  std::vector<Tensor> noise;                // the ratio is measured on
};

struct Network {
  std::string name;
  std::function<Graph()> load;
  std::function<Data(const Graph&)> data;
};

struct Quality {
  double points = 0;  // top-1 of 100; 0 without classes
  double median_db = 0, worst_db = 0;
  double seconds = 0;  // to quantise
};

// Samples first, first + step, ...
Tensor every(const Tensor& samples, int64_t first, int64_t step, int64_t count) {
  Shape shape = samples.shape();
  const int64_t each = shape.element_count() / shape[0];
  shape[0] = count;
  Tensor result(ElementType::kF32, shape);
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(samples.data<float>().begin() + (first + i * step) * each, each,
                result.mutable_data<float>().begin() + i * each);
  }
  return result;
}

// f32 [32,3,size,size], (pixel - 128) / 128.
Tensor photos(int64_t size) {
  const auto bytes = read_file(outside_models() / fmt::format("data_images/images_32x{0}x{0}x3.u8", size));
  Tensor images(ElementType::kF32, {32, 3, size, size});
  const auto out = images.mutable_data<float>();
  const int64_t pixels = size * size;
  for (int64_t i = 0; i < 32 * pixels; ++i) {
    for (int64_t c = 0; c < 3; ++c)
      out[size_t((i / pixels * 3 + c) * pixels + i % pixels)] =
          (float(uint8_t(bytes[size_t(i * 3 + c)])) - 128) / 128;
  }
  return images;
}

Data photo_data(int64_t size) {
  const Tensor images = photos(size);
  return {{every(images, 0, 4, 8)}, {images}, photo_classes(1), {every(images, 1, 8, 4)}};
}

std::vector<std::set<int64_t>> sets(const std::vector<int64_t>& labels) {
  std::vector<std::set<int64_t>> result;
  for (int64_t label : labels) result.push_back({label});
  return result;
}

Data fashion_data(int64_t count) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  const auto images = [&](const char* file, int64_t number) {
    return read_samples(sample_source(folder + file), number, 1 / 255.0)
        .stack(ElementType::kF32, {1, 1, 28, 28});
  };
  const Tensor test = images("t10k-images-idx3-ubyte.gz", count);
  const std::vector<int64_t> labels =
      read_samples(sample_source(folder + "t10k-labels-idx1-ubyte.gz")).labels(count, 10, true);
  return {{images("train-images-idx3-ubyte.gz", 256)}, {test}, sets(labels), {every(test, 0, 1, 32)}};
}

Data cifar_data() {
  const LabelledImages test = cifar10_lossless();
  return {{cifar10_jpeg(100, test).images}, {test.images}, sets(test.labels), {every(test.images, 0, 1, 32)}};
}

Data drawn_data(const Graph& graph) {
  Data data;
  for (ValueId v : graph.inputs) {
    data.calibration.push_back(uniform_samples(graph.value(v).shape, 16, -1, 1, 100 + uint64_t(v)));
    data.noise.push_back(uniform_samples(graph.value(v).shape, 8, -1, 1, 200 + uint64_t(v)));
  }
  return data;
}

std::vector<Network> networks(int64_t fashion_images) {
  std::vector<Network> result;
  const std::filesystem::path source = TILEWRIGHT_SOURCE_DIR;
  for (const std::string name : {"lenet", "residual", "depthwise"}) {
    const auto file = source / "models" / (name + "-fashion") / (name + "_fashion.onnx");
    result.push_back({name + "_fashion", [file] { return load_model(file); },
                      [=](const Graph&) { return fashion_data(fashion_images); }});
  }
  if (std::filesystem::exists(outside_models())) {
    const auto file = [](const char* name) {
      return [name] { return load_model(outside_models() / "onnx_from_tflite" / name); };
    };
    result.push_back({"mobilenet_v2", file("mobilenet_v2_1.0_224_fp32.onnx"),
                      [](const Graph&) { return photo_data(224); }});
    result.push_back({"mobilenet_v1_0.25", file("mobilenet_v1_0.25_128_fp32.onnx"),
                      [](const Graph&) { return photo_data(128); }});
    result.push_back({"resnet8", file("ic_resnet8_fp32.onnx"), [](const Graph&) { return cifar_data(); }});
  }
  for (const zoo::Network& network : zoo::modern_networks()) {
    result.push_back({network.name, [&network] { return network.build(network.small); }, drawn_data});
  }
  return result;
}

double points(const Graph& graph, const Data& data) {
  if (data.right.empty()) return 0;
  const std::vector<int64_t> classes = classify(graph, data.images, kThreads);
  int64_t right = 0;
  for (size_t i = 0; i < classes.size(); ++i) right += int64_t(data.right[i].count(classes[i]));
  return 100 * double(right) / double(classes.size());
}

Quality measure(const Graph& graph, const Data& data, QuantizeOptions options) {
  options.threads = kThreads;
  const auto start = std::chrono::steady_clock::now();
  QuantizeReport report;
  const Graph quantized = quantize(graph, data.calibration, options, &report);
  Quality quality;
  quality.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<double> ratios;
  std::set<std::string> inputs;
  for (ValueId v : graph.inputs) inputs.insert(graph.value(v).name);
  for (const ValueNoise& noise : measure_noise(graph, quantized, data.noise, report.factors)) {
    if (inputs.count(noise.value) == 0 && std::isfinite(noise.sqnr_db)) ratios.push_back(noise.sqnr_db);
  }
  if (ratios.empty()) ratios.push_back(0);
  std::sort(ratios.begin(), ratios.end());
  quality.worst_db = ratios.front();
  quality.median_db = ratios[ratios.size() / 2];
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

void print(const std::string& row, const Quality& q) {
  fmt::print("  {:<32} {:6.2f} % right, median {:6.2f} dB, least {:6.2f} dB, {:5.1f} s\n", row, q.points,
             q.median_db, q.worst_db, q.seconds);
  std::fflush(stdout);
}

void print_steps(const Graph& graph, const Data& data) {
  for (const char* step : {"none", "equalize", "bias", "rounding", "equalize, bias", "bias, rounding",
                           "tensor: bias, rounding", "tensor: equalize, bias, rounding", "4 bits: none",
                           "4 bits: bias, rounding", "4 bits: equalize, bias, rounding"}) {
    const std::string steps = step;
    const auto has = [&](const char* part) { return steps.find(part) != std::string::npos; };
    QuantizeOptions options;
    options.equalize = has("equalize");
    options.correct_bias = has("bias");
    options.reconstruct = has("rounding");
    options.per_channel = !has("tensor");
    if (has("4 bits")) options.weight_bits = 4;
    print(steps, measure(graph, data, options));
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
            measure(graph, data, plain(true)), measure(graph, data, {})};
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
