// The grid of searches, shared out to threads one search at a time.
#include "support/spatial/taxonomy_testing.h"

#include <atomic>

#include "tilewright/base/parallel.h"

namespace tilewright::study {
namespace {

// The machine on which every dataflow has the buffer of the baseline.
StudyMachine baseline_machine(StudyMachine machine) {
  if (machine.buffer_bytes == 0) {
    machine.buffer_bytes = double(machine.pes) * machine.area.baseline_bytes_per_pe;
  }
  return machine;
}

std::vector<TaxonomyPoint> grid(std::span<const Dataflow> dataflows, std::span<const LayerShape> layers,
                                const StudyMachine& machine, const TaxonomyOptions& options) {
  const std::vector<int64_t> as_given = {0};
  std::vector<TaxonomyPoint> points;
  for (size_t d = 0; d < dataflows.size(); ++d) {
    for (const int64_t pes : options.array_sizes.empty() ? as_given : options.array_sizes) {
      for (const int64_t batch : options.batches.empty() ? as_given : options.batches) {
        TaxonomyPoint point;
        point.dataflow = d;
        point.batch = batch;
        point.pes = pes == 0 ? machine.pes : pes;
        StudyMachine sized = machine;
        sized.pes = point.pes;
        if (!options.equal_area) sized = baseline_machine(sized);
        point.storage = equal_area_storage(sized, dataflows[d].register_file_bytes);
        point.layers.assign(layers.begin(), layers.end());
        for (LayerShape& layer : point.layers) layer.N = batch == 0 ? layer.N : batch;
        point.results.resize(layers.size());
        points.push_back(std::move(point));
      }
    }
  }
  return points;
}

}  // namespace

std::vector<TaxonomyPoint> evaluate_taxonomy(std::span<const Dataflow> dataflows,
                                             std::span<const LayerShape> layers, const StudyMachine& machine,
                                             const TaxonomyOptions& options) {
  std::vector<TaxonomyPoint> points = grid(dataflows, layers, machine, options);
  // Searches differ in length by orders of magnitude, so every thread fetches the next one when it is free.
  std::atomic<size_t> next{0};
  const size_t jobs = points.size() * layers.size();
  parallel_for(options.threads, options.threads, [&](int64_t, int64_t) {
    for (size_t job = next++; job < jobs; job = next++) {
      TaxonomyPoint& point = points[job / layers.size()];
      const size_t layer = job % layers.size();
      StudyMachine sized = machine;
      sized.pes = point.pes;
      point.results[layer] =
          best_mapping(dataflows[point.dataflow], point.layers[layer], sized, point.storage, options.search);
    }
  });
  return points;
}

TaxonomySummary summarise(const TaxonomyPoint& point, const AccessEnergy& energy, size_t first, size_t last) {
  const double cost[kLevels] = {energy.dram, energy.buffer, energy.array, energy.register_file};
  TaxonomySummary sum;
  sum.feasible = sum.proven = true;
  for (size_t k = first; k < last; ++k) {
    const DataflowResult& result = point.results[k];
    sum.proven = sum.proven && result.status == BoxSearchStatus::kOptimal;
    if (result.variables.empty()) return {};
    const double macs = double(point.layers[k].macs());
    sum.macs += macs;
    sum.delay += macs / result.active_pes;
    for (size_t level = 0; level < kLevels; ++level) {
      for (size_t type = 0; type < kDataTypes; ++type) {
        const double accesses = result.counts[level][type];
        sum.by_level[level] += accesses * cost[level];
        sum.by_type[type] += accesses * cost[level];
        if (Level(level) == Level::kDram) sum.dram_accesses += accesses;
      }
    }
  }
  if (sum.macs == 0) return {};
  for (double& value : sum.by_level) value /= sum.macs;
  for (double& value : sum.by_type) value /= sum.macs;
  sum.dram_accesses /= sum.macs;
  sum.delay /= sum.macs;
  sum.alu = energy.alu;
  sum.energy = sum.alu;
  for (const double value : sum.by_level) sum.energy += value;
  sum.energy_delay = sum.energy * sum.delay;
  return sum;
}

TaxonomySummary summarise(const TaxonomyPoint& point, const AccessEnergy& energy) {
  return summarise(point, energy, 0, point.results.size());
}

}  // namespace tilewright::study
