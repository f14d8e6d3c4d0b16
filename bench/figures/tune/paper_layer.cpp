// The layer of the tuning paper (a convolution 14x14x256 -> 256, 3x3, stride 1, no padding; its figure 7):
// best-so-far curves of random search, annealing, boosted trees and the TreeGRU with operands of 8, 4, 2 and
// 1 bits, 1000 trials each, ten seeds, on stock overlays (the paper's two shapes (2,16)x(16,16) and
// (8,8)x(8,8), the wide set's preset with its scratchpad depths and its memory port) and on overlays that an
// importance study chose (--guided FILE.yaml, as often as wanted). No method is helped by the bound, by
// records or by the default schedule; the optimum, against which trials are counted, is that of
// exhaustive_search.
//
// Reported by precision and method, medians over seeds: the performance after all trials on the stock shape
// where it is highest, the same on the guided overlays, and how many trials it takes there to 95 % and 99 %
// of what is possible on the overlays of that kind. Beside them what the paper found for guided against
// stock.
//
// --results FILE keeps every run, so that a figure that is cut off goes on; --csv FILE and --svg PREFIX write
// the curves. --seeds N; --quick: one seed.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "overlay_shapes.h"
#include "resnet18_layers.h"
#include "support/search/exhaustive_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/report/line_chart.h"
#include "tuning_methods.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

constexpr int64_t kTrials = 1000;
constexpr std::array kBits{8, 4, 2, 1};
constexpr MethodSetting kMethods[] = {kRandomMethod, kAnnealingMethod, kBoostedMethod, kTreeGruMethod};
constexpr int64_t kGrid[] = {1, 2, 3, 5, 8, 13, 20, 32, 50, 80, 125, 200, 320, 500, 700, 1000};
// Guided against stock in the paper, by precision: performance and speed of convergence.
constexpr double kPaperTreeGru[] = {1.0, 1.7, 1.4, 1.2}, kPaperRandom[] = {2.3, 2.5, 2.1, 2.3};
constexpr double kPaperTreeGruTrials[] = {1.5, 5, 5.2, 7.1}, kPaperRandomTrials[] = {6.6, 2.2, 6.2, 8.1};

struct Machine {
  std::string name;
  OverlayHardware hardware;
  bool guided = false;
};

OverlayHardware stock(int bits, int batch, int block) {
  const OverlayHardware preset = read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/overlay-16x16.yaml");
  return reshaped(preset, bits, batch, block);
}

// The layer as one node, with operands of `bits` bits; single bits are signs. Cycles depend on no value.
OverlayLayer paper_layer(const OverlayHardware& hardware) {
  const int bits = hardware.input_bits;
  Random random(7);
  Graph graph = resnet18_graph({"paper", 14, 256, 256, 3, 1, 1}, random);
  Node& conv = graph.nodes[0];
  conv.attributes["pads"] = std::vector<int64_t>(4, 0);
  graph.value(conv.inputs[0]).shape = Shape{hardware.batch, 256, 14, 14};
  graph.value(conv.outputs[0]).shape = Shape{hardware.batch, 256, 12, 12};
  conv.attributes["clip_low"] = bits == 1 ? int64_t{0} : -(int64_t{1} << (bits - 1));
  conv.attributes["clip_high"] = bits == 1 ? int64_t{1} : (int64_t{1} << (bits - 1)) - 1;
  if (bits == 1) conv.attributes["bipolar"] = int64_t{1};
  Tensor& weights = *graph.value(conv.inputs[1]).constant;
  for (int64_t i = 0; i < weights.size(); ++i) {
    const int64_t w = weights.integer_at(i);
    weights.set_integer(i, bits == 1 ? (w > 0 ? 1 : -1) : w >> (8 - bits));
  }
  // What stands before the layer leaves operands of its width.
  const ValueId wide = graph.add_input("wide", ElementType::kI8, graph.value(conv.inputs[0]).shape);
  const ValueId narrow = graph.add_value("narrow", ElementType::kI8, graph.value(conv.inputs[0]).shape);
  Node host = graph.add_node("narrow", "QRequantize", {wide}, {narrow}, kTilewrightDomain);
  host.attributes["multiplier"] = int64_t{1};
  host.attributes["shift"] = int64_t{8 - bits};
  for (const char* key : {"clip_low", "clip_high", "bipolar"}) {
    const Node& layer = graph.nodes[0];
    if (layer.attributes.count(key) > 0) host.attributes[key] = layer.attributes.at(key);
  }
  graph.nodes.pop_back();
  graph.nodes.insert(graph.nodes.begin(), host);
  graph.nodes[1].inputs[0] = narrow;
  return extract_layer(graph, graph.nodes[1], hardware);
}

