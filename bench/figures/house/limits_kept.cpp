// `--time T` and `--memory-limit M` of map, place, tune, explore and generate, held against the clock and the
// peak memory of the whole command (wait4) over 300 random large inputs: a run is over its time where it
// takes more than 1.1 T + 1 s, over its memory where it had more than M. --quick: 30. --seed S, --cases N;
// --only VERB for one of the verbs; --keep FOLDER keeps the inputs there.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>

#include "resnet18_layers.h"
#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/flow/run/bundle.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/nest/workload_text.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct Run {
  std::string verb;
  std::vector<std::string> arguments;
  double limit_s = 1;
  int64_t limit_mib = 1024;
};

struct Outcome {
  int exit_code = 0;
  double wall_s = 0, cpu_s = 0;
  int64_t peak_bytes = 0;
};

int64_t any(Random& random, std::initializer_list<int64_t> choices) {
  return choices.begin()[random.between(0, int64_t(choices.size()) - 1)];
}

Workload large_layer(Random& random, int number) {
  const auto size = [&](int64_t most) {
    return std::min(most, any(random, {2,   3,   7,   13,  16,  29,  48,  53,  59,  64,   97,
                                       113, 127, 128, 224, 251, 256, 509, 512, 720, 1021, 2039}));
  };
  const std::string name = fmt::format("layer{}", number);
  if (random.chance(0.3)) return matmul_workload(name, size(2048), size(2048), size(2048));
  ConvShape shape;
  shape.batch = random.chance(0.3) ? size(16) : 1;
  shape.output_channels = size(1024), shape.input_channels = size(1024);
  for (WindowAxis* axis : {&shape.height, &shape.width}) {
    axis->kernel = any(random, {1, 1, 3, 5, 7, 11});
    axis->stride = random.between(1, 3);
    axis->output = size(224);
    axis->input = (axis->output - 1) * axis->stride + axis->kernel;
  }
  return conv2d_workload(name, shape);
}

std::vector<std::string> map_run(Random& random, const fs::path& folder) {
  std::string text;  // a list
  for (int64_t i = random.between(1, 4); i > 0; --i) {
    text += "- ";
    for (const char c : print_workload(large_layer(random, int(i))))
      text += c == '\n' ? std::string("\n  ") : std::string(1, c);
    text.resize(text.size() - 2);
  }
  write_text_file(folder / "layers.yaml", text);
  const char* arrays[] = {"eyeriss-256", "eyeriss-1024", "simba-like", "tpu-like", "diannao-like"};
  const char* objectives[] = {"energy", "latency", "edp"};
  std::vector<std::string> arguments = {"map",
                                        "--workload",
                                        folder / "layers.yaml",
                                        "--hardware",
                                        arrays[random.between(0, 4)],
                                        "--objective",
                                        objectives[random.between(0, 2)]};
  if (random.chance(0.5)) arguments.emplace_back("--imperfect");
  if (random.chance(0.2)) arguments.insert(arguments.end(), {"--rules", "timeloop"});
  if (random.chance(0.15)) arguments.emplace_back("--pareto");
  return arguments;
}

std::vector<std::string> place_run(Random& random, const fs::path& folder) {
  const int nodes = int(any(random, {60, 120, 250, 500, 1000, 2000}));
  const int side = int(any(random, {4, 6, 8, 12, 20}));
  const bool kernel = random.chance(0.35);
  const std::string forms[] = {"mesh-{0}x{0}", "torus-{0}x{0}", "hycube-{0}x{0}", "line-{0}", "ring-{0}"};
  const std::string form = forms[random.between(0, kernel ? 2 : 4)];
  const std::string fabric = fmt::format(fmt::runtime(form), side);
  cgra::DataflowGraph graph = cgra::generate_flow_graph(nodes, side * side, random.next()).graph;
  graph.variables.clear();  // grids have no tile memories
  for (cgra::DataflowNode& node : graph.nodes) {
    node.writes = -1;
    for (cgra::Operand& operand : node.operands) {
      if (operand.kind == cgra::OperandKind::kVariable)
        operand = {.kind = cgra::OperandKind::kConstant, .value = 1};
    }
  }
  const cgra::GraphFile file{.graph = graph};
  write_text_file(folder / "graph.json", cgra::print_graph_json(file));
  std::vector<std::string> arguments = {"place", folder / "graph.json", "--fabric", fabric,
                                        "-o",    folder / "mapped.json"};
  const char* methods[] = {"exact",     "exact",     "exact",  "branch-and-bound",
                           "annealing", "evolution", "random", "list"};
  if (kernel) {
    arguments.insert(arguments.end(), {"--objective", "ii"});
  } else {
    arguments.insert(arguments.end(), {"--method", methods[random.between(0, 7)]});
    const int tiles = form.starts_with("line") || form.starts_with("ring") ? side : side * side;
    const int64_t ii = std::min<int64_t>(64, nodes / tiles + random.between(1, 8));
    arguments.insert(arguments.end(), {"--ii", random.chance(0.4) ? "auto" : std::to_string(ii)});
    if (random.chance(0.3)) arguments.emplace_back("--routed");
    if (random.chance(0.15)) arguments.insert(arguments.end(), {"--proof", folder / "proofs"});
  }
  return arguments;
}

