// paper_networks: the networks of the accelerator papers (models/zoo) end to end in the cycle simulator, on
// the plain VTA overlay, on the wide one, and on that with a GEMM beside the ALU; all with 256 MACs per
// cycle, a 128-bit memory port and memory of 32 cycles latency.
//
// Each network is quantised on seeded data, compiled, and run on one input: every output is compared bit for
// bit with the integer reference. Cycles are those of all overlay layers, pools and additions included; ideal
// is one useful micro-op per cycle, the roofline has in addition every byte moved cross the port. Exits
// non-zero if a bit differs or the cycles of the run are not those of its layers.
//
// usage: paper_networks [--quick]     --quick: the networks below 1 G multiply-accumulates
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/time/network_timing.h"
#include "tilewright/graph/inference/statistics.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace {

using namespace tilewright;
using Clock = std::chrono::steady_clock;

struct Result {
  NetworkTiming timing;
  int mismatches = 0;
  bool cycles_agree = false;
  double seconds = 0;  // of the cycle simulation with all data
};

// One overlay, and the sums over all networks.
struct Variant {
  const char* name;
  OverlayHardware hardware;
  double ideal = 0, cycles = 0;
};

OverlayHardware hardware_of(const char* preset) {
  OverlayHardware hardware =
      find_overlay_hardware(preset, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  hardware.memory_width_bits = 128;
  return hardware;
}

Result measure(const Graph& network, const OverlayHardware& hardware, const MemoryModel& memory) {
  const Bundle bundle = zoo::seeded_compilation(network, hardware).bundle;
  Result result;
  result.timing = time_network(bundle, memory);
  const Tensor input = zoo::seeded_input(bundle.graph, 2);
  overlay::ProgramEngineOptions engine;
  engine.kind = overlay::ProgramEngineKind::kCycle;
  engine.memory = memory;
  Session cycle(std::make_shared<const Engine>(bundle, Execution::kAsPlaced), engine);
  const auto begin = Clock::now();
  const std::vector<Tensor> outputs = cycle.run({input});
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  Session reference(std::make_shared<const Engine>(bundle, Execution::kOnHost));
  const std::vector<Tensor> expected = reference.run({input});
  for (size_t i = 0; i < outputs.size(); ++i) result.mismatches += !outputs[i].identical(expected[i]);
  result.cycles_agree = cycle.cycles().cycles == result.timing.cycles();
  return result;
}

std::string json_of(const Result& result) {
  const NetworkTiming& timing = result.timing;
  char text[256];
  std::snprintf(text, sizeof text,
                "{\"cycles\": %llu, \"share\": %.4f, \"roofline_share\": %.4f, \"bytes\": %llu, "
                "\"mismatches\": %d}",
                (unsigned long long)timing.cycles(), timing.share_of_peak(),
                timing.roofline_cycles() / double(timing.cycles()),
                (unsigned long long)timing.traffic().total(), result.mismatches);
  return text;
}

void print_row(const char* network, const char* hardware, const Result& result) {
  const NetworkTiming& timing = result.timing;
  std::printf("%-16s %-8s %11llu %11.0f %6.1f%% %11.0f %6.1f%% %11llu %9s %7.2f\n", network, hardware,
              (unsigned long long)timing.cycles(), timing.ideal_cycles(), 100 * timing.share_of_peak(),
              timing.roofline_cycles(), 100 * timing.roofline_cycles() / double(timing.cycles()),
              (unsigned long long)timing.traffic().total(),
              result.mismatches == 0 ? "identical" : "DIFFERENT", result.seconds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const MemoryModel memory = find_memory_model("fixed:32");
  int mismatches = 0, disagreements = 0, networks = 0;
  std::string json;
  std::vector<Variant> variants = {{"plain", hardware_of("vta-default")},
                                   {"wide", hardware_of("overlay-16x16")},
                                   {"beside", hardware_of("overlay-16x16")}};
  variants[2].hardware.gemm_beside_alu = true;
  std::printf("%-16s %-8s %11s %11s %7s %11s %7s %11s %9s %7s\n", "network", "overlay", "cycles", "ideal",
              "peak", "roofline", "of it", "bytes", "bits", "sim., s");
  for (const zoo::Network& network : zoo::networks()) {
    const Graph graph = network.build({});
    if (quick && statistics(graph).total.macs > 1'000'000'000) continue;
    ++networks;
    std::string parts;
    for (Variant& variant : variants) {
      const Result result = measure(graph, variant.hardware, memory);
      mismatches += result.mismatches;
      disagreements += !result.cycles_agree;
      variant.ideal += result.timing.ideal_cycles();
      variant.cycles += double(result.timing.cycles());
      print_row(network.name, variant.name, result);
      parts += std::string(parts.empty() ? "" : ", ") + "\"" + variant.name + "\": " + json_of(result);
    }
    json += std::string(", \"") + network.name + "\": {" + parts + "}";
  }
  std::printf("{\"figure\": \"paper_networks\", \"networks\": %d, \"mismatches\": %d", networks, mismatches);
  for (const Variant& variant : variants) {
    std::printf(", \"%s_share\": %.4f", variant.name, variant.ideal / variant.cycles);
  }
  std::printf("%s, \"quick\": %s}\n", json.c_str(), quick ? "true" : "false");
  return mismatches == 0 && disagreements == 0 && networks > 0 ? 0 : 1;
}
