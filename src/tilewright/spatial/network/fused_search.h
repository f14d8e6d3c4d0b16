// The cost of fusing a chain of layers, the best way to do it, and which layers of a network to fuse.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/spatial/mapper/mapper.h"
#include "tilewright/spatial/network/fused_chain.h"
#include "tilewright/spatial/network/map_network.h"
#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

// One class of phases with the mapping that serves it.
struct MappedPhase {
  PhaseClass phase;
  Mapping mapping;
  Cost cost;            // of one phase, without outermost-memory traffic of intermediate tensors
  bool proven = false;  // of least energy among the mappings of the phase
};

struct FusedResult {
  FusedTiling tiling;
  FusedPlan plan;
  std::vector<MappedPhase> phases;
  double energy = 0;
  double cycles = 0;            // phases run one after the other
  double outermost_energy = 0;  // of the outermost memory's accesses
  int64_t recomputed_operations = 0;
  int tilings_costed = 0, tilings_known = 0;
  // Whether no other tiling can need less energy: all were costed or excluded by their bound, with every
  // phase proven.
  bool proven = false;
};

struct FusionOptions {
  CostRules rules;
  int threads = 1;
  bool imperfect = false;
  MapspaceRule constraints;            // of the mapspaces of phases, as for whole layers; empty: none
  double time_limit_s = 0;             // of a chain; 0: none
  const Deadline* deadline = nullptr;  // of all
  double phase_limit_s = 0;            // of the search for one phase's mapping; 0: until proven
  int most_tilings = 24;               // costed per chain, those of the lowest bounds; 0: all
};

// Tensors pinned in the buffer do not move between the outermost memory and the buffer: these words are
// removed from the counts. `pinned`: bit per data space.
AccessCounts without_pinned_traffic(AccessCounts counts, uint32_t pinned);
// What is pinned in a phase of a layer: the intermediates it reads and makes, resident weights.
uint32_t pinned_spaces(const LayerChain& chain, const FusedTiling& tiling, int layer);
// The mapspace of a phase: pinned tensors stay whole in the buffer, whose capacity is what the plan leaves.
// nullopt: nothing is left.
std::optional<Mapspace> phase_mapspace(const LayerChain& chain, const FusedTiling& tiling,
                                       const FusedPlan& plan, const PhaseClass& phase,
                                       const ArrayHardware& hardware, bool imperfect);

// Finds mappings of phases and remembers them; one for all chains of a network on one machine.
class FusionSearch {
 public:
  FusionSearch(ArrayHardware hardware, FusionOptions options)
      : hardware_(std::move(hardware)), options_(std::move(options)) {}

  // The cost of one tiling; nullopt: some phase has no mapping.
  std::optional<FusedResult> cost(const LayerChain& chain, const FusedTiling& tiling);
  // The tiling of least energy, ties by cycles; nullopt: the chain cannot be fused or no tiling fits.
  // The search covers all combinations of tile extents (the smallest of each number of tiles, at most eight
  // per rank), retained ranks and resident weights, by ascending bound: MACs and what must cross the
  // outermost port.
  std::optional<FusedResult> best(const LayerChain& chain);

 private:
  const MapResult& phase_mapping(const Mapspace& mapspace);
  ArrayHardware hardware_;
  FusionOptions options_;
  std::map<std::string, MapResult> known_;
};

// All tilings that best() considers.
std::vector<FusedTiling> candidate_tilings(const LayerChain& chain);

// A run of consecutive layers of a chain: one layer alone, or several fused.
struct FusionSegment {
  std::vector<int> layers;  // of the network
  double separate_energy = 0, separate_cycles = 0;
  std::optional<FusedResult> fused;  // absent: runs layer by layer
};
struct FusionReport {
  std::vector<FusionSegment> segments;  // only those that are fused
  int chains = 0;
  double separate_energy = 0, separate_cycles = 0;  // of the whole network
  double fused_energy = 0, fused_cycles = 0;
  double gain() const { return separate_energy > 0 ? 1 - fused_energy / separate_energy : 0; }
};

// Cuts every chain into segments of at most `longest` layers so that the sum of energies is least: dynamic
// programming over the cuts. `run` gives the energies of the layers alone.
FusionReport fuse_network(const NetworkReport& report, const DataflowRun& run,
                          const std::vector<std::vector<int>>& chains, FusionSearch& search, int longest = 3,
                          const std::function<void(int chain, int count)>& progress = {});
std::string fusion_text(const FusionReport& fusion, const NetworkReport& report);
std::string fusion_json(const FusionReport& fusion, const NetworkReport& report);

}  // namespace tilewright
