// A mapspace as the sampling searches of the module `search` want it: random mappings, small changes of one,
// mixtures of two. Used for the mapper's baselines and its first incumbent.
#pragma once

#include <optional>

#include "tilewright/base/random.h"
#include "tilewright/spatial/mapper/mapper_values.h"
#include "tilewright/spatial/mapspace/slot_evaluator.h"

namespace tilewright {

class MapspaceSampling {
 public:
  using Solution = SlotMapping;
  using Value = MapValue;

  // `mapspace` must outlive this object.
  // `deadline` (may be null) is checked while the factors are listed.
  MapspaceSampling(const Mapspace& mapspace, const MapperOptions& options,
                   const Deadline* deadline = nullptr);

  // Any mapping whose factors multiply out: from the innermost slot outwards each takes a random factor of
  // those with which the tiles still fit, if there is one.
  SlotMapping sample(Random& random) const;
  // One of: the factors of a few dimensions drawn anew as sample() draws them, from some slot outwards, so
  // that they can trade places in a full array or a full memory; a loop moved to another place in its level;
  // another set of kept data.
  SlotMapping neighbour(const SlotMapping& mapping, Random& random) const;
  // Every dimension's factors and every level's kept data from one of the two, orders from the first.
  SlotMapping crossover(const SlotMapping& a, const SlotMapping& b, Random& random) const;
  // Nothing if the mapping is not valid or too slow.
  std::optional<MapValue> cost(const SlotMapping& mapping) const;

  const MapspaceChoices& choices() const { return choices_; }
  const EnergyScale& scale() const { return scale_; }
  bool fast() const { return evaluator_.fast(); }

 private:
  int64_t& factor(SlotMapping& mapping, int slot, int d) const {
    return mapping.factors[size_t(slot * choices_.dimensions() + d)];
  }
  // Random factors that fit for the dimensions `drawn` in the slots from `first` outwards.
  void draw(SlotMapping& mapping, std::vector<int> drawn, int first, Random& random) const;
  // Draws the factors of one to three dimensions anew, from some slot outwards.
  void redraw(SlotMapping& mapping, Random& random) const;
  void change(SlotMapping& mapping, Random& random) const;
  bool move_loop(SlotMapping& mapping, Random& random) const;
  void change_keeps(SlotMapping& mapping, Random& random) const;
  // Makes the orders hold the loops that there are, new ones at random places.
  void repair_orders(SlotMapping& mapping, Random& random) const;

  const Mapspace& mapspace_;
  MapperOptions options_;
  MapspaceChoices choices_;
  SlotEvaluator evaluator_;
  EnergyScale scale_;
  std::vector<int> long_;    // dimensions of more than one iteration
  std::vector<int> open_;    // slots, all but the outermost, that can hold loops
  std::vector<int> choosy_;  // levels that may keep one thing or another
};

}  // namespace tilewright
