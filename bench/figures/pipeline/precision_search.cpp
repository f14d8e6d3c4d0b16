// precision_search: bits per layer for half of the look-up tables that 8 bits need, at no more cycles, blocks
// or memories than with 8 bits everywhere: right answers on images that neither the ranges nor the choice
// have seen, before and after training at these bits. Beside it, at the same cost, the widest equal bits for
// everything, and bits taken from the layers of the most weights. Three points of a front go through Verilog.
// LeNet, the residual and the depthwise network on 10,000 Fashion-MNIST images; with TILEWRIGHT_OUTSIDE also
// ResNet-8 on 100 CIFAR-10 images and DS-CNN on 400 variants of two words. All on one device. Exits non-zero
// if a network loses more than a point.
//
// usage: precision_search [--quick] [--network NAME] [--front FILE] [--limits TEXT]
//   --quick: 1,000 Fashion-MNIST images, no Verilog; --front: the measured fronts as JSON;
//   --limits: others than lut=0.5, e.g. bram=0.5
#include "tilewright/flow/design/precision_search.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <fstream>

#include "model/quantiser_networks.h"
#include "pipeline/generated_designs.h"
#include "speech_features.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace {

using namespace tilewright;
using quantiser_figures::kThreads;
using synthesis::Resources;

std::string limits_text = "lut=0.5";
constexpr const char* kDevice = "xczu3eg";
constexpr double kMostLoss = 1;  // points
constexpr int64_t kCalibrationImages = 512;
constexpr size_t kVerilogImages = 2;

struct Labelled {
  std::vector<Tensor> samples;
  std::vector<int64_t> labels;
};

struct SearchedNetwork {
  std::string name;
  std::function<Graph()> load;
  std::function<Labelled()> calibration, test;
};

Labelled fashion(const std::string& part, int64_t count) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/" + part;
  return {{read_samples(sample_source(folder + "-images-idx3-ubyte.gz"), count, 1 / 255.0)
               .stack(ElementType::kF32, {1, 1, 28, 28})},
          read_samples(sample_source(folder + "-labels-idx1-ubyte.gz")).labels(count, 10, true)};
}

Labelled words(int variants, uint64_t seed) {
  std::vector<std::vector<float>> sounds;
  for (const char* sound : {"no", "yes", "silence", "noise"}) {
    sounds.push_back(
        read_sound(outside_models() / "tflite_micro_examples" / (std::string(sound) + "_1000ms.wav")));
  }
  const std::vector<float> noise = sounds[3];
  sounds.resize(2);
  const SpeechSamples samples = vary_sounds(sounds, noise, variants, seed);
  Labelled result{{samples.features}, {}};
  for (const int64_t source : samples.sources) result.labels.push_back(source == 0 ? 3 : 9);
  return result;
}

std::vector<SearchedNetwork> searched_networks(int64_t fashion_images) {
  std::vector<SearchedNetwork> list;
  for (const std::string name : {"lenet", "residual", "depthwise"}) {
    const std::filesystem::path file = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models" /
                                       (name + "-fashion") / (name + "_fashion.onnx");
    list.push_back({name + "_fashion", [file] { return load_model(file); },
                    [] { return fashion("train", kCalibrationImages); },
                    [=] { return fashion("t10k", fashion_images); }});
  }
  if (!std::filesystem::exists(outside_models())) return list;
  const auto file = [](const char* name) {
    return [name] { return load_model(outside_models() / "onnx_from_tflite" / name); };
  };
  list.push_back({"resnet8", file("ic_resnet8_fp32.onnx"),
                  [] {
                    const LabelledImages images = cifar10_jpeg(400, cifar10_lossless());
                    return Labelled{{images.images}, images.labels};
                  },
                  [] {
                    const LabelledImages images = cifar10_lossless();
                    return Labelled{{images.images}, images.labels};
                  }});
  list.push_back(
      {"dscnn", file("kws_dscnn_fp32.onnx"), [] { return words(100, 1); }, [] { return words(200, 2); }});
  return list;
}

