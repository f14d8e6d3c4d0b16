// A short fixed list, all with early_start: the first step and the last tile's finish whole or in 4 parts,
// and once parameters_by_tile. Candidates that would not change the program or do not fit are left out.
#include "tilewright/overlay/schedule/schedule_refinements.h"

#include <algorithm>
#include <utility>

namespace tilewright::overlay {

bool refinements_matter(const OverlayLayer& layer, const OverlayHardware& hardware, const Schedule& s,
                        std::shared_ptr<const TilingFacts> facts) {
  if (!s.early_start && !s.parameters_by_tile && s.first_parts * s.finish_parts == 1) return true;
  if (s.virtual_threads == 1 || layer.kind != OverlayLayerKind::kMatrix) return false;
  if (s.first_parts > 1 && (!s.early_start || !facts->blocks.dense || s.first_parts > s.in_blocks)) {
    return false;
  }
  const int64_t last_rows = (layer.out_height - 1) % s.rows + 1;
  const int64_t last_out = (facts->blocks.out - 1) % s.out_blocks + 1;
  if (s.finish_parts > std::max(last_rows, last_out)) return false;
  if (!s.parameters_by_tile) return true;
  Schedule all = s;
  all.parameters_by_tile = false;
  const Tiling tiling(layer, hardware, all, std::move(facts));
  return tiling.all_parameters && tiling.parameter_vectors > 0;
}

std::vector<Schedule> refined_schedules(const OverlayLayer& layer, const OverlayHardware& hardware,
                                        const Schedule& schedule, std::shared_ptr<const TilingFacts> facts) {
  std::vector<Schedule> refined;
  const auto consider = [&](bool by_tile, int first_parts, int finish_parts) {
    Schedule s = schedule;
    s.early_start = true;
    s.parameters_by_tile = by_tile;
    s.first_parts = first_parts;
    s.finish_parts = finish_parts;
    if (refinements_matter(layer, hardware, s, facts) && Tiling(layer, hardware, s, facts).fits(hardware)) {
      refined.push_back(s);
    }
  };
  for (const int finish_parts : {1, 4}) {
    for (const int first_parts : {1, 4}) consider(false, first_parts, finish_parts);
  }
  consider(true, 1, 4);
  return refined;
}

}  // namespace tilewright::overlay
