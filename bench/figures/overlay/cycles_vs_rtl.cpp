// The cycle simulator against the RTL in Verilator: random instruction streams and random layers on every
// parameter set of tests/overlay/rtl_equality, as many layers of transformers on those with row functions,
// and C2 to C11 of ResNet-18 on the plain and the wide 16x16 overlay, each in ideal, fixed-latency and DDR
// memory. Compared are all bytes of the memory, the cycles, the other counters (read over AXI4-Lite) and the
// log of AXI bursts (cycle, address, length). Seeds are 1, 2, ... per set; sets with row functions have twice
// as many streams.
//   cycles_vs_rtl [--quick]     quick: four sets, a fifth of the programs, C11 and small networks only
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "network_programs.h"
#include "parameter_sets.h"
#include "resnet18_layers.h"
#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/overlay/program/program.h"
#include "zoo/seeded.h"

using namespace tilewright;
using namespace tilewright::overlay;

namespace {

struct Totals {
  EqualitySummary streams, layers, token_layers, resnet, networks;
  int sets = 0;
};

EqualityProgram resnet_program(const ResnetLayer& layer, const OverlayHardware& hardware) {
  Random random(2);
  const Graph graph = resnet18_graph(layer, random);
  const NodeId nodes[] = {0};
  OverlayProgram program = compile_overlay(graph, nodes, hardware);
  write_program_inputs(program, {{graph.inputs[0], resnet18_input(layer, random)}});
  return {layer.name, std::move(program.memory), program.instruction_address, program.instruction_count};
}

void print(const std::string& name, const EqualitySummary& s) {
  std::printf("%-22s %4lld programs %5lld runs %10llu cycles %8llu bursts  %lld/%lld/%lld/%lld differ\n",
              name.c_str(), (long long)s.programs, (long long)s.runs, (unsigned long long)s.cycles,
              (unsigned long long)s.transactions, (long long)s.byte_mismatches, (long long)s.cycle_mismatches,
              (long long)s.counter_mismatches, (long long)s.transaction_mismatches);
  std::printf("%s", s.first_problems.c_str());
  std::fflush(stdout);
}

void compare_set(const OverlayHardware& hardware, uint64_t programs, Totals& totals, std::mutex& mutex) {
  EqualityBench bench(hardware, equality_options(TILEWRIGHT_RTL_CACHE));
  EqualitySummary streams, layers, token_layers;
  for (uint64_t seed = 1; seed <= (hardware.row_functions ? 2 : 1) * programs; ++seed)
    bench.compare(stream_program(hardware, seed), equality_memories(), streams);
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    const EqualityProgram layer = layer_program(hardware, seed);
    if (!layer.memory.empty()) bench.compare(layer, equality_memories(), layers);
    if (hardware.row_functions)
      bench.compare(layer_program(hardware, seed, true), equality_memories(), token_layers);
  }
  const std::lock_guard lock(mutex);
  EqualitySummary both = streams;
  both.add(layers);
  both.add(token_layers);
  print(hardware.name, both);
  totals.streams.add(streams);
  totals.layers.add(layers);
  totals.token_layers.add(token_layers);
  ++totals.sets;
}

void compare_resnet(const char* preset, bool quick, Totals& totals) {
  OverlayHardware hardware = find_overlay_hardware(preset, TILEWRIGHT_SOURCE_DIR "/hardware");
  hardware.memory_width_bits = 128;
  EqualityBench bench(hardware, equality_options(TILEWRIGHT_RTL_CACHE));
  EqualitySummary summary;
  for (const ResnetLayer& layer : kResnet18Layers) {
    if (quick && std::strcmp(layer.name, "C11") != 0) continue;
    bench.compare(resnet_program(layer, hardware), equality_memories(), summary);
  }
  print(std::string("ResNet-18, ") + preset, summary);
  totals.resnet.add(summary);
  summary = {};
  for (const zoo::SmallCase& small : zoo::small_cases(quick ? 8 : 56)) {
    for (const EqualityProgram& program : network_programs(small.name, small.graph, hardware)) {
      bench.compare(program, equality_memories(), summary);
    }
  }
  print(std::string("networks, ") + preset, summary);
  totals.networks.add(summary);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<OverlayHardware> sets = parameter_sets();
  if (quick) sets.resize(4);
  const uint64_t programs = quick ? 4 : 20;  // streams, and as many layers, per set
  Totals totals;
  std::mutex mutex;
  try {
    parallel_for(2, int64_t(sets.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) compare_set(sets[size_t(i)], programs, totals, mutex);
    });
    for (const char* preset : {"vta-default", "overlay-16x16"}) compare_resnet(preset, quick, totals);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return int(error.kind());
  }
  EqualitySummary all = totals.streams;
  all.add(totals.layers);
  all.add(totals.token_layers);
  all.add(totals.resnet);
  all.add(totals.networks);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf(
      "{\"figure\": \"cycles_vs_rtl\", \"cases\": %lld, \"byte_mismatches\": %lld, \"cycle_mismatches\": "
      "%lld, \"counter_mismatches\": %lld, \"transaction_mismatches\": %lld, \"parameter_sets\": %d, "
      "\"streams\": %lld, \"layers\": %lld, \"token_layers\": %lld, \"resnet18_layers\": %lld, "
      "\"network_programs\": %lld, "
      "\"runs\": %lld, \"rtl_cycles\": %llu, \"transactions\": %llu, \"seconds\": %.0f}\n",
      (long long)all.programs, (long long)all.byte_mismatches, (long long)all.cycle_mismatches,
      (long long)all.counter_mismatches, (long long)all.transaction_mismatches, totals.sets,
      (long long)totals.streams.programs, (long long)totals.layers.programs,
      (long long)totals.token_layers.programs, (long long)totals.resnet.programs,
      (long long)totals.networks.programs, (long long)all.runs, (unsigned long long)all.cycles,
      (unsigned long long)all.transactions, seconds);
  return all.equal() ? 0 : 1;
}