double percent_equal(const std::vector<int64_t>& answers, const std::vector<int64_t>& expected) {
  int64_t equal = 0;
  for (size_t i = 0; i < answers.size(); ++i) equal += answers[i] == expected[i] ? 1 : 0;
  return 100 * double(equal) / double(answers.size());
}

PrecisionSearchRequest request_for(const Labelled& calibration) {
  PrecisionSearchRequest request;
  request.study.samples = calibration.samples;
  request.study.labels = calibration.labels;
  request.study.options.calibration.reset();
  request.study.options.weight_bits = request.study.options.activation_bits = 4;
  request.study.options.threads = kThreads;
  request.study.budget = pipeline::device_budget(figures::device(kDevice));
  request.limits = limits_text;
  request.study.sparing = spared_resource(limits_text);
  request.fine_tune->threads = kThreads;
  return request;
}

// Where a choice stands on the test data.
struct Tested {
  std::string bits;
  double right = 0, same = 0;  // same: answers as in float
  int64_t need = 0;            // of the resource that is spared
};

std::string bits_text(const PrecisionBits& bits) {
  return fmt::format("w {} a {}", fmt::join(bits.weights, ""), fmt::join(bits.activations, ""));
}

bool keeps(const PrecisionStudy& study, const PrecisionPoint& point, const PrecisionLimits& limits) {
  const Resources &need = point.estimate.resources, &have = limits.resources;
  return study.cycles(point.estimate) <= limits.cycles && need.lut <= have.lut && need.ff <= have.ff &&
         need.dsp <= have.dsp && need.bram <= have.bram && need.uram <= have.uram;
}

// The first of `choices`, which become narrower and narrower, that keeps the limits.
std::optional<PrecisionPoint> first_within(PrecisionStudy& study, const std::vector<PrecisionBits>& choices,
                                           const PrecisionSearchRequest& request,
                                           const PrecisionSearchResult& result) {
  pipeline::Budget budget = request.study.budget;
  budget.resources = result.reference.estimate.resources;
  for (const PrecisionBits& bits : choices) {
    const PrecisionPoint point = study.point(bits, budget, result.limits.cycles);
    if (keeps(study, point, result.limits)) return point;
  }
  return std::nullopt;
}

std::vector<PrecisionBits> uniform_choices(const PrecisionStudy& study) {
  std::vector<PrecisionBits> choices;
  for (int bits = 7; bits >= 2; --bits) choices.push_back(study.uniform(bits));
  return choices;
}

// From 8 bits on: weights and inputs of the layer whose weights take most bits lose one, again and again.
std::vector<PrecisionBits> choices_by_size(const PrecisionStudy& study) {
  std::vector<PrecisionBits> choices;
  PrecisionBits bits = study.uniform(8);
  for (;;) {
    std::optional<size_t> largest;
    for (size_t i = 0; i < study.layers(); ++i) {
      const auto size = [&](size_t l) { return study.layer_weights()[l] * bits.weights[l]; };
      if (bits.weights[i] > 2 && (!largest || size(i) > size(*largest))) largest = i;
    }
    if (!largest) return choices;
    const int lower = --bits.weights[*largest];
    const int input = study.input_class_of(*largest);
    if (input >= 0) bits.activations[size_t(input)] = std::min(bits.activations[size_t(input)], lower);
    choices.push_back(bits);
  }
}

struct Row {
  std::string name, front;
  int64_t images = 0, verilog_points = 0, mismatches = 0;
  double in_float = 0, eight = 0, loss = 0, ratio = 0, seconds = 0;
  Tested chosen, untrained, uniform, by_size;
  bool trained = false;  // the chosen one
  std::vector<Tested> points;
};

std::vector<std::vector<int32_t>> random_inputs_of(const pipeline::Network& network, size_t count) {
  const pipeline::NetworkTensor& input = network.tensors[size_t(network.input)];
  const int64_t half = int64_t{1} << (input.bits - 1);
  Random random(11);
  std::vector<std::vector<int32_t>> images(count, std::vector<int32_t>(size_t(input.shape.elements())));
  for (auto& image : images) {
    for (int32_t& value : image) value = int32_t(random.between(-half, half - 1));
  }
  return images;
}

