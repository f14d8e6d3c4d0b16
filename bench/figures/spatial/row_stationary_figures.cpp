// row_stationary_figures: every number of the row-stationary papers' study and chip tables beside what the
// study cost model finds (tests/spatial/claims/row_stationary_reference.h): toy examples, storage of equal
// area, the energies of six dataflows, the bars of the figures, row stationary layer by layer, the chip. Then
// the question that the papers leave open: which register file size needs the least energy in a fixed area.
//
// usage: row_stationary_figures [--quick]     (--quick tries every eighth register file size)
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "row_stationary_checks.h"
#include "row_stationary_reference.h"

namespace {

using namespace tilewright;
using namespace tilewright::claims;

struct Totals {
  size_t numbers = 0, failed = 0;
};

// Prints one group; returns its largest absolute and relative error.
std::pair<double, double> show(const char* title, const std::vector<Check>& checks, Totals& totals) {
  double absolute = 0, relative = 0;
  for (const Check& check : checks) {
    absolute = std::max(absolute, check.error());
    relative = std::max(relative, check.relative_error());
    ++totals.numbers;
    if (check.holds()) continue;
    ++totals.failed;
    std::printf("  FAILS %s: %.6g, published %.6g within %.2g\n", check.name.c_str(), check.actual,
                check.expected, check.tolerance);
  }
  std::printf("%-52s %4zu numbers, largest error %.2g (%.2g %%)\n", title, checks.size(), absolute,
              100 * relative);
  return {absolute, relative};
}

struct RegisterFile {
  int64_t bytes = 0;
  double energy = std::numeric_limits<double>::infinity();  // per MAC, convolutions
};

RegisterFile best_register_file(const Study& study, int64_t step) {
  std::vector<study::Dataflow> sizes;
  for (int64_t bytes = 32; bytes <= 1024; bytes += step) {
    sizes.push_back(study.dataflows[5]);
    sizes.back().register_file_bytes = bytes;
  }
  const std::vector<study::LayerShape> all = alexnet(16);
  const std::vector<study::LayerShape> conv(all.begin(), all.begin() + kConvLayers);
  RegisterFile best;
  for (const study::TaxonomyPoint& point : evaluate_taxonomy(sizes, conv, study.machine)) {
    const study::TaxonomySummary sum = summarise(point, study.machine.energy);
    if (!sum.proven) continue;
    const int64_t bytes = point.storage.register_file_bytes;
    if (bytes % 64 == 0) {
      std::printf("  %4lld bytes per PE, buffer %.1f KiB: %.4f per MAC\n", static_cast<long long>(bytes),
                  point.storage.buffer_bytes / 1024, sum.energy);
    }
    if (sum.energy < best.energy) best = {bytes, sum.energy};
  }
  return best;
}

int measure(bool quick) {
  const Study study = read_study(TILEWRIGHT_SOURCE_DIR);
  const std::vector<study::TaxonomyPoint> points = taxonomy_at(study, 16, 256);
  Totals totals;
  double energy_error = show("toy examples", reuse_checks(), totals).first;
  const double storage_error = show("storage of equal area", storage_checks(study), totals).first;
  energy_error = std::max(
      energy_error,
      show("energy per MAC, six dataflows, CONV and FC", energy_checks(study, points), totals).first);
  show("ratios to row stationary", ratio_checks(study, points), totals);
  const double bar_error = show("bars of TP Fig. 10 and 11", bar_checks(study, points), totals).first;
  energy_error = std::max(
      energy_error,
      show("row stationary, layer by layer", row_stationary_layer_checks(study, points), totals).first);
  const double chip_storage_error = show("chip: storage, kB", chip_storage_checks(study), totals).first;
  const double chip_error = show("chip: active PEs, traffic", chip_traffic_checks(study), totals).second;
  const double compressed_error =
      show("chip: DRAM traffic from shares of zeros", compression_checks(study, 3), totals).second;
  show("chip: Table III against the optimum, percent", chip_optimum_checks(study), totals);

  std::printf("register file of least energy, convolutions, 256 PEs, 16 images, fixed area:\n");
  const RegisterFile best = best_register_file(study, quick ? 16 : 2);
  std::printf("  least: %lld bytes, %.4f per MAC\n", static_cast<long long>(best.bytes), best.energy);
  std::printf(
      "{\"figure\": \"row_stationary_figures\", \"numbers_checked\": %zu, \"failed\": %zu, "
      "\"max_abs_error\": %.2e, \"chip_max_rel_error\": %.4f, \"compressed_dram_max_rel_error\": %.4f, "
      "\"bars_max_abs_error\": %.4f, \"storage_max_error_kib\": %.3f, \"chip_storage_max_error_kib\": %.3f, "
      "\"best_rf_bytes\": %lld, "
      "\"best_rf_energy_per_mac\": %.4f}\n",
      totals.numbers, totals.failed, energy_error, chip_error, compressed_error, bar_error, storage_error,
      chip_storage_error, static_cast<long long>(best.bytes), best.energy);
  return totals.numbers == 0 || totals.failed > 0 || best.bytes == 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return measure(count > 1 && std::strcmp(arguments[1], "--quick") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "row_stationary_figures: %s\n", error.what());
    return 1;
  }
}
