// Dataflows against each other: every layer, dataflow, batch size and array size, each at its proven optimum.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/spatial/taxonomy/dataflow_search.h"

namespace tilewright::study {

struct TaxonomyOptions {
  std::vector<int64_t> batches;      // replace N of every layer; empty: as given
  std::vector<int64_t> array_sizes;  // replace the machine's PEs; empty: as given
  // Every dataflow gets the buffer that fits the machine's area beside its register files; otherwise the
  // baseline buffer, whatever it needs in registers.
  bool equal_area = true;
  SearchOptions search;
  int threads = 1;  // results do not depend on it
};

// One dataflow on one array size with one batch size.
struct TaxonomyPoint {
  size_t dataflow = 0;  // index into the list given
  int64_t batch = 0;    // 0: as given
  int64_t pes = 0;
  Storage storage;
  std::vector<LayerShape> layers;  // with the batch in place
  std::vector<DataflowResult> results;
};

// Points in the order dataflow, array size, batch (the last changes fastest). Errors: those of best_mapping.
std::vector<TaxonomyPoint> evaluate_taxonomy(std::span<const Dataflow> dataflows,
                                             std::span<const LayerShape> layers, const StudyMachine& machine,
                                             const TaxonomyOptions& options = {});

// Sums over the layers [first, last) of a point, per MAC: energies in units of one MAC.
struct TaxonomySummary {
  bool feasible = false;  // every layer has a mapping; otherwise all numbers are 0
  bool proven = false;    // and each is the optimum
  double macs = 0;
  std::array<double, kLevels> by_level{};
  double alu = 0;
  // Without the MACs' own energy; the papers' breakdowns add alu / 3 to each type.
  std::array<double, kDataTypes> by_type{};
  double energy = 0;         // by_level and alu
  double dram_accesses = 0;  // words per MAC
  double delay = 0;          // cycles per MAC: MACs of a layer / its active PEs, summed
  double energy_delay = 0;   // energy * delay

  double type_with_alu(DataType type) const { return by_type[size_t(type)] + alu / kDataTypes; }
};
TaxonomySummary summarise(const TaxonomyPoint& point, const AccessEnergy& energy, size_t first, size_t last);
TaxonomySummary summarise(const TaxonomyPoint& point, const AccessEnergy& energy);

}  // namespace tilewright::study
