// Networks of the field and random ones on seven devices, for both objectives and all forms, through the
// whole of `generate`: what is refused without a proof that a resource is short, an objective that the other
// one beats, a form that `auto` should have taken, a part of a device whose design beats that of the whole,
// and how far the estimates of cycles lie from the simulations.
//
//   generate_matrix [--quick] [--random N] [--first I] [--seed S] [--only NETWORK|random]
//
// --random N (300): random networks on random budgets after the matrix. --quick: four small networks, 20
// random ones; --first I (0): the random ones from number I on.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>

#include "generated_designs.h"
#include "pipeline/pipeline_designs/generator_case.h"
#include "pipeline_networks.h"
#include "tilewright/base/random.h"
#include "zoo/network_builder.h"

using namespace tilewright;

namespace {

constexpr pipeline::Objective kObjectives[] = {pipeline::Objective::kLatency,
                                               pipeline::Objective::kThroughput};
constexpr const char* kForms[] = {"auto", "streaming", "processors"};
constexpr const char* kObjectiveNames[] = {"latency", "throughput"};
constexpr double kParts[] = {1, 0.5, 0.25};  // of a device

struct Options {
  int64_t random = 300, first = 0;
  uint64_t seed = 1;
  bool quick = false;
  std::string only;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) options.quick = true, options.random = 20;
    if (i + 1 == argc) continue;
    if (std::strcmp(argv[i], "--random") == 0) options.random = std::stoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--first") == 0) options.first = std::stoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) options.seed = std::stoull(argv[i + 1]);
    if (std::strcmp(argv[i], "--only") == 0) options.only = argv[i + 1];
  }
  return options;
}

struct Outcome {
  bool found = false, streaming = false, proven = false;
  std::string refusal;
  int64_t cycles = 0, interval = 0;  // simulated
  double error = 0;                  // of the estimate of the objective's cycles, as a share
  int64_t value(pipeline::Objective objective) const {
    return objective == pipeline::Objective::kLatency ? cycles : interval;
  }
};

struct Counts {
  int64_t designs = 0, refused = 0, by_mistake = 0, worse_objective = 0, worse_form = 0, slower_with_more = 0,
          bounds_missed = 0;
  double worst_error = 0;
  std::vector<double> errors;

  void print(const char* what, const std::string& text) const {
    std::printf("  %s: %s\n", what, text.c_str());
  }
};

Outcome run(const Graph& graph, const Device& device, const pipeline::Budget& budget, const char* form,
            pipeline::Objective objective, Counts& counts) {
  GenerateRequest request;
  request.device = device;
  request.budget = budget;
  request.objective = objective;
  request.allocate.streaming = std::strcmp(form, "processors") != 0;
  request.allocate.processors = std::strcmp(form, "streaming") != 0;
  Outcome outcome;
  try {
    const GeneratedDesign made = generate(graph, request);
    outcome.found = true;
    outcome.streaming = made.allocated.allocation.streaming;
    outcome.cycles = int64_t(made.simulation->cycles);
    outcome.interval = made.report.interval();
    const auto& estimate = made.allocated.estimate;
    const bool latency = objective == pipeline::Objective::kLatency;
    const double guess = double(latency ? estimate.latency_cycles : estimate.interval_cycles);
    outcome.error = std::abs(guess / double(outcome.value(objective)) - 1);
    ++counts.designs;
    counts.errors.push_back(outcome.error);
    counts.worst_error = std::max(counts.worst_error, outcome.error);
    if (outcome.error > 0.05) {
      counts.print("OFF", fmt::format("{} {} {}: estimated {}, simulated {}", made.network.name, device.name,
                                      form, guess, outcome.value(objective)));
    }
  } catch (const Error& error) {
    outcome.refusal = error.what();
    outcome.proven = outcome.refusal.find("any design needs ") != std::string::npos ||
                     outcome.refusal.find("no design fits: ") != std::string::npos ||
                     (error.kind() == ErrorKind::kUnsupported && std::strcmp(form, "streaming") == 0);
    ++counts.refused;
    counts.by_mistake += outcome.proven ? 0 : 1;
  }
  return outcome;
}

pipeline::Budget part_of(pipeline::Budget budget, double part) {
  for (int64_t* field : {&budget.resources.lut, &budget.resources.ff, &budget.resources.dsp,
                         &budget.resources.bram, &budget.resources.uram})
    *field = int64_t(double(*field) * part);
  return budget;
}

using Cell = std::map<std::string, Outcome>;  // by form and objective

std::string line_of(const Outcome& o, pipeline::Objective objective) {
  if (!o.found) return o.proven ? "does not fit" : "REFUSED";
  return fmt::format("{}{} ({:.1f} %)", o.value(objective), o.streaming ? "s" : "p", 100 * o.error);
}

