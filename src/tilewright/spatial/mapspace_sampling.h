// A mapspace as the sampling searches of the module `search` want it: random mappings, small changes of one,
// mixtures of two. The baselines of the mapper, and where its first incumbent comes from.
#pragma once

#include <optional>

#include "tilewright/base/random.h"
#include "tilewright/spatial/mapper_values.h"
#include "tilewright/spatial/slot_evaluator.h"

namespace tilewright {

class MapspaceSampling {
 public:
  using Solution = SlotMapping;
  using Value = MapValue;

  // `mapspace` must outlive this object.
  MapspaceSampling(const Mapspace& mapspace, const MapperOptions& options);

  // Any mapping whose factors multiply out: from the innermost slot outwards each takes a random factor of
  // those with which the tiles still fit, if one does.
  SlotMapping sample(Random& random) const;
  // One of: a prime factor of a dimension moved to another slot; one factor replaced, the outer ones adapted;
  // a loop moved to another place in its level; another set of kept data.
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
  bool allowed(const SlotMapping& mapping, int d) const;
  bool move_prime(SlotMapping& mapping, Random& random) const;
  void replace_factor(SlotMapping& mapping, Random& random) const;
  void move_loop(SlotMapping& mapping, Random& random) const;
  void change_keeps(SlotMapping& mapping, Random& random) const;
  // Makes the orders hold the loops that there are, new ones at random places.
  void repair_orders(SlotMapping& mapping, Random& random) const;

  const Mapspace& mapspace_;
  MapperOptions options_;
  MapspaceChoices choices_;
  SlotEvaluator evaluator_;
  EnergyScale scale_;
};

}  // namespace tilewright
