// A small report with known numbers for the tests of tables, files and plots.
#pragma once

#include <string>

#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

// Layers a, b and c (c as a) of 64, 128 and 64 MACs, on dataflows one and two; two cannot run b. Dataflow
// one: every layer costs 10, 20 or 10 energies per MAC, of which 1 is arithmetic, half of the rest DRAM
// weights and half buffer outputs; one cycle per MAC on 4 PEs.
inline NetworkReport small_report() {
  NetworkReport report;
  report.network.name = "small";
  report.network.add("a", "Conv", dense_workload("", 1, 8, 8));
  report.network.add("b", "Gemm", dense_workload("", 2, 8, 8));
  report.network.add("c", "Conv", dense_workload("", 1, 8, 8));
  report.hardware = "test-array";
  report.pes = 4;
  report.clock_mhz = 100;
  report.objective = "energy";
  report.rules = "physical";
  const auto cost = [&](int64_t macs, double per_mac) {
    LayerCost c;
    c.status = LayerStatus::kProven;
    c.energy = c.value = c.lower_bound = per_mac * double(macs);
    c.arithmetic_energy = double(macs);
    const double half = (c.energy - c.arithmetic_energy) / 2;
    c.parts = {{0, half, 0}, {0, 0, half}};
    c.cycles = double(macs);
    c.utilisation = 0.25;
    c.active_pes = 1;
    c.mapping = "- level: dram\n  temporal: M=8";
    return c;
  };
  report.runs = {{"one", {"dram", "buffer"}, {cost(64, 10), cost(128, 20)}},
                 {"two", {"dram", "buffer"}, {cost(64, 8), LayerCost{}}}};
  report.runs[1].costs[1].reason = "the buffer holds 3 words, 8 are needed";
  return report;
}

}  // namespace tilewright