// One to four convolutions of random shapes, one after the other.
fs::path write_network(Random& random, const fs::path& folder) {
  ResnetLayer layer{"c0",
                    any(random, {14, 28, 56, 112}),
                    any(random, {16, 64, 128}),
                    any(random, {16, 64, 256}),
                    any(random, {1, 3, 5}),
                    1,
                    1};
  Graph graph = resnet18_graph(layer, random);
  for (int64_t i = random.between(0, 3); i > 0; --i) {
    const ValueId from = graph.outputs[0];
    const Shape in = graph.value(from).shape;
    const int64_t outputs = any(random, {16, 48, 128, 256});
    const std::string name = fmt::format("c{}", graph.nodes.size());
    const auto constant = [&](const char* what, ElementType type, Shape shape, int64_t low, int64_t high) {
      return graph.add_constant(name + what, random_tensor(random, type, std::move(shape), low, high));
    };
    const ValueId w = constant("_w", ElementType::kI8, {outputs, in[1], 3, 3}, -127, 127);
    const ValueId b = constant("_b", ElementType::kI32, {outputs}, -30000, 30000);
    const ValueId m = constant("_m", ElementType::kI32, {1}, 1, 1),
                  s = constant("_s", ElementType::kI32, {1}, 9, 9);
    const ValueId y = graph.add_value(name + "_y", ElementType::kI8, {1, outputs, in[2], in[3]});
    Node& node = graph.add_node(name, "QConv", {from, w, b, m, s}, {y}, kTilewrightDomain);
    node.attributes["strides"] = std::vector<int64_t>{1, 1};
    node.attributes["pads"] = std::vector<int64_t>(4, 1);
    node.attributes["clip_low"] = int64_t{0};
    graph.outputs = {y};
  }
  const fs::path hardware = fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware";
  write_bundle(folder / "net.twb",
               compile(std::move(graph), find_overlay_hardware("overlay-16x16", hardware)).bundle);
  return folder / "net.twb";
}

std::vector<std::string> tune_run(Random& random, const fs::path& folder) {
  const char* searches[] = {"random", "annealing", "evolution", "gbt"};
  return {
      "tune", write_network(random, folder), "--search", searches[random.between(0, 3)], "--trials", "100000",
      "-o",   folder / "tuned.twb"};
}

std::vector<std::string> explore_run(Random& random, const fs::path& folder) {
  const char* widths[] = {"8", "8,4", "8,4,2,1"};
  return {"explore",     write_network(random, folder), "--device", "xc7z020",
          "--precision", widths[random.between(0, 2)],  "-o",       folder / "study"};
}

// A float network that fixed point needs no calibration for.
std::vector<std::string> generate_run(Random& random, const fs::path& folder) {
  Graph graph;
  graph.name = "net";
  const int64_t size = any(random, {12, 28, 56});
  ValueId x = graph.add_input("x", ElementType::kF32, {1, any(random, {1, 3, 8}), size, size});
  const int64_t layers = random.between(2, 6);
  for (int64_t i = 0; i < layers; ++i) {
    const Shape in = graph.value(x).shape;
    const int64_t outputs = any(random, {4, 8, 16, 24, 32});
    Tensor weights(ElementType::kF32, {outputs, in[1], 3, 3});
    for (float& value : weights.mutable_data<float>()) value = 0.2F * float(random.uniform() - 0.5);
    const std::string name = fmt::format("conv{}", i);
    const ValueId w = graph.add_constant(name + "_w", std::move(weights));
    const ValueId y = graph.add_value(name + "_y", ElementType::kF32, {1, outputs, in[2], in[3]});
    graph.add_node(name, "Conv", {x, w}, {y}).attributes["pads"] = std::vector<int64_t>{1, 1, 1, 1};
    x = graph.add_value(name + "_r", ElementType::kF32, graph.value(y).shape);
    graph.add_node(name + "_relu", "Relu", {y}, {x});
  }
  graph.outputs = {x};
  write_onnx(folder / "net.onnx", graph);
  const char* objectives[] = {"latency", "throughput"};
  return {"generate",
          folder / "net.onnx",
          "--device",
          random.chance(0.5) ? "xc7z020" : "xcvu9p",
          "--number-type",
          "q10.22",
          "--objective",
          objectives[random.between(0, 1)],
          "-o",
          folder / "design"};
}

