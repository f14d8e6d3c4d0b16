// Which layers of a network to fuse, and the tables of it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"
#include "tilewright/spatial/network/fused_search.h"

namespace tilewright {
namespace {

// Segments by the shapes of their layers: networks repeat their blocks.
using KnownSegments = std::map<std::vector<int>, std::optional<FusedResult>>;

FusionSegment segment_of(const NetworkReport& report, const DataflowRun& run, std::vector<int> layers) {
  FusionSegment segment;
  segment.layers = std::move(layers);
  for (const int index : segment.layers) {
    const LayerCost& cost = report.cost(run, report.network.layers[size_t(index)]);
    segment.separate_energy += cost.energy;
    segment.separate_cycles += cost.cycles;
  }
  return segment;
}

const std::optional<FusedResult>& fused_of(const NetworkReport& report, const FusionSegment& segment,
                                           FusionSearch& search, KnownSegments& known) {
  std::vector<int> shapes;
  LayerChain chain;
  for (const int index : segment.layers) {
    const NetworkLayer& layer = report.network.layers[size_t(index)];
    shapes.push_back(layer.shape);
    chain.push_back(report.network.workload(layer));
  }
  const auto found = known.find(shapes);
  return found != known.end() ? found->second : known[shapes] = search.best(chain);
}

// "3-5 conv1 ..": numbers in the network and the first name.
std::string layer_names(const FusionSegment& segment, const NetworkReport& report) {
  return fmt::format("{}-{} {} ..", segment.layers.front() + 1, segment.layers.back() + 1,
                     shortened_middle(report.network.layers[size_t(segment.layers.front())].name, 40));
}

std::string tile_text(const FusionSegment& segment, const NetworkReport& report) {
  const Workload& last = report.network.workload(report.network.layers[size_t(segment.layers.back())]);
  const FusedTiling& tiling = segment.fused->tiling;
  std::string text;
  for (size_t r = 0; r < tiling.tile.size(); ++r) {
    const Rank& rank = last.data_spaces[kOutputSpace].ranks[r];
    if (tiling.tile[r] < rank.size)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", rank.name, tiling.tile[r]);
  }
  return text.empty() ? "whole" : text;
}

std::string kept_text(const FusionSegment& segment, const NetworkReport& report) {
  const FusedTiling& tiling = segment.fused->tiling;
  std::string text;
  const Workload& last = report.network.workload(report.network.layers[size_t(segment.layers.back())]);
  if (tiling.retained >= 0)
    text = "overlap along " + last.data_spaces[kOutputSpace].ranks[size_t(tiling.retained)].name;
  std::string weights;
  for (size_t l = 0; l < segment.layers.size(); ++l) {
    if ((tiling.resident >> l & 1u) != 0) weights += fmt::format("{}{}", weights.empty() ? "" : ",", l + 1);
  }
  if (!weights.empty()) text += (text.empty() ? "" : ", ") + ("weights of " + weights);
  return text.empty() ? "nothing" : text;
}

}  // namespace

FusionReport fuse_network(const NetworkReport& report, const DataflowRun& run,
                          const std::vector<std::vector<int>>& chains, FusionSearch& search, int longest,
                          const std::function<void(int chain, int count)>& progress) {
  FusionReport fusion;
  const RunTotals total = report.totals(run);
  fusion.separate_energy = fusion.fused_energy = total.energy;
  fusion.separate_cycles = fusion.fused_cycles = total.cycles;
  fusion.chains = int(chains.size());
  KnownSegments known;
  int number = 0;
  for (const std::vector<int>& chain : chains) {
    if (progress) progress(++number, int(chains.size()));
    const size_t layers = chain.size();
    // least[k]: energy of the first k layers; last[k]: the segment that ends there.
    std::vector<double> least(layers + 1, std::numeric_limits<double>::infinity());
    std::vector<FusionSegment> last(layers + 1);
    least[0] = 0;
    for (size_t end = 1; end <= layers; ++end) {
      for (size_t length = 1; length <= std::min(end, size_t(longest)); ++length) {
        const auto from = chain.begin() + int64_t(end - length);
        FusionSegment segment = segment_of(report, run, {from, from + int64_t(length)});
        double energy = segment.separate_energy;
        if (length > 1) {
          const bool costed = std::all_of(segment.layers.begin(), segment.layers.end(), [&](int index) {
            return report.cost(run, report.network.layers[size_t(index)]).has_cost();
          });
          if (!costed) continue;
          segment.fused = fused_of(report, segment, search, known);
          if (!segment.fused) continue;
          energy = segment.fused->energy;
        }
        if (least[end - length] + energy < least[end]) {
          least[end] = least[end - length] + energy;
          last[end] = std::move(segment);
        }
      }
    }
    std::vector<FusionSegment> taken;
    for (size_t end = layers; end > 0;) {
      const size_t length = last[end].layers.size();
      if (last[end].fused) taken.push_back(std::move(last[end]));
      end -= length;
    }
    for (size_t s = taken.size(); s-- > 0;) {
      fusion.fused_energy += taken[s].fused->energy - taken[s].separate_energy;
      fusion.fused_cycles += taken[s].fused->cycles - taken[s].separate_cycles;
      fusion.segments.push_back(std::move(taken[s]));
    }
  }
  return fusion;
}

std::string fusion_text(const FusionReport& fusion, const NetworkReport& report) {
  std::string text = fmt::format(
      "Fused layers: what passes between them stays in the buffer, tile by tile. Chains in the model: {}.\n",
      fusion.chains);
  if (fusion.segments.empty()) return text + "No segment of a chain needs less energy fused.\n";
  TextTable table({"layers", "tile", "kept between tiles", ">recomputed", ">energy apart", ">fused", ">gain",
                   ">cycles apart", ">fused", ">tilings", "status"});
  for (const FusionSegment& segment : fusion.segments) {
    const FusedResult& fused = *segment.fused;
    int64_t operations = 0;
    for (const int64_t count : fused.plan.operations) operations += count;
    table.row({layer_names(segment, report), tile_text(segment, report), kept_text(segment, report),
               fmt::format("{:.1f} %", 100 * double(fused.recomputed_operations) / double(operations)),
               energy_text(segment.separate_energy, report.energy_unit),
               energy_text(fused.energy, report.energy_unit),
               fmt::format("{:.1f} %", 100 * (1 - fused.energy / segment.separate_energy)),
               fmt::format("{:.0f}", segment.separate_cycles), fmt::format("{:.0f}", fused.cycles),
               fmt::format("{} of {}", fused.tilings_costed, fused.tilings_known),
               fused.proven ? "optimal" : "best found"});
  }
  text += table.to_string();
  return text +
         fmt::format(
             "whole network: energy {} instead of {} (gain {:.2f} %), cycles {:.0f} instead of {:.0f}\n",
             energy_text(fusion.fused_energy, report.energy_unit),
             energy_text(fusion.separate_energy, report.energy_unit), 100 * fusion.gain(),
             fusion.fused_cycles, fusion.separate_cycles);
}

std::string fusion_json(const FusionReport& fusion, const NetworkReport& report) {
  using Json = nlohmann::ordered_json;
  Json segments = Json::array();
  for (const FusionSegment& segment : fusion.segments) {
    const FusedResult& fused = *segment.fused;
    Json entry;
    for (const int index : segment.layers)
      entry["layers"].push_back(report.network.layers[size_t(index)].name);
    entry["tile"] = fused.tiling.tile;
    entry["retained_rank"] = fused.tiling.retained;
    for (size_t l = 0; l < segment.layers.size(); ++l) {
      entry["weights_resident"].push_back((fused.tiling.resident >> l & 1u) != 0);
    }
    entry["tiles"] = fused.plan.tiles;
    entry["recomputed_operations"] = fused.recomputed_operations;
    entry["separate_energy"] = segment.separate_energy;
    entry["fused_energy"] = fused.energy;
    entry["outermost_energy"] = fused.outermost_energy;
    entry["separate_cycles"] = segment.separate_cycles;
    entry["fused_cycles"] = fused.cycles;
    entry["tilings_costed"] = fused.tilings_costed;
    entry["tilings_known"] = fused.tilings_known;
    entry["proven"] = fused.proven;
    Json phases = Json::array();
    for (const MappedPhase& mapped : fused.phases) {
      phases.push_back(
          {{"layer", report.network.layers[size_t(segment.layers[size_t(mapped.phase.layer)])].name},
           {"times", mapped.phase.times},
           {"energy", mapped.cost.energy},
           {"cycles", mapped.cost.cycles},
           {"mapping", print_mapping(mapped.phase.workload, mapped.mapping)}});
    }
    entry["phases"] = std::move(phases);
    segments.push_back(std::move(entry));
  }
  const Json result = {{"chains", fusion.chains},
                       {"separate_energy", fusion.separate_energy},
                       {"fused_energy", fusion.fused_energy},
                       {"gain", fusion.gain()},
                       {"separate_cycles", fusion.separate_cycles},
                       {"fused_cycles", fusion.fused_cycles},
                       {"segments", segments}};
  return json_text(result);
}

}  // namespace tilewright