// The design of a point, generated with its allocation, in Verilog: images that differ from the integer
// reference, or cycles that differ from the simulation's.
int64_t verilog_mismatches(const Graph& quantized, const PrecisionPoint& point) {
  GenerateRequest request;
  request.device = figures::device(kDevice);
  request.budget = pipeline::device_budget(request.device);
  request.allocation = point.allocation;
  const GeneratedDesign generated = generate(integerize(quantized), request);
  const figures::RtlComparison rtl = figures::run_verilog(
      generated, figures::memory_of(kDevice, ""), random_inputs_of(generated.network, kVerilogImages));
  fmt::print("  {} tables in Verilog: {} images, {} mismatches, {} cycles, {} the simulation's\n",
             point.estimate.resources.lut, rtl.images, rtl.mismatches, rtl.cycles,
             rtl.cycles_equal ? "equal to" : "NOT");
  std::fflush(stdout);
  return rtl.mismatches + (rtl.cycles_equal ? 0 : 1);
}

// The chosen point and, of the residual network, two others: the least of the front and the next.
void run_in_verilog(PrecisionStudy& study, const PrecisionSearchResult& result,
                    const SearchedNetwork& network, Row& row) {
  row.mismatches += verilog_mismatches(result.quantized, result.chosen);
  ++row.verilog_points;
  if (network.name != "residual_fashion") return;
  std::vector<PrecisionPoint> points, others = result.front;
  others.push_back(result.reference);
  for (const PrecisionPoint& other : others) {
    const bool there = std::any_of(points.begin(), points.end(),
                                   [&](const PrecisionPoint& point) { return point.bits == other.bits; });
    if (!there && other.bits != result.chosen.bits) points.push_back(other);
  }
  points.resize(std::min<size_t>(points.size(), 2));
  for (const PrecisionPoint& point : points) {
    row.mismatches += verilog_mismatches(study.quantize(point.bits), point);
    ++row.verilog_points;
  }
}

Row measure(const SearchedNetwork& network, bool verilog) {
  const Graph graph = optimize(network.load());
  const Labelled calibration = network.calibration(), test = network.test();
  const PrecisionSearchRequest request = request_for(calibration);
  const auto start = std::chrono::steady_clock::now();
  const PrecisionSearchResult result = search_precision(graph, request);
  Row row;
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  row.name = network.name;
  row.front = to_json(result);
  row.images = int64_t(test.labels.size());
  const std::vector<int64_t> float_answers = classify(graph, test.samples, kThreads);
  row.in_float = percent_equal(float_answers, test.labels);
  fmt::print("{}: {:.1f} s\n{}", network.name, row.seconds, to_string(result));
  PrecisionStudy study(graph, request.study);
  const auto tested_graph = [&](const Graph& quantized, const PrecisionPoint& point) {
    const std::vector<int64_t> answers = classify(integerize(quantized), test.samples, kThreads);
    return Tested{bits_text(point.bits), percent_equal(answers, test.labels),
                  percent_equal(answers, float_answers), point.estimate.resources.*result.resource};
  };
  const auto tested = [&](const PrecisionPoint& point) {
    return tested_graph(study.quantize(point.bits), point);
  };
  const Tested eight = tested(result.reference);
  row.eight = eight.right;
  row.chosen = tested_graph(result.quantized, result.chosen);
  row.untrained = tested(result.training.before);
  row.trained = result.training.kept;
  for (const PrecisionPoint& point : result.front) row.points.push_back(tested(point));
  if (const auto uniform = first_within(study, uniform_choices(study), request, result))
    row.uniform = tested(*uniform);
  if (const auto by_size = first_within(study, choices_by_size(study), request, result))
    row.by_size = tested(*by_size);
  row.loss = std::max(row.eight, row.in_float) - row.chosen.right;
  row.ratio = double(row.chosen.need) / double(result.reference.estimate.resources.*result.resource);
  fmt::print(
      "on {} images: float {:.2f} %, 8 bits {:.2f} %, chosen {:.2f} % ({:.1f} % of {}{}), without training "
      "{:.2f} % ({})\n",
      row.images, row.in_float, row.eight, row.chosen.right, 100 * row.ratio, resource_text(result.resource),
      row.trained ? ", trained" : "", row.untrained.right, row.untrained.need);
  fmt::print(
      "  answers as in float: 8 bits {:.2f} %, chosen {:.2f} %, equal bits {:.2f} %, by size {:.2f} %\n",
      eight.same, row.chosen.same, row.uniform.same, row.by_size.same);
  fmt::print("  equal bits {:.2f} % ({}: {}), by size {:.2f} % ({}: {})\n", row.uniform.right,
             row.uniform.bits, row.uniform.need, row.by_size.right, row.by_size.bits, row.by_size.need);
  for (const Tested& point : row.points)
    fmt::print("  {:>7}: {:.2f} %  {}\n", point.need, point.right, point.bits);
  std::fflush(stdout);
  if (verilog) run_in_verilog(study, result, network, row);
  return row;
}

