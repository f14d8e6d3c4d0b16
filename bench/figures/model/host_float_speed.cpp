// Processor time of one inference on one thread, batch 1: the host engine over ONNX Runtime, both after their
// own graph optimisations, interleaved in one run; the best of several rounds on each side, since the machine
// may be shared. A call from Node.js has a cost that is not ONNX Runtime's: that of a network of one Identity
// is subtracted. The outputs of both are compared. Ends with one JSON line.
//
//   host_float_speed [--quick] [--by-operator] [NETWORK...]
//
// TILEWRIGHT_OUTSIDE names the folder of real models, ONNXRUNTIME_NODE one where `npm install
// onnxruntime-node` ran.
// --by-operator: also where the time of one observed run goes, which takes the graph node by node.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <map>

#include "cpu_time.h"
#include "model/onnxruntime_worker.h"
#include "support/outside_testing.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"
#include "zoo/zoo.h"

namespace {

using namespace tilewright;

struct Network {
  const char* name;
  const char* file;                 // nullptr: of the zoo
  bool fill = false;                // weights by the LCG rule
  const char* dimension = nullptr;  // symbolic, becomes 1
};

constexpr Network kNetworks[] = {
    {"resnet50", "onnx_light_topologies/light_resnet50.onnx", true},
    {"vgg19", "onnx_light_topologies/light_vgg19.onnx", true},
    {"inception_v1", "onnx_light_topologies/light_inception_v1.onnx", true},
    {"alexnet", "onnx_light_topologies/light_bvlc_alexnet.onnx", true},
    {"squeezenet", "onnx_squeezenet10/squeezenet1.0_fp32.onnx"},
    {"squeezenet_f16", "onnx_squeezenet10/squeezenet1.0_fp16.onnx"},
    {"mobilenet_v2", "onnx_from_tflite/mobilenet_v2_1.0_224_fp32.onnx"},
    {"mobilenet_v1_025", "onnx_from_tflite/mobilenet_v1_0.25_128_fp32.onnx"},
    {"resnet8", "onnx_from_tflite/ic_resnet8_fp32.onnx"},
    {"vww", "onnx_from_tflite/vww_mobilenet_fp32.onnx"},
    {"kws_dscnn", "onnx_from_tflite/kws_dscnn_fp32.onnx"},
    {"ad_autoencoder", "onnx_from_tflite/ad_autoencoder_fp32.onnx"},
    {"kwt1", "tflite_kwt1/kwt1.tflite"},
    {"mnist", "onnx_mnist8/model.onnx"},
    {"super_resolution", "onnx_super_resolution10/model.onnx", false, "batch_size"},
    {"ultraface", "onnx_ultraface/ultraface_rfb320.onnx"},
    {"dcgan", "onnx_seeded/dcgan_generator_seeded.onnx"},
    {"fast_style", "onnx_seeded/fast_style_seeded_224.onnx"},
    {"resnet18", nullptr},
    {"mobilenet_v1", nullptr},
    {"yolo_silu", nullptr},
    {"u_net_transposed", nullptr},
    {"u_net_bilinear", nullptr},
    {"mobilenet_v3", nullptr},
    {"efficientnet", nullptr},
    {"mish_darknet", nullptr},
    {"densenet", nullptr},
    {"shufflenet_v2", nullptr},
    {"ghostnet", nullptr},
    {"resnext", nullptr},
    {"feature_pyramid", nullptr},
    {"convmixer", nullptr},
};

Graph load(const Network& network) {
  if (network.file == nullptr) return zoo::network(network.name).build({});
  LoadOptions options;
  if (network.dimension != nullptr) options.dimensions[network.dimension] = 1;
  Graph graph = load_model(outside_models() / network.file, options);
  if (!network.fill) return graph;
  return fill_lcg_weights(std::move(graph),
                          {lcg_gain_of(network.name).value_or(3), LcgOrder::kConstantOfShape});
}

// In processor time, which other work on the machine does not distort; best of a few runs.
void print_by_operator(const Executor& executor, const std::vector<Tensor>& inputs) {
  const Graph& graph = executor.graph();
  const std::vector<NodeId> producers = graph.producers();
  std::map<std::string, double> best;
  for (int run = 0; run < 3; ++run) {
    std::map<std::string, double> total;
    double last = cpu_seconds();
    executor.run(inputs, [&](ValueId id, const Tensor&) {
      const NodeId producer = producers[size_t(id)];
      const double now = cpu_seconds();
      if (producer != kNoNode) total[graph.nodes[size_t(producer)].op] += 1e3 * (now - last);
      last = cpu_seconds();
    });
    for (const auto& [op, ms] : total) best[op] = run == 0 ? ms : std::min(best[op], ms);
  }
  for (const auto& [op, ms] : best) fmt::print("    {:24} {:8.3f} ms\n", op, ms);
}

// The largest difference over the largest element.
double difference(const std::vector<Tensor>& ours, const std::vector<Tensor>& theirs) {
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    double largest = 1e-30, apart = 0;
    for (int64_t k = 0; k < ours[i].size(); ++k) {
      const double a = ours[i].number_at(k), b = theirs[i].number_at(k);
      largest = std::max(largest, std::abs(b));
      if (!(std::abs(a - b) <= apart)) apart = std::abs(a - b);
    }
    if (!(apart / largest <= worst)) worst = apart / largest;
  }
  return worst;
}