// What should hold between the outcomes of one network on one budget.
void compare(const std::string& where, const Cell& cell, Counts& counts) {
  for (const char* form : kForms) {
    const auto latency = cell.find(std::string(form) + " latency"),
               throughput = cell.find(std::string(form) + " throughput");
    if (latency == cell.end() || throughput == cell.end()) continue;
    const Outcome &a = latency->second, &b = throughput->second;
    if (a.found != b.found || (a.found && (a.cycles > b.cycles || b.interval > a.interval))) {
      ++counts.worse_objective;
      counts.print("WORSE OBJECTIVE", fmt::format("{} {}: latency {} every {}, throughput {} every {}", where,
                                                  form, a.cycles, a.interval, b.cycles, b.interval));
    }
  }
  for (const size_t o : {0, 1}) {
    const auto whole = cell.find(std::string("auto ") + kObjectiveNames[o]);
    if (whole == cell.end()) continue;
    for (const char* form : {"streaming", "processors"}) {
      const auto one = cell.find(std::string(form) + " " + kObjectiveNames[o]);
      if (one == cell.end() || !one->second.found) continue;
      const bool better =
          !whole->second.found || one->second.value(kObjectives[o]) < whole->second.value(kObjectives[o]);
      if (!better) continue;
      ++counts.worse_form;
      counts.print("WORSE FORM", fmt::format("{} {}: auto {}, {} {}", where, kObjectiveNames[o],
                                             line_of(whole->second, kObjectives[o]), form,
                                             line_of(one->second, kObjectives[o])));
    }
  }
}

// `more` has at least as much of everything as `less`.
void compare_sizes(const std::string& where, const Outcome& less, const Outcome& more,
                   pipeline::Objective objective, Counts& counts) {
  if (!less.found) return;
  if (more.found && more.value(objective) <= less.value(objective)) return;
  ++counts.slower_with_more;
  counts.print("SLOWER WITH MORE",
               fmt::format("{} {}: {} before, {} with more", where, kObjectiveNames[size_t(objective)],
                           line_of(less, objective), line_of(more, objective)));
}

struct MatrixNetwork {
  std::string name;
  bool small = false;
  std::function<Graph()> graph;
  std::map<std::string, int64_t> bounds = {};  // by device: cycles between images
};

Graph quantised(const Graph& model) { return hardware_form(model, {}, {zoo::seeded_input(model)}, 2); }

// Jet tagging's shape: 16 features, 64, 32 and 32 neurons, 5 classes.
Graph jet_network() {
  zoo::NetworkBuilder b("jet_mlp");
  ValueId x = b.input("features", Shape{1, 16});
  for (const int64_t width : {64, 32, 32}) x = b.relu(b.dense(x, width));
  return b.finish(b.dense(x, 5), 2);
}