std::string row_json(const Row& row) {
  std::string front;
  for (const Tested& point : row.points)
    front += fmt::format("{}[{}, {:.2f}]", front.empty() ? "" : ", ", point.need, point.right);
  return fmt::format(
      "\"{}\": {{\"images\": {}, \"float\": {:.2f}, \"eight_bits\": {:.2f}, \"chosen\": {:.2f}, "
      "\"untrained\": {:.2f}, \"trained\": {}, \"ratio\": {:.3f}, \"equal_bits\": {:.2f}, \"by_size\": "
      "{:.2f}, \"as_float\": {:.2f}, "
      "\"equal_bits_as_float\": {:.2f}, \"front\": [{}], "
      "\"seconds\": {:.1f}}}",
      row.name, row.images, row.in_float, row.eight, row.chosen.right, row.untrained.right, row.trained,
      row.ratio, row.uniform.right, row.by_size.right, row.chosen.same, row.uniform.same, front, row.seconds);
}

}  // namespace

int main(int argc, char** argv) try {
  int64_t images = 10000;
  std::string only, front_file;
  bool verilog = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) images = 1000, verilog = false;
    if (std::strcmp(argv[i], "--network") == 0 && i + 1 < argc) only = argv[++i];
    if (std::strcmp(argv[i], "--limits") == 0 && i + 1 < argc) limits_text = argv[++i];
    if (std::strcmp(argv[i], "--front") == 0 && i + 1 < argc) front_file = argv[++i];
  }
  double worst_ratio = 0;
  double worst_loss = -100;
  int64_t networks = 0;
  int64_t points = 0, mismatches = 0;
  std::string details, fronts;
  for (const SearchedNetwork& network : searched_networks(images)) {
    if (!only.empty() && network.name != only) continue;
    const Row row = measure(network, verilog);
    worst_loss = std::max(worst_loss, row.loss);
    ++networks;
    worst_ratio = std::max(worst_ratio, row.ratio);
    points += row.verilog_points;
    mismatches += row.mismatches;
    details += (details.empty() ? "" : ", ") + row_json(row);
    fronts += fmt::format("{}\"{}\": {}", fronts.empty() ? "" : ",\n", row.name, row.front);
  }
  if (networks == 0) throw Error(ErrorKind::kInvalidInput, "there is no such network");
  if (!front_file.empty()) std::ofstream(front_file) << "{" << fronts << "}\n";
  fmt::print(
      "{{\"figure\": \"precision_search\", \"networks\": {}, \"worst_loss_points\": {:.2f}, "
      "\"worst_lut_ratio\": {:.3f}, \"verilog_points\": {}, \"mismatches\": {}, \"per_network\": {{{}}}}}\n",
      networks, worst_loss, worst_ratio, points, mismatches, details);
  return mismatches == 0 && worst_ratio <= 0.5 && worst_loss <= kMostLoss ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "precision_search: %s\n", error.what());
  return 1;
}
