// zoo_bit_exact: every ONNX model of the standard domain with a stored output.
//
// Host: the stored output is reproduced, max|a-b| <= tolerance * max|b| with 1e-4 in f32 and 2e-3 in f16;
// models in QDQ form bit for bit; the nine golden layers of Frontnet exactly. Overlay: every model is
// quantised (power-of-two for the plain instruction set, real scales for the wide one; QDQ models as they
// are, on the wide one), compiled, run on the functional simulator, and every output compared bit for bit
// with the integer reference.
//
// usage: zoo_bit_exact [--quick]     --quick: the models below 100 M multiply-accumulates
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/frontend/onnx/proto/onnx_tensor.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace {

using namespace tilewright;

const std::filesystem::path kModels = outside_models();

struct ZooModel {
  std::string name;   // file below the models folder, without .onnx
  double gain = 0;    // weight-less: filled with this gain
  std::string input;  // "": the LCG input
  std::vector<std::string> outputs;
  double tolerance = 1e-4;
};

ZooModel plain(const std::string& name, double tolerance = 1e-4) {
  return {name, 0, name + ".ref.in0.npy", {name + ".ref.out0.npy"}, tolerance};
}

ZooModel light(const std::string& network, double gain) {
  const std::string name = "onnx_light_topologies/light_" + network;
  return {name, gain, name + ".lcg.ref.in0.npy", {name + ".lcg.ref.out0.npy"}};
}

// The file as it is; its output is uniform. The overlay part fills it.
ZooModel unfilled(const std::string& network) {
  const std::string name = "onnx_light_topologies/light_" + network;
  return {name, 0, "", {name + "_output_0.pb"}};
}

std::vector<ZooModel> zoo() {
  std::vector<ZooModel> models;
  for (const char* network : {"ad_autoencoder", "ic_resnet8", "kws_dscnn", "mobilenet_v1_0.25_128",
                              "mobilenet_v2_1.0_224", "vww_mobilenet"}) {
    models.push_back(plain(std::string("onnx_from_tflite/") + network + "_fp32"));
    models.push_back(plain(std::string("onnx_from_tflite/") + network + "_qdq", 0));
  }
  models.push_back(plain("onnx_mnist8/model"));
  models.push_back(plain("onnx_squeezenet10/squeezenet1.0_fp16", 2e-3));
  models.push_back(plain("onnx_squeezenet10/squeezenet1.0_fp32"));
  models.push_back(plain("onnx_super_resolution10/model"));
  models.push_back(plain("onnx_ultraface/ultraface_rfb320"));
  models.back().outputs.push_back("onnx_ultraface/ultraface_rfb320.ref.out1.npy");
  models.push_back(plain("onnx_seeded/dcgan_generator_seeded"));
  models.push_back(plain("onnx_seeded/fast_style_seeded_224"));
  models.push_back({"onnx_shape_only/resnet18_noweights",
                    3,
                    "onnx_shape_only/resnet18.lcg.ref.in0.npy",
                    {"onnx_shape_only/resnet18.lcg.ref.out0.npy"}});
  models.push_back(light("resnet50", 3));
  models.push_back(light("squeezenet", 6));
  models.push_back(light("inception_v1", 6));
  for (const char* network : {"bvlc_alexnet", "inception_v1", "resnet50", "squeezenet", "vgg19"}) {
    models.push_back(unfilled(network));
  }
  models.push_back(
      {"dory_frontnet/Frontnet", 0, "dory_frontnet/input.txt", {"dory_frontnet/out_layer8.txt"}, 0});
  return models;
}

// Frontnet's text files: a comment line, then one number and a comma per line; one channel, so HWC is CHW.
Tensor read_text_tensor(const std::filesystem::path& path, const Shape& shape) {
  std::istringstream lines(read_text_file(path));
  Tensor tensor(ElementType::kF32, shape);
  int64_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#' && count < tensor.size()) tensor.set_number(count++, std::stod(line));
  }
  if (count != tensor.size()) throw Error(ErrorKind::kInvalidInput, "too few numbers in " + path.string());
  return tensor;
}

Tensor read_tensor(const std::string& file, const Shape& shape) {
  const std::filesystem::path path = kModels / file;
  if (path.extension() == ".txt") return read_text_tensor(path, shape);
  return path.extension() == ".npy" ? read_npy(path) : parse_onnx_tensor(read_file(path));
}

// max|a - b| / max|b|.
double relative_error(const Tensor& a, const Tensor& b) {
  if (a.size() != b.size() || a.size() == 0) return INFINITY;
  double difference = 0, magnitude = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a.number_at(i))) return INFINITY;
    difference = std::max(difference, std::abs(a.number_at(i) - b.number_at(i)));
    magnitude = std::max(magnitude, std::abs(b.number_at(i)));
  }
  return magnitude == 0 ? difference : difference / magnitude;
}

