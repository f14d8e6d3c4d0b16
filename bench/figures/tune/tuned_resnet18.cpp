// Tuned against default schedules: the ten convolutions C2 to C11 of ResNet-18, each from empty scratchpads
// to its last store response on the cycle simulator, against the bound that no schedule can pass
// (layer_bound: GEMM, reset and ALU steps of the compute queue or bytes by port width, each tensor once).
//
// A layer is tuned by --trials measurements (128) that boosted trees guide, seed 1, the default schedule
// first; points whose bound is no better than the best so far are left out. Inputs stand in memory as a layer
// before would have left them (no folding by the host). Outputs of default and tuned programs are compared
// with the host's integer execution. Totals weigh layers as the network does; shares are geometric means over
// layers.
//
// Machines: the public instruction set with its buffers (the same depths for other shapes) and its memory
// port of 64 bits, for the public shape and the two of the tuning paper; the wide set with output passes
// beside sums and a port of 128 bits, for the same shapes at 8, 4, 2 and 1 bits. The network's batch is the
// overlay's. Below 8 bits words are kept on the public shape (block_in = 16 * 8 / bits); a batch above one
// needs equal blocks (overlay.md, "Limits"), so there the shapes are kept.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "overlay_shapes.h"
#include "resnet18_layers.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/time/cycle_simulator.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/search/models/boosted_cost_model.h"
#include "tilewright/search/tuning/tuner.h"

using namespace tilewright;
using namespace tilewright::overlay;

namespace {

struct Machine {
  std::string key;
  OverlayHardware hardware;
};

std::vector<Machine> machines() {
  const auto preset = [](const char* name) {
    return read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") + name + ".yaml");
  };
  const OverlayHardware plain = preset("vta-default");
  std::vector<Machine> all{
      {"vta_1x16", plain}, {"vta_2x16", reshaped(plain, 8, 2, 16)}, {"vta_8x8", reshaped(plain, 8, 8, 8)}};
  const auto add_wide = [&](const std::string& key, OverlayHardware hardware) {
    hardware.memory_width_bits = 128;
    hardware.gemm_beside_alu = true;
    all.push_back({key, std::move(hardware)});
  };
  for (const auto& [key, hardware] :
       {std::pair{"wide", preset("overlay-16x16")}, std::pair{"w4a4", preset("overlay-w4a4")},
        std::pair{"w2a2", preset("overlay-w2a2")}, std::pair{"w1a1", preset("overlay-w1a1")}}) {
    add_wide(std::string(key) + "_1x16", hardware);
    add_wide(std::string(key) + "_2x16", reshaped(hardware, hardware.input_bits, 2, 16));
    add_wide(std::string(key) + "_8x8", reshaped(hardware, hardware.input_bits, 8, 8));
  }
  return all;
}

// One layer as a graph whose last node runs on the overlay, and what the host makes of it.
struct Case {
  Case(const ResnetLayer& shape, const OverlayHardware& hardware) : name(shape.name) {
    Random random(7);
    graph = hardware.input_bits == 8
                ? resnet18_graph(shape, random, hardware.batch)
                : narrow_resnet18_graph(shape, hardware.input_bits, random, hardware.batch);
    const Tensor x = resnet18_input(shape, random, hardware.batch);
    expected = run(graph, {x})[0];
    const Node& node = graph.nodes.back();
    input = x;
    if (graph.nodes.size() > 1) {
      Graph ahead = graph;  // the host's part
      ahead.nodes.pop_back();
      ahead.outputs = {node.inputs[0]};
      input = run(ahead, {x})[0];
    }
    layer = extract_layer(graph, node, hardware);
  }

