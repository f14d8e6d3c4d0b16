// The mapper against random sampling, annealing and evolution: the ten layers of mapspace_proofs, on the same
// machine and in the same space (hardware/arch-unified.yaml, each dimension on one axis, register files keep
// all tensors, Timeloop's accounting), one thread. Every baseline gets the wall time of the proof and ten
// times as much; shown is how far its best mapping lies above the proven optimum.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "reference_layers.h"
#include "support/spatial/baselines_testing.h"

namespace {

using namespace tilewright;

constexpr double kTimes[] = {1, 10};
// Proofs of a few milliseconds leave a sampling search no time to speak of.
constexpr double kLeastSeconds = 0.02;

}  // namespace

int main() {
  Mapspace mapspace = reference_mapspace();
  MapperOptions options;
  options.rules = kTimeloopRules;
  std::printf("best mapping above the proven optimum, at the wall time of the proof and at ten times it\n");
  std::printf("%-7s %9s %9s  %19s %19s %19s\n", "layer", "E/MAC", "time ms", "random", "annealing",
              "evolution");
  std::string layers;
  double log_ratio[kBaselines][2] = {}, sampled = 0, valid = 0, seconds = 0;
  int count = 0, missing = 0, below = 0;
  for (const ReferenceLayer& layer : kReferenceLayers) {
    mapspace.workload = workload_of(layer);
    const MapResult best = find_mapping(mapspace, options);
    missing += best.status == MapStatus::kOptimal ? 0 : 1;
    const double time = std::max(best.seconds, kLeastSeconds);
    const double operations = double(mapspace.workload.operation_count());
    std::printf("%-7s %9.4f %9.1f ", layer.name, best.value / operations, 1e3 * time);
    std::string json;
    for (int b = 0; b < kBaselines; ++b) {
      double excess[2] = {};
      for (int t = 0; t < 2; ++t) {
        SearchLimits limits;
        limits.seconds = time * kTimes[t];
        const BaselineResult found = run_baseline(mapspace, options, Baseline(b), limits, 1);
        sampled += double(found.sampled), valid += double(found.valid), seconds += found.seconds;
        if (!found.mapping) {
          ++missing;
          continue;
        }
        excess[t] = found.value / best.value - 1;
        below += found.value < best.value * (1 - 1e-12) ? 1 : 0;
        log_ratio[b][t] += std::log(found.value / best.value);
      }
      std::printf(" %8.2f%% %8.2f%%", 100 * excess[0], 100 * excess[1]);
      char text[96];
      std::snprintf(text, sizeof text, ", \"%s\": [%.5f, %.5f]", baseline_name(Baseline(b)), excess[0],
                    excess[1]);
      json += text;
    }
    std::printf("\n");
    std::fflush(stdout);
    char text[160];
    std::snprintf(text, sizeof text, "%s{\"layer\": \"%s\", \"energy_per_mac\": %.6f, \"seconds\": %.4f",
                  count++ == 0 ? "" : ", ", layer.name, best.value / operations, time);
    layers += text + json + "}";
  }
  std::string means;
  std::printf("%-7s %19s ", "mean", "");
  for (int b = 0; b < kBaselines; ++b) {
    const double one = std::exp(log_ratio[b][0] / count) - 1, ten = std::exp(log_ratio[b][1] / count) - 1;
    std::printf(" %8.2f%% %8.2f%%", 100 * one, 100 * ten);
    char text[96];
    std::snprintf(text, sizeof text, ", \"%s_mean_gap\": [%.5f, %.5f]", baseline_name(Baseline(b)), one, ten);
    means += text;
  }
  std::printf("\nsampling: %.0f mappings/s, %.0f valid ones\n", sampled / seconds, valid / seconds);
  std::printf(
      "{\"figure\": \"mapper_baselines\", \"samples_per_s\": %.0f, \"valid_per_s\": %.0f, \"unproven\": %d, "
      "\"below_optimum\": %d%s, \"layers\": [%s]}\n",
      sampled / seconds, valid / seconds, missing, below, means.c_str(), layers.c_str());
  return count == 0 || missing > 0 || below > 0 || valid == 0 ? 1 : 0;
}
