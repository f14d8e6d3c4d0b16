// Milliseconds per inference of the host engine on full-size networks, batch 1, with one and two threads: the
// best of several runs, since the machine may be shared. With --by-operator, where the processor time of one
// run goes. Ends with one JSON line. Set OMP_WAIT_POLICY=passive where cores are shared.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"

namespace {

using namespace tilewright;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Network {
  const char* name;
  const char* file;
  bool fill;  // weights by the LCG rule
};

constexpr Network kNetworks[] = {
    {"resnet50", "onnx_light_topologies/light_resnet50.onnx", true},
    {"vgg19", "onnx_light_topologies/light_vgg19.onnx", true},
    {"mobilenet_v2", "onnx_from_tflite/mobilenet_v2_1.0_224_fp32.onnx", false},
    {"squeezenet", "onnx_squeezenet10/squeezenet1.0_fp32.onnx", false},
    {"squeezenet_f16", "onnx_squeezenet10/squeezenet1.0_fp16.onnx", false},
};

// The constants of a filled network stay where they are: what ConstantOfShape nodes cost is not of interest.
Graph load(const Network& network) {
  Graph graph = read_onnx(outside_models() / network.file);
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
    std::clock_t last = std::clock();
    executor.run(inputs, [&](ValueId id, const Tensor&) {
      const NodeId producer = producers[size_t(id)];
      const std::clock_t now = std::clock();
      if (producer != kNoNode) {
        total[graph.nodes[size_t(producer)].op] += 1e3 * double(now - last) / CLOCKS_PER_SEC;
      }
      last = std::clock();
    });
    for (const auto& [op, ms] : total) best[op] = run == 0 ? ms : std::min(best[op], ms);
  }
  for (const auto& [op, ms] : best) fmt::print("    {:24} {:8.2f} ms\n", op, ms);
}

void measure(bool by_operator, double budget_ms) {
  std::string fields;
  for (const Network& network : kNetworks) {
    const Graph graph = load(network);
    LcgStream stream(1);
    const Value& value = graph.value(graph.inputs[0]);
    const std::vector<Tensor> inputs = {lcg_input(value.type, value.shape, stream)};
    for (const int threads : {1, 2}) {
      const Clock::time_point prepare = Clock::now();
      const Executor executor(graph, {threads});
      const double prepare_ms = milliseconds_since(prepare);
      double best_ms = 1e300;
      const Clock::time_point start = Clock::now();
      for (int run = 0; run < 50 && (run < 3 || milliseconds_since(start) < budget_ms); ++run) {
        const Clock::time_point begin = Clock::now();
        executor.run(inputs);
        best_ms = std::min(best_ms, milliseconds_since(begin));
      }
      fmt::print("{:16} {} threads: prepare {:7.1f} ms, run {:7.2f} ms\n", network.name, threads, prepare_ms,
                 best_ms);
      fields += fmt::format(", \"{}_{}_threads_ms\": {:.2f}", network.name, threads, best_ms);
      if (by_operator) print_by_operator(executor, inputs);
    }
  }
  fmt::print("{{\"figure\": \"host_float_speed\"{}}}\n", fields);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto given = [&](const char* option) {
      return std::any_of(argv + 1, argv + argc, [&](const char* a) { return std::strcmp(a, option) == 0; });
    };
    measure(given("--by-operator"), given("--quick") ? 150 : 1500);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