struct Totals {
  int models = 0, float_failures = 0, integer_mismatches = 0, overlay_runs = 0;
  double min_share = 1;
};

// The golden values of Frontnet are four outputs of one number each, in one file.
double output_error(const ZooModel& model, const std::vector<Tensor>& outputs) {
  if (model.outputs.size() == 1 && outputs.size() > 1) {
    Tensor all(ElementType::kF32, Shape{int64_t(outputs.size())});
    for (size_t i = 0; i < outputs.size(); ++i) all.set_number(int64_t(i), outputs[i].number_at(0));
    return relative_error(all, read_tensor(model.outputs[0], all.shape()));
  }
  double worst = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    worst = std::max(worst, relative_error(outputs[i], read_tensor(model.outputs.at(i), outputs[i].shape())));
  }
  return worst;
}

bool is_qdq(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.is("DequantizeLinear"); });
}

void run_on_overlay(const Graph& integer, const std::string& hardware_name, const Tensor& input,
                    Totals& totals) {
  const OverlayHardware hardware =
      find_overlay_hardware(hardware_name, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  const Compilation compilation = compile(integer, hardware);
  const LayerTable table = layer_table(compilation);
  // Through the bytes of the bundle, as a user would.
  const Bundle bundle = parse_bundle(format_bundle(compilation.bundle));
  Session functional(std::make_shared<const Engine>(bundle, Execution::kAsPlaced));
  Session reference(std::make_shared<const Engine>(bundle, Execution::kOnHost));
  const std::vector<Tensor> outputs = functional.run({input}), expected = reference.run({input});
  int mismatches = 0;
  for (size_t i = 0; i < outputs.size(); ++i) mismatches += !outputs[i].identical(expected[i]);
  totals.integer_mismatches += mismatches;
  ++totals.overlay_runs;
  if (table.total_macs > 0) totals.min_share = std::min(totals.min_share, table.overlay_mac_share());
  std::printf("    %-14s %s, %.2f %% of the MACs on the overlay\n", hardware_name.c_str(),
              mismatches == 0 ? "bit-identical" : "DIFFERENT", 100 * table.overlay_mac_share());
}

void examine(const ZooModel& model, bool quick, Totals& totals) {
  LoadOptions options;
  options.dimensions["batch_size"] = 1;
  options.fill_gain = model.gain;
  const std::filesystem::path path = kModels / (model.name + ".onnx");
  Graph graph = load_model(path, options);
  if (quick && statistics(graph).total.macs > 100'000'000) return;
  const Value& declared = graph.value(graph.inputs[0]);
  LcgStream stream(1);
  const Tensor input = model.input.empty() ? lcg_input(declared.type, declared.shape, stream)
                                           : read_tensor(model.input, declared.shape);
  ++totals.models;
  // Frontnet counts on exact float arithmetic, so it runs as it is.
  const Graph on_host = model.tolerance == 0 && !is_qdq(graph) ? graph : host_form(graph);
  const double error = output_error(model, Executor(on_host, {2}).run({input}));
  const bool failed = !(error <= model.tolerance);
  totals.float_failures += failed;
  std::printf("%-48s host: error %.2g, allowed %.2g%s\n", model.name.c_str(), error, model.tolerance,
              failed ? "  FAILED" : "");
  std::fflush(stdout);
  if (is_qdq(graph)) {
    run_on_overlay(integerize(optimize(graph)), "overlay-16x16", input, totals);
    return;
  }
  if (model.input.empty()) {  // constant weights would be a poor test of the overlay
    options.fill_gain = lcg_gain_of(model.name).value_or(6);
    graph = load_model(path, options);
  }
  graph = optimize(graph);
  for (const bool plain_vta : {false, true}) {
    QuantizeOptions quantization;
    quantization.scales = plain_vta ? ScaleKind::kPowerOfTwo : ScaleKind::kReal;
    quantization.threads = 2;
    run_on_overlay(integerize(quantize(graph, {input}, quantization)),
                   plain_vta ? "vta-default" : "overlay-16x16", input, totals);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  Totals totals;
  int missing = 0;
  for (const ZooModel& model : zoo()) {
    try {
      examine(model, quick, totals);
    } catch (const Error& error) {
      std::printf("%s: %s\n", model.name.c_str(), error.what());
      ++missing;
    }
  }
  std::printf(
      "{\"figure\": \"zoo_bit_exact\", \"models\": %d, \"float_failures\": %d, \"integer_mismatches\": %d, "
      "\"min_overlay_mac_share\": %.4f, \"overlay_runs\": %d, \"not_examined\": %d, \"quick\": %s}\n",
      totals.models, totals.float_failures, totals.integer_mismatches, totals.min_share, totals.overlay_runs,
      missing, quick ? "true" : "false");
  return missing > 0 || totals.models == 0 || totals.integer_mismatches > 0 ? 1 : 0;
}
