// Every distinct layer of seven networks on hardware/arch-unified.yaml, least energy and then least cycles,
// perfect factors, no dataflow constraint (the register files keep all three tensors): proofs on two threads,
// one layer each. AlexNet, ResNet-18, ResNet-50 and MobileNet v2 come from model files, VGG-16 from that of
// VGG-19 (the same shapes in fewer repetitions), MobileNet v1 and a transformer block from the tables below.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/layers/node_workload.h"
#include "tilewright/spatial/lattice/lattice_solver.h"
#include "tilewright/spatial/network/network.h"

namespace {

using namespace tilewright;

constexpr int kThreads = 2;

struct Model {
  const char* name;
  const char* file;
};

constexpr Model kModels[] = {{"AlexNet", "onnx_light_topologies/light_bvlc_alexnet.onnx"},
                             {"ResNet-18", "onnx_shape_only/resnet18_noweights.onnx"},
                             {"ResNet-50", "onnx_light_topologies/light_resnet50.onnx"},
                             {"MobileNet v2", "onnx_shape_only/mobilenetv2_noweights.onnx"},
                             {"VGG-16", "onnx_light_topologies/light_vgg19.onnx"}};

void add_model(const char* name, const std::filesystem::path& path, WorkloadNetwork& network) {
  OnnxOptions options;
  options.dimensions["batch_size"] = 1;
  options.allow_missing_weights = true;
  const Graph graph = read_onnx(path, options);
  Diagnostics unmapped;
  for (const Node& node : graph.nodes) {
    std::optional<Workload> workload = node_workload(graph, node, unmapped);
    if (!workload) continue;
    network.add(std::string(name) + " " + node.name, node.op, std::move(*workload));
  }
}

WindowAxis same_axis(int64_t input, int64_t kernel, int64_t stride) {
  WindowAxis axis;
  axis.input = input, axis.kernel = kernel, axis.stride = stride;
  axis.output = (input + stride - 1) / stride;
  const int64_t pad = std::max<int64_t>(0, (axis.output - 1) * stride + kernel - input);
  axis.pad_begin = pad / 2, axis.pad_end = pad - pad / 2;
  return axis;
}

// Depthwise 3x3 and pointwise convolution, in turn: input size, channels, stride, output channels.
constexpr int64_t kMobileNet[][4] = {{112, 32, 1, 64},  {112, 64, 2, 128},  {56, 128, 1, 128},
                                     {56, 128, 2, 256}, {28, 256, 1, 256},  {28, 256, 2, 512},
                                     {14, 512, 1, 512}, {14, 512, 2, 1024}, {7, 1024, 1, 1024}};

void add_mobilenet(WorkloadNetwork& network) {
  const auto convolution = [&](int64_t size, int64_t inputs, int64_t outputs, int64_t kernel,
                               int64_t stride) {
    ConvShape shape;
    shape.input_channels = inputs, shape.output_channels = outputs;
    shape.height = shape.width = same_axis(size, kernel, stride);
    return shape;
  };
  network.add("mobilenet_v1_conv1", "Conv", conv2d_workload("conv1", convolution(224, 3, 32, 3, 2)));
  for (const auto& [size, channels, stride, outputs] : kMobileNet) {
    const std::string name = "mobilenet_v1_" + std::to_string(size) + "_" + std::to_string(channels);
    const ConvShape depthwise = convolution(size, channels, channels, 3, stride);
    const ConvShape pointwise = convolution((size + stride - 1) / stride, channels, outputs, 1, 1);
    network.add(name + "_dw", "Conv", depthwise_workload(name, depthwise));
    network.add(name + "_pw", "Conv", conv2d_workload(name, pointwise));
  }
  network.add("mobilenet_v1_fc", "Gemm", dense_workload("fc", 1, 1024, 1000));
}

// Width 768, 12 heads of 64, sequences of 128, inner width 3072. The projections of queries, keys, values and
// outputs have one shape.
void add_transformer_block(WorkloadNetwork& network) {
  network.add("transformer_projection", "MatMul", matmul_workload("projection", 128, 768, 768));
  network.add("transformer_scores", "MatMul", batched_matmul_workload("scores", 12, 128, 128, 64, false));
  network.add("transformer_mix", "MatMul", batched_matmul_workload("mix", 12, 128, 64, 128, false));
  network.add("transformer_up", "MatMul", matmul_workload("up", 128, 3072, 768));
  network.add("transformer_down", "MatMul", matmul_workload("down", 128, 768, 3072));
}

struct Outcome {
  MapResult result;
  bool taken = false;
};

// Layers in their order, each on the first free thread.
std::vector<Outcome> prove(const std::vector<Workload>& shapes, const Mapspace& machine) {
  std::vector<Outcome> outcomes(shapes.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < shapes.size(); i = next++) {
      Mapspace mapspace = machine;
      mapspace.workload = shapes[i];
      MapperOptions options;
      options.rules = kTimeloopRules;
      std::optional<MapResult> result = solve_on_lattice(mapspace, options);
      outcomes[i].taken = result.has_value();
      if (result) outcomes[i].result = std::move(*result);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < kThreads; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace

int main() {
  WorkloadNetwork network;
  for (const Model& model : kModels) {
    const std::filesystem::path path = outside_models() / model.file;
    if (!std::filesystem::exists(path)) {
      std::fprintf(stderr, "missing: %s\n", path.c_str());
      return 1;
    }
    const size_t before = network.shapes.size();
    add_model(model.name, path, network);
    std::printf("%s: %zu new shapes\n", model.name, network.shapes.size() - before);
  }
  add_mobilenet(network);
  add_transformer_block(network);
  Mapspace machine;
  machine.hardware = read_array_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/arch-unified.yaml");
  machine.constraints.resize(machine.hardware.levels.size());
  machine.constraints.back().must_keep = 7;

  const auto start = std::chrono::steady_clock::now();
  const std::vector<Outcome> outcomes = prove(network.shapes, machine);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  int unproven = 0;
  double slowest = 0, mapspace_total = 0;
  int64_t nodes = 0, pruned = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    const MapResult& result = outcome.result;
    unproven += !outcome.taken || result.status != MapStatus::kOptimal || result.gap() > 0 ? 1 : 0;
    slowest = std::max(slowest, result.seconds);
    mapspace_total += result.mapspace_size;
    nodes += result.nodes, pruned += result.pruned;
    const double operations = double(network.shapes[i].operation_count());
    std::printf("%-40s %9.4f per MAC  util. %.3f  %8.1f ms  %9lld nodes  of %.1e mappings\n",
                network.shapes[i].name.c_str(), result.value / operations, result.cost.utilisation,
                1e3 * result.seconds, static_cast<long long>(result.nodes), result.mapspace_size);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"figure\": \"network_proofs\", \"layers\": %zu, \"unproven\": %d, \"seconds\": %.2f, "
      "\"slowest_layer_s\": %.3f, \"threads\": %d, \"nodes\": %lld, \"pruned\": %lld, \"mapspace\": %.3e, "
      "\"peak_mib\": %.0f}\n",
      outcomes.size(), unproven, seconds, slowest, kThreads, static_cast<long long>(nodes),
      static_cast<long long>(pruned), mapspace_total, double(usage.ru_maxrss) / 1024);
  return outcomes.empty() || unproven > 0 ? 1 : 0;
}