std::vector<MatrixNetwork> networks() {
  const std::filesystem::path models = outside_models();
  const auto stored = [&](const char* name, double gain = 0) {
    return [path = models / name, gain] {
      LoadOptions options;
      options.fill_gain = gain;
      return load_model(path, options);
    };
  };
  const auto ready = [&](const char* name) {
    return [load = stored(name)] { return hardware_form(load(), {}, {}, 2); };
  };
  const auto calibrated = [&](std::function<Graph()> load) {
    return [load = std::move(load)] { return quantised(load()); };
  };
  return {
      {"anomaly", true, ready("tflite_mlperf_tiny/ad_autoencoder_int8.tflite"), {{"xc7z020", 634}}},
      {"image",
       true,
       ready("tflite_mlperf_tiny/ic_resnet8_int8.tflite"),
       {{"xczu3eg", 16600}, {"xc7z020", 30000}}},
      {"keywords", true, ready("tflite_mlperf_tiny/kws_dscnn_int8.tflite"), {{"xc7z020", 8314}}},
      {"wake", false, ready("tflite_mlperf_tiny/vww_mobilenet_int8.tflite"), {{"xc7z020", 20737}}},
      {"lenet", true, calibrated(stored("tf_lenet/lenet.pb"))},
      {"cifar", false, calibrated([] { return zoo::cifar10_tutorial({}); })},
      {"tfc_1w1a", true, ready("qonnx_tfc/TFC_1W1A.onnx")},
      {"tfc_2w2a", true, ready("qonnx_tfc/TFC_2W2A.onnx")},
      {"jet", true, calibrated(jet_network)},
      {"peer_kws_w3a3", false, ready("qonnx_peers/mlperf_kws_w3a3.onnx")},
      {"peer_resnet8", false, ready("qonnx_peers/nn2fpga_resnet8.onnx")},
      {"resnet50", false, calibrated(stored("tf_resnet50_official/saved_model.pb", 3))},
  };
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void on_device(const MatrixNetwork& network, const Graph& graph, const char* name, Counts& counts) {
  const Device device = figures::device(name);
  const pipeline::Budget whole = pipeline::device_budget(device);
  const double begin = seconds_now();
  std::map<double, Cell> cells;  // by part of the device
  std::string refusal;
  for (const double part : kParts) {
    for (const char* form : kForms) {
      if (part < 1 && std::strcmp(form, "auto") != 0) continue;
      for (const pipeline::Objective objective : kObjectives) {
        const std::string key = std::string(form) + " " + kObjectiveNames[size_t(objective)];
        cells[part][key] = run(graph, device, part_of(whole, part), form, objective, counts);
        const Outcome& own = cells[part][key];
        if (!own.found && !own.proven) refusal = own.refusal;
      }
    }
    compare(fmt::format("{} {} x {}", network.name, name, part), cells[part], counts);
  }
  for (const size_t o : {0, 1}) {
    const std::string key = std::string("auto ") + kObjectiveNames[o];
    for (size_t p = 1; p < std::size(kParts); ++p)
      compare_sizes(fmt::format("{} {} x {}", network.name, name, kParts[p]), cells[kParts[p]][key],
                    cells[kParts[p - 1]][key], kObjectives[o], counts);
  }
  const Outcome &latency = cells[1]["auto latency"], &throughput = cells[1]["auto throughput"];
  const auto bound = network.bounds.find(name);
  const bool missed =
      bound != network.bounds.end() && (!throughput.found || throughput.interval > bound->second);
  counts.bounds_missed += missed ? 1 : 0;
  std::printf("%-14s %-11s latency %-22s throughput %-22s half %-20s quarter %-20s %5.1f s%s\n",
              network.name.c_str(), name, line_of(latency, kObjectives[0]).c_str(),
              line_of(throughput, kObjectives[1]).c_str(),
              line_of(cells[0.5]["auto latency"], kObjectives[0]).c_str(),
              line_of(cells[0.25]["auto latency"], kObjectives[0]).c_str(), seconds_now() - begin,
              missed ? fmt::format(" ABOVE {}", bound->second).c_str() : "");
  if (!refusal.empty()) counts.print("REFUSED", refusal);
  std::fflush(stdout);
}

// A random network on a random part of a random device, and on more of some resources.
void random_case(uint64_t seed, Counts& counts) {
  Random random(seed);
  Graph graph = pipeline::drawn_graph(seed);
  try {
    pipeline::extract_network(graph);
  } catch (const Error&) {
    return;
  }
  const char* const name =
      pipeline::kGeneratorDevices[size_t(random.between(0, std::ssize(pipeline::kGeneratorDevices) - 1))];
  const Device device = figures::device(name);
  pipeline::Budget small = pipeline::device_budget(device), large = small;
  for (int64_t synthesis::Resources::*field :
       {&synthesis::Resources::lut, &synthesis::Resources::ff, &synthesis::Resources::dsp,
        &synthesis::Resources::bram, &synthesis::Resources::uram}) {
    const double part = 0.1 + 0.9 * random.uniform();
    small.resources.*field = int64_t(double(large.resources.*field) * part);
    large.resources.*field = int64_t(double(large.resources.*field) *
                                     (random.chance(0.5) ? part : part + (1 - part) * random.uniform()));
  }
  Cell cell;
  for (const pipeline::Objective objective : kObjectives) {
    const std::string where = fmt::format("random {} {}", seed, name);
    const Outcome less = run(graph, device, small, "auto", objective, counts),
                  more = run(graph, device, large, "auto", objective, counts);
    compare_sizes(where, less, more, objective, counts);
    if (!less.found && !less.proven) counts.print("REFUSED", where + ": " + less.refusal);
    cell[std::string("auto ") + kObjectiveNames[size_t(objective)]] = less;
  }
  compare(fmt::format("random {} {}", seed, name), cell, counts);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[size_t(share * double(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  Counts matrix, drawn;
  for (const MatrixNetwork& network : networks()) {
    if (!options.only.empty() && network.name != options.only) continue;
    if (options.quick && options.only.empty() && !network.small) continue;
    const Graph graph = network.graph();
    for (const char* device : pipeline::kGeneratorDevices) on_device(network, graph, device, matrix);
  }
  if (options.only.empty() || options.only == "random") {
    std::printf("random networks, seed %llu\n", (unsigned long long)options.seed);
    for (int64_t i = options.first; i < options.first + options.random; ++i) {
      random_case(options.seed * 100'000 + uint64_t(i), drawn);
      std::fflush(stdout);
    }
  }
  const auto sum = [&](int64_t Counts::*field) { return (long long)(matrix.*field + drawn.*field); };
  std::printf(
      "{\"figure\": \"generate_matrix\", \"designs\": %lld, \"refused\": %lld, \"refused_by_mistake\": %lld, "
      "\"latency_worse_than_throughput\": %lld, \"auto_worse_than_form\": %lld, \"slower_with_more\": %lld, "
      "\"estimate_worst_cycles\": %.4f, \"estimate_p90_cycles\": %.4f, \"random_worst_cycles\": %.4f, "
      "\"random_p90_cycles\": %.4f, \"bounds_missed\": %lld}\n",
      sum(&Counts::designs), sum(&Counts::refused), sum(&Counts::by_mistake), sum(&Counts::worse_objective),
      sum(&Counts::worse_form), sum(&Counts::slower_with_more), matrix.worst_error,
      percentile(matrix.errors, 0.9), drawn.worst_error, percentile(drawn.errors, 0.9),
      sum(&Counts::bounds_missed));
  const int64_t failures = sum(&Counts::by_mistake) + sum(&Counts::worse_objective) +
                           sum(&Counts::worse_form) + sum(&Counts::slower_with_more) +
                           sum(&Counts::bounds_missed);
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "generate_matrix: %s\n", error.what());
  return 1;
}
