// What factors that need not divide gain: the distinct layers of ResNet-50, least energy x delay with perfect
// factors and with remainders, every count exact, on two machines: a row-stationary chip of 12x14 PEs
// (hardware/eyeriss-chip.yaml without its bandwidths, so that delay is compute cycles) and the 16x16 array of
// hardware/arch-unified.yaml. The register files keep all three tensors; everything else is free. A matrix
// product with dimensions of 6144 stands for memory.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/layers/node_workload.h"
#include "tilewright/spatial/lattice/lattice_solver.h"
#include "tilewright/spatial/network/network.h"

namespace {

using namespace tilewright;

constexpr double kLimitSeconds = 4;  // per layer and kind of factors
constexpr int64_t kLargeDimension = 6144;

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

MapResult solve(const Mapspace& mapspace, double limit_s) {
  MapperOptions options;
  options.objective = MapObjective::kEdp;
  options.time_limit_s = limit_s;
  std::optional<MapResult> result = solve_on_lattice(mapspace, options);
  if (!result)
    throw Error(ErrorKind::kInternal, "the lattice solver does not take " + mapspace.workload.name);
  return std::move(*result);
}

struct Totals {
  int layers = 0, proven = 0, worse = 0;
  double gain = 0, seconds = 0;
};

Totals compare(const WorkloadNetwork& network, ArrayHardware hardware) {
  for (ArrayLevel& level : hardware.levels) {
    level.read_words_per_cycle = level.write_words_per_cycle = 0;
    level.network.words_per_cycle = {};
  }
  Totals totals;
  Mapspace mapspace;
  mapspace.hardware = std::move(hardware);
  mapspace.constraints.resize(mapspace.hardware.levels.size());
  mapspace.constraints.back().must_keep = 7;
  std::printf("%s\n%-34s %9s %6s  %9s %6s %7s %7s %8s\n", mapspace.hardware.name.c_str(), "", "perfect",
              "util.", "remainders", "util.", "gain", "gap", "s");
  for (size_t i = 0; i < network.shapes.size(); ++i) {
    mapspace.workload = network.shapes[i];
    mapspace.imperfect = false;
    const MapResult perfect = solve(mapspace, kLimitSeconds);
    mapspace.imperfect = true;
    const MapResult imperfect = solve(mapspace, kLimitSeconds);
    const double gain = 1 - imperfect.value / perfect.value;
    const double operations = double(mapspace.workload.operation_count());
    std::printf("%-34s %9.4f %6.3f  %9.4f %6.3f %6.2f%% %6.2f%% %8.2f\n", mapspace.workload.name.c_str(),
                perfect.cost.energy / operations, perfect.cost.utilisation,
                imperfect.cost.energy / operations, imperfect.cost.utilisation, 100 * gain,
                100 * imperfect.gap(), imperfect.seconds);
    std::fflush(stdout);
    ++totals.layers;
    totals.proven += imperfect.status == MapStatus::kOptimal ? 1 : 0;
    totals.worse += imperfect.value > perfect.value ? 1 : 0;
    totals.gain += gain;
    totals.seconds += imperfect.seconds;
  }
  totals.gain /= double(std::max(totals.layers, 1));
  std::printf("mean gain %.2f%%, %d of %d proven, %d worse\n", 100 * totals.gain, totals.proven,
              totals.layers, totals.worse);
  return totals;
}

std::string json_of(const Totals& totals) {
  char text[200];
  std::snprintf(text, sizeof text,
                "{\"mean_edp_gain\": %.4f, \"layers\": %d, \"proven\": %d, \"worse\": %d, \"seconds\": %.1f}",
                totals.gain, totals.layers, totals.proven, totals.worse, totals.seconds);
  return text;
}

}  // namespace

int main() {
  Mapspace large;
  large.workload = matmul_workload("large", kLargeDimension, kLargeDimension, kLargeDimension);
  large.hardware = read_array_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/arch-unified.yaml");
  large.constraints.resize(large.hardware.levels.size());
  large.constraints.back().must_keep = 7;
  large.imperfect = true;
  const MapResult product = solve(large, 20);
  const double large_peak_mib = peak_mib();
  std::printf("matrix product of %lld: gap %.2f%% after %.2f s, %.0f MiB\n",
              static_cast<long long>(kLargeDimension), 100 * product.gap(), product.seconds, large_peak_mib);

  const std::filesystem::path path = outside_models() / "onnx_light_topologies/light_resnet50.onnx";
  if (!std::filesystem::exists(path)) {
    std::fprintf(stderr, "missing: %s\n", path.c_str());
    return 1;
  }
  WorkloadNetwork network;
  const Graph graph = read_onnx(path);
  Diagnostics unmapped;
  for (const Node& node : graph.nodes) {
    std::optional<Workload> workload = node_workload(graph, node, unmapped);
    if (workload) network.add(node.name, node.op, std::move(*workload));
  }
  const Totals chip =
      compare(network, read_array_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/eyeriss-chip.yaml"));
  const Totals square = compare(network, large.hardware);
  std::printf(
      "{\"figure\": \"imperfect_gain\", \"mean_edp_gain\": %.4f, \"peak_mib\": %.0f, "
      "\"large_dimension\": %lld, \"large_gap\": %.4f, \"large_seconds\": %.2f, \"large_peak_mib\": %.0f, "
      "\"eyeriss_chip\": %s, \"arch_unified\": %s}\n",
      chip.gain, peak_mib(), static_cast<long long>(kLargeDimension), product.gap(), product.seconds,
      large_peak_mib, json_of(chip).c_str(), json_of(square).c_str());
  return chip.layers == 0 || chip.worse + square.worse > 0 ? 1 : 0;
}