struct Study {
  ResultLines& lines;
  int seeds = 10;
  std::string csv = "machine,bits,guided,method,seed,trial,gops\n";
  int64_t runs = 0;

  // Best-so-far performance in GOPS by method and seed.
  struct Curves {
    double optimum_gops = 0;
    std::array<std::vector<std::vector<double>>, std::size(kMethods)> gops;
  };

  Curves measure(const Machine& machine) {
    const OverlayLayer layer = paper_layer(machine.hardware);
    ScheduleProblem inner(layer, machine.hardware, {}, 1);
    SharedMeasurements problem(inner);
    const double optimum = lines.row(machine.name + "/optimum", [&] {
      const ExhaustiveResult found = exhaustive_search(problem, {.threads = 1, .batch = 256});
      if (!found.best || !found.complete) throw Error(ErrorKind::kInternal, "no optimum");
      return std::vector<double>{*found.best->cost};
    })[0];
    const auto gops = [&](double cycles) {
      return 2e-3 * double(layer.macs) * machine.hardware.clock_mhz / cycles;
    };
    Curves curves;
    curves.optimum_gops = gops(optimum);
    std::printf("%-24s optimum %9.0f cycles, %8.1f GOPS\n", machine.name.c_str(), optimum, gops(optimum));
    for (size_t m = 0; m < std::size(kMethods); ++m) {
      for (int seed = 1; seed <= seeds; ++seed) {
        const std::string name = machine.name + "/" + kMethods[m].name + "/" + std::to_string(seed);
        std::vector<double> curve = lines.row(
            name, [&] { return best_curve(problem, kMethods[m], uint64_t(seed), kTrials, optimum); });
        curve.resize(size_t(kTrials), curve.back());
        for (double& cycles : curve) cycles = gops(cycles);
        add_to_csv(machine, kMethods[m].name, seed, curve);
        curves.gops[m].push_back(std::move(curve));
        ++runs;
      }
    }
    std::fflush(stdout);
    return curves;
  }

  void add_to_csv(const Machine& machine, const char* method, int seed, const std::vector<double>& curve) {
    for (int64_t trial : kGrid) {
      char line[200];
      std::snprintf(line, sizeof line, "%s,%d,%d,%s,%d,%lld,%.3f\n", machine.name.c_str(),
                    machine.hardware.input_bits, machine.guided ? 1 : 0, method, seed, (long long)trial,
                    curve[size_t(trial) - 1]);
      csv += line;
    }
  }
};

// Of one method on the overlays of one kind: medians of the best and of the trials to 95 % and 99 % of what
// is possible on them, on the overlay whose median best is highest.
struct Outcome {
  double gops = 0, trials_to_95 = 0, trials_to_99 = 0;
};
Outcome outcome(const std::vector<Study::Curves>& machines, size_t method) {
  Outcome best;
  double possible = 0;
  for (const Study::Curves& curves : machines) possible = std::max(possible, curves.optimum_gops);
  const auto trials_to = [](const std::vector<double>& curve, double goal) {
    const auto at = std::find_if(curve.begin(), curve.end(), [&](double gops) { return gops >= goal; });
    return double(at - curve.begin() + 1);
  };
  for (const Study::Curves& curves : machines) {
    std::vector<double> ends, to_95, to_99;
    for (const std::vector<double>& curve : curves.gops[method]) {
      ends.push_back(curve.back());
      to_95.push_back(trials_to(curve, 0.95 * possible));
      to_99.push_back(trials_to(curve, 0.99 * possible));
    }
    if (median(ends) > best.gops) best = {median(ends), median(to_95), median(to_99)};
  }
  return best;
}

LinePanel panel(const Machine& machine, const Study::Curves& curves) {
  LinePanel drawn{machine.name, "log2 of trials", "best GOPS", {}};
  for (size_t m = 0; m < std::size(kMethods); ++m) {
    LineSeries& series = drawn.series.emplace_back();
    series.name = kMethods[m].name;
    for (const std::vector<double>& curve : curves.gops[m]) {
      PlotLine& line = series.lines.emplace_back();
      for (int64_t trial : kGrid) line.emplace_back(std::log2(double(trial)), curve[size_t(trial) - 1]);
    }
  }
  return drawn;
}

struct Arguments {
  std::string results, csv, svg;
  std::vector<std::string> guided;
  int seeds = 10;
};