// The tests compare with stored outputs far more tightly. Style transfer amplifies rounding, f16 rounds.
double tolerance(const Graph& graph) {
  return graph.value(graph.outputs[0]).type == ElementType::kF16 ? 1e-2 : 2e-3;
}

struct Options {
  bool quick = false, by_operator = false;
  std::vector<std::string> names;
};

struct Result {
  double ours_ms = 0, theirs_ms = 0;
  double ratio() const { return ours_ms / theirs_ms; }
};

double call_overhead(figures::OnnxRuntimeWorker& worker) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{1});
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{1});
  graph.add_node("identity", "Identity", {x}, {y});
  graph.outputs = {y};
  worker.load(graph, {Tensor(ElementType::kF32, Shape{1})});
  double best = 1;
  for (int round = 0; round < 10; ++round) best = std::min(best, worker.run(500) / 500);
  return best;
}

Result measure(const Network& network, figures::OnnxRuntimeWorker& worker, double overhead,
               const Options& options) {
  const Graph graph = load(network);
  LcgStream stream(1);
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    inputs.push_back(lcg_input(graph.value(id).type, graph.value(id).shape, stream));
  }
  const Executor executor(host_form(graph), {1});
  const double apart = difference(executor.run(inputs), worker.load(graph, inputs));
  if (!(apart <= tolerance(graph))) {
    throw Error(ErrorKind::kInternal, fmt::format("{}: outputs differ by {:.2g}", network.name, apart));
  }
  const double once = std::max(1e-6, best_of(3, [&] { executor.run(inputs); }));
  const int count = int(std::clamp(0.03 / once, 1.0, 2000.0));
  const int rounds = options.quick ? 5 : 15;
  double ours = 1e30, theirs = 1e30;
  for (int round = 0; round < rounds; ++round) {
    theirs = std::min(theirs, worker.run(count) / count);
    ours = std::min(ours, cpu_seconds_of([&] {
                            for (int i = 0; i < count; ++i) executor.run(inputs);
                          }) / count);
  }
  const Result result{1e3 * ours, 1e3 * std::max(theirs - overhead, 1e-9)};
  fmt::print("{:18} {:9.3f} ms, ONNX Runtime {:9.3f} ms: {:5.2f}   (outputs within {:.1e})\n", network.name,
             result.ours_ms, result.theirs_ms, result.ratio(), apart);
  std::fflush(stdout);
  if (options.by_operator) print_by_operator(executor, inputs);
  return result;
}

void run_all(const Options& options) {
  const char* folder = std::getenv("ONNXRUNTIME_NODE");
  figures::OnnxRuntimeWorker worker(folder != nullptr ? folder : "");
  const double overhead = call_overhead(worker);
  fmt::print("a call from Node.js: {:.4f} ms, subtracted\n", 1e3 * overhead);
  nlohmann::json networks = nlohmann::json::object();
  std::vector<double> ratios;
  for (const Network& network : kNetworks) {
    if (!options.names.empty() && std::ranges::find(options.names, network.name) == options.names.end()) {
      continue;
    }
    const Result result = measure(network, worker, overhead, options);
    ratios.push_back(result.ratio());
    networks[network.name] = {{"ms", std::round(1e4 * result.ours_ms) / 1e4},
                              {"onnxruntime_ms", std::round(1e4 * result.theirs_ms) / 1e4},
                              {"ratio_to_onnxruntime", std::round(100 * result.ratio()) / 100}};
  }
  if (ratios.empty()) throw Error(ErrorKind::kInvalidInput, "no such network");
  std::ranges::sort(ratios);
  const double median = (ratios[(ratios.size() - 1) / 2] + ratios[ratios.size() / 2]) / 2;
  fmt::print(
      "{{\"figure\": \"host_float_speed\", \"count\": {}, \"median_ratio\": {:.2f}, \"worst_ratio\": {:.2f}, "
      "\"networks\": {}}}\n",
      ratios.size(), median, ratios.back(), networks.dump());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--by-operator") {
      options.by_operator = true;
    } else {
      options.names.push_back(argument);
    }
  }
  try {
    run_all(options);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