  std::string name;
  Graph graph;
  Tensor input, expected;
  OverlayLayer layer;
};

// Cycles of the compiled program; 0 where its outputs are not the host's.
uint64_t run_program(const Case& c, const OverlayHardware& hardware, const Schedule& schedule) {
  const Node& node = c.graph.nodes.back();
  const NodeId nodes[] = {NodeId(c.graph.nodes.size() - 1)};
  OverlayProgram program = compile_overlay(c.graph, nodes, hardware, {{node.name, schedule}});
  write_program_inputs(program, {{node.inputs[0], c.input}});
  CycleSimulator simulator(hardware, MemoryModel{});
  const TimedRun timed =
      simulator.run(program.memory, program.instruction_address, program.instruction_count);
  const bool equal = read_program_outputs(program).at(c.graph.outputs[0]).identical(c.expected);
  return equal ? timed.cycles.cycles : 0;
}

struct Total {
  double default_cycles = 0, tuned_cycles = 0, bound_cycles = 0;  // weighted
  double default_share = 0, tuned_share = 0, peak_share = 0;      // geometric means
  uint64_t trials = 0, proven = 0, layers = 0, mismatches = 0;
};

void tune_layer(const ResnetLayer& shape, const OverlayHardware& hardware, int64_t trials, Total& total) {
  const Case c(shape, hardware);
  ScheduleProblem problem(c.layer, hardware, {}, 2);
  const Schedule given = default_schedule(c.layer, hardware);
  BoostedCostModel model;
  TuningOptions options;
  options.trials = trials;
  options.threads = 2;
  options.model = &model;
  if (const auto start = problem.schedules().point(given)) options.start.push_back(*start);
  const TuningResult found = tune_problem(problem, options);
  const uint64_t before = run_program(c, hardware, given);
  const Schedule best = found.end.best ? problem.schedules().schedule(*found.end.best) : given;
  const uint64_t searched = run_program(c, hardware, best);
  const uint64_t after = std::min(before, searched);
  total.mismatches += (before == 0) + (searched == 0);
  const double bound = problem.layer_bound().cycles();
  total.default_cycles += double(shape.repeats) * double(before);
  total.tuned_cycles += double(shape.repeats) * double(after);
  total.bound_cycles += double(shape.repeats) * bound;
  total.default_share += std::log(bound / double(std::max<uint64_t>(before, 1)));
  total.tuned_share += std::log(bound / double(std::max<uint64_t>(after, 1)));
  total.peak_share +=
      std::log(problem.layer_bound().peak_share * bound / double(std::max<uint64_t>(after, 1)));
  total.trials += uint64_t(found.end.trials);
  total.proven += found.exhausted;
  ++total.layers;
  std::printf("  %-4s %9.0f %9llu %6.2f %9llu %6.2f %6.1f %7llu %6llu%s  %s\n", shape.name, bound,
              (unsigned long long)before, 100 * bound / double(before), (unsigned long long)after,
              100 * bound / double(after), 100 * problem.layer_bound().peak_share * bound / double(after),
              (unsigned long long)found.end.trials, (unsigned long long)found.end.pruned,
              found.exhausted ? "*" : " ", print_schedule(after == before ? given : best).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int64_t trials = 128;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    if (std::strcmp(argv[i], "--trials") == 0 && i + 1 < argc) trials = std::atoll(argv[++i]);
  }
  uint64_t mismatches = 0, layers = 0;
  std::string json;
  double wide_cycles = 0;
  for (const Machine& machine : machines()) {
    const OverlayHardware& h = machine.hardware;
    std::printf("%s: w%da%d (%d,%d)x(%d,%d), port %d bits%s\n  %-4s %9s %9s %6s %9s %6s %6s %7s %7s\n",
                machine.key.c_str(), h.weight_bits, h.input_bits, h.batch, h.block_in, h.block_in,
                h.block_out, h.memory_width_bits, h.gemm_beside_alu ? ", output passes beside sums" : "", "",
                "bound", "default", "share", "tuned", "share", "peak", "trials", "pruned");
    Total total;
    for (const ResnetLayer& shape : kResnet18Layers) {
      if (!quick || std::strcmp(shape.name, "C10") == 0) tune_layer(shape, h, trials, total);
    }
    const auto mean = [&](double logs) { return std::exp(logs / double(total.layers)); };
    if (machine.key == "wide_1x16") wide_cycles = total.tuned_cycles;
    const double gain = h.input_bits < 8 && wide_cycles > 0 ? wide_cycles / total.tuned_cycles : 1;
    std::printf("  share of the bound %.2f -> %.2f %%, network %.0f -> %.0f cycles\n",
                100 * mean(total.default_share), 100 * mean(total.tuned_share), total.default_cycles,
                total.tuned_cycles);
    char text[500];
    std::snprintf(
        text, sizeof text,
        ", \"%s\": {\"weight_bits\": %d, \"memory_width_bits\": %d, \"default_cycles\": %.0f, "
        "\"tuned_cycles\": %.0f, \"bound_cycles\": %.0f, \"default_share\": %.4f, \"roofline_share\": %.4f, "
        "\"peak_share\": %.4f, \"gain_over_w8a8\": %.3f, \"trials\": %llu, \"proven_layers\": %llu}",
        machine.key.c_str(), h.weight_bits, h.memory_width_bits, total.default_cycles, total.tuned_cycles,
        total.bound_cycles, mean(total.default_share), mean(total.tuned_share), mean(total.peak_share), gain,
        (unsigned long long)total.trials, (unsigned long long)total.proven);
    json += text;
    mismatches += total.mismatches;
    layers += total.layers;
  }
  std::printf(
      "{\"figure\": \"tuned_resnet18\", \"quick\": %s, \"trials_per_layer\": %lld, \"layers\": %llu%s, "
      "\"mismatches\": %llu}\n",
      quick ? "true" : "false", (long long)trials, (unsigned long long)layers, json.c_str(),
      (unsigned long long)mismatches);
  return mismatches == 0 && layers > 0 ? 0 : 1;
}