std::string row_of(size_t p, const std::vector<Study::Curves>& stock_curves,
                   const std::vector<Study::Curves>& guided_curves) {
  std::string json;
  for (size_t m = 0; m < std::size(kMethods); ++m) {
    const Outcome plain = outcome(stock_curves, m), guided = outcome(guided_curves, m);
    std::printf("  %d bits %-10s stock %8.1f GOPS, 95 %% after %4.0f, 99 %% after %4.0f", kBits[p],
                kMethods[m].name, plain.gops, plain.trials_to_95, plain.trials_to_99);
    char text[300];
    std::snprintf(text, sizeof text,
                  ", \"w%d_%s\": {\"best_gops\": %.2f, \"trials_to_95\": %.0f, \"trials_to_99\": %.0f",
                  kBits[p], kMethods[m].name, plain.gops, plain.trials_to_95, plain.trials_to_99);
    json += text;
    if (!guided_curves.empty()) {
      const double gain = guided.gops / plain.gops, faster = plain.trials_to_95 / guided.trials_to_95;
      std::printf("; guided %8.1f GOPS (x%.2f), 95 %% after %4.0f (x%.1f sooner), 99 %% after %4.0f",
                  guided.gops, gain, guided.trials_to_95, faster, guided.trials_to_99);
      std::snprintf(text, sizeof text,
                    ", \"guided_best_gops\": %.1f, \"guided_trials_to_95\": %.0f, "
                    "\"guided_trials_to_99\": %.0f, \"gain\": %.3f, \"sooner\": %.2f",
                    guided.gops, guided.trials_to_95, guided.trials_to_99, gain, faster);
      json += text;
    }
    if (m == 0) std::printf("  [paper x%.1f, x%.1f sooner]", kPaperRandom[p], kPaperRandomTrials[p]);
    if (m == 3) std::printf("  [paper x%.1f, x%.1f sooner]", kPaperTreeGru[p], kPaperTreeGruTrials[p]);
    std::printf("\n");
    json += "}";
  }
  return json;
}

int measure(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  ResultLines lines(arguments.results);
  Study study{lines, arguments.seeds};
  std::string json;
  int64_t expected = 0;
  for (size_t p = 0; p < kBits.size(); ++p) {
    const std::string bits = "w" + std::to_string(kBits[p]);
    std::vector<Machine> machines{{bits + " (2,16)x(16,16)", stock(kBits[p], 2, 16)},
                                  {bits + " (8,8)x(8,8)", stock(kBits[p], 8, 8)}};
    for (const std::string& file : arguments.guided) {
      OverlayHardware hardware = read_overlay_hardware(file);
      if (hardware.input_bits == kBits[p]) machines.push_back({bits + " " + hardware.name, hardware, true});
    }
    std::vector<Study::Curves> stock_curves, guided_curves;
    std::vector<LinePanel> panels;
    for (Machine& machine : machines) {
      std::replace(machine.name.begin(), machine.name.end(), ' ', '_');
      std::replace(machine.name.begin(), machine.name.end(), ',', '-');
      const Study::Curves curves = study.measure(machine);
      panels.push_back(panel(machine, curves));
      (machine.guided ? guided_curves : stock_curves).push_back(curves);
      expected += int64_t(std::size(kMethods)) * arguments.seeds;
    }
    json += row_of(p, stock_curves, guided_curves);
    if (!arguments.svg.empty()) {
      write_text_file(
          arguments.svg + "_" + bits + ".svg",
          draw_lines("Best so far, operands of " + std::to_string(kBits[p]) + " bits", panels).document());
    }
  }
  if (!arguments.csv.empty()) write_text_file(arguments.csv, study.csv);
  std::printf(
      "{\"figure\": \"paper_layer\", \"trials\": %lld, \"seeds\": %d, \"runs\": %lld%s, "
      "\"seconds\": %.1f}\n",
      (long long)kTrials, arguments.seeds, (long long)study.runs, json.c_str(),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return study.runs == expected && study.runs > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--quick") {
      arguments.seeds = 1;
    } else if (i + 1 < argc && option == "--results") {
      arguments.results = argv[++i];
    } else if (i + 1 < argc && option == "--csv") {
      arguments.csv = argv[++i];
    } else if (i + 1 < argc && option == "--svg") {
      arguments.svg = argv[++i];
    } else if (i + 1 < argc && option == "--guided") {
      arguments.guided.push_back(argv[++i]);
    } else if (i + 1 < argc && option == "--seeds" && std::atoi(argv[i + 1]) > 0) {
      arguments.seeds = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr,
                   "usage: paper_layer [--quick] [--seeds N] [--results FILE] [--guided FILE.yaml]... "
                   "[--csv FILE] [--svg PREFIX]\n");
      return 2;
    }
  }
  try {
    return measure(arguments);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