Run random_run(Random& random, const std::string& only, const fs::path& folder) {
  Run run;
  const int64_t drawn = random.between(0, 9);
  run.verb = !only.empty() ? only
             : drawn < 3   ? "map"
             : drawn < 7   ? "place"
             : drawn == 7  ? "tune"
             : drawn == 8  ? "explore"
                           : "generate";
  run.arguments = run.verb == "map"       ? map_run(random, folder)
                  : run.verb == "place"   ? place_run(random, folder)
                  : run.verb == "tune"    ? tune_run(random, folder)
                  : run.verb == "explore" ? explore_run(random, folder)
                                          : generate_run(random, folder);
  run.limit_s = 0.5 * double(any(random, {1, 2, 2, 4, 8}));
  run.limit_mib = any(random, {256, 512, 1024, 2048});
  run.arguments.insert(run.arguments.end(), {"--time", fmt::format("{:.0f}ms", 1e3 * run.limit_s),
                                             "--memory-limit", fmt::format("{}M", run.limit_mib)});
  return run;
}

Outcome execute(const fs::path& program, const Run& run, const fs::path& log) {
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& argument : run.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(file, 1);
    dup2(file, 2);
    execv(program.c_str(), arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  Outcome outcome;
  outcome.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  outcome.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  outcome.peak_bytes = int64_t(used.ru_maxrss) << 10;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string command_line(const Run& run) {
  std::string text = "tilewright";
  for (const std::string& argument : run.arguments) text += " " + argument;
  return text;
}

struct Settings {
  int64_t cases = 300;
  uint64_t seed = 1;
  std::string only;
  fs::path keep;
};

int measure(const Settings& settings, const fs::path& program) {
  Random random(settings.seed);
  const bool kept = !settings.keep.empty();
  const fs::path root =
      kept ? settings.keep : fs::temp_directory_path() / fmt::format("limits_kept_{}", getpid());
  int64_t over_time = 0, over_memory = 0, failed = 0, found = 0;
  std::map<std::string, int64_t> by_verb;
  double worst_s = 0;
  for (int64_t i = 0; i < settings.cases; ++i) {
    const fs::path folder = root / std::to_string(i);
    fs::create_directories(folder);
    const Run run = random_run(random, settings.only, folder);
    const Outcome outcome = execute(program, run, folder / "log");
    const bool late = outcome.wall_s > 1.1 * run.limit_s + 1,
               large = outcome.peak_bytes > run.limit_mib << 20;
    const bool bad = outcome.exit_code != 0 && outcome.exit_code != 3;  // 3: nothing was found in time
    ++by_verb[run.verb];
    over_time += late, over_memory += large, failed += bad, found += outcome.exit_code == 0;
    worst_s = std::max(worst_s, outcome.wall_s - 1.1 * run.limit_s);
    if (late || large || bad || kept) {
      fmt::print(
          "case {}: {:.2f} s of {:.1f} s ({:.2f} s of processor time), {} of {} MiB, exit {}{}\n  {}\n", i,
          outcome.wall_s, run.limit_s, outcome.cpu_s, outcome.peak_bytes >> 20, run.limit_mib,
          outcome.exit_code, late || large || bad ? " FAILED" : "", command_line(run));
      if (bad) fmt::print("  {}\n", read_text_file(folder / "log"));
      std::fflush(stdout);
    }
    if (!kept) fs::remove_all(folder);
  }
  if (!kept) fs::remove_all(root);
  for (const auto& [verb, runs] : by_verb) fmt::print("{}: {} runs\n", verb, runs);
  fmt::print("{} of {} runs found something; at most {:.2f} s beyond 1.1 T\n", found, settings.cases,
             worst_s);
  fmt::print(
      "{{\"figure\": \"limits_kept\", \"runs\": {}, \"over_time\": {}, \"over_memory\": {}, \"failed\": "
      "{}}}\n",
      settings.cases, over_time, over_memory, failed);
  return settings.cases > 0 && over_time + over_memory + failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  tilewright::Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--quick") settings.cases = 30;
    if (i + 1 == argc) continue;
    if (option == "--cases") settings.cases = std::stoll(argv[i + 1]);
    if (option == "--seed") settings.seed = std::stoull(argv[i + 1]);
    if (option == "--only") settings.only = argv[i + 1];
    if (option == "--keep") settings.keep = argv[i + 1];
  }
  // The command lies two folders above the figures.
  const std::filesystem::path program =
      std::filesystem::canonical("/proc/self/exe").parent_path().parent_path().parent_path() / "tilewright";
  fmt::print("{} runs of {}, seed {}\n", settings.cases, program.string(), settings.seed);
  try {
    return tilewright::measure(settings, program);
  } catch (const std::exception& error) {
    fmt::print(stderr, "limits_kept: {}\n", error.what());
    return 1;
  }
}
