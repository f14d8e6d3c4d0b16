// What a mapspace allows, said twice: once for its constraints alone, once for a given mapping with every
// reason that keeps it out.
#include "tilewright/spatial/mapspace/mapspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/mapspace/mapspace_choices.h"

namespace tilewright {
namespace {

std::string names_of(const Workload& workload, uint32_t spaces) {
  std::string names;
  for (int space = 0; space < workload.data_space_count(); ++space) {
    if ((spaces >> space & 1u) == 0) continue;
    names += (names.empty() ? "" : ", ") + workload.data_spaces[size_t(space)].name;
  }
  return names;
}

class ConstraintChecker {
 public:
  ConstraintChecker(const Mapspace& mapspace, Diagnostics& diagnostics)
      : mapspace_(mapspace), diagnostics_(diagnostics) {}

  void check_level(size_t l) {
    const LevelConstraints& limits = mapspace_.constraints[l];
    where_ = fmt::format("mapspace, level '{}'", mapspace_.hardware.levels[l].name);
    check_factors("temporal", limits.temporal);
    check_factors("spatial_x", limits.spatial_x);
    check_factors("spatial_y", limits.spatial_y);
    check_fanout("spatial_x", limits.spatial_x, mapspace_.hardware.levels[l].fanout_x);
    check_fanout("spatial_y", limits.spatial_y, mapspace_.hardware.levels[l].fanout_y);
    check_order(limits.innermost);
    check_keeps(l, limits);
  }
  bool sound() const { return sound_; }

 private:
  void fail(const std::string& field, const std::string& message) {
    sound_ = false;
    diagnostics_.error(ErrorKind::kInvalidInput, where_, field, message);
  }

  void check_factors(const std::string& field, const std::vector<int64_t>& factors) {
    const Workload& workload = mapspace_.workload;
    if (factors.empty()) return;
    if (factors.size() != workload.dimensions.size()) {
      fail(field, fmt::format("{} factors for {} dimensions", factors.size(), workload.dimensions.size()));
      return;
    }
    for (size_t d = 0; d < factors.size(); ++d) {
      if (factors[d] < 0) {
        fail(field, fmt::format("factor {} of {} is below 1", factors[d], workload.dimensions[d].name));
      }
    }
  }

  void check_fanout(const std::string& field, const std::vector<int64_t>& factors, int64_t fanout) {
    int64_t used = 1;
    for (const int64_t factor : factors) {
      if (factor > 0) used = used > fanout / factor ? fanout + 1 : used * factor;
    }
    if (used > fanout) fail(field, fmt::format("the fixed factors need more than the {} instances", fanout));
  }

  void check_order(const std::vector<int>& innermost) {
    std::set<int> seen;
    for (const int d : innermost) {
      if (d < 0 || d >= mapspace_.workload.dimension_count()) {
        fail("innermost", fmt::format("dimension {} does not exist", d));
      } else if (!seen.insert(d).second) {
        fail("innermost",
             fmt::format("dimension {} is listed twice", mapspace_.workload.dimensions[size_t(d)].name));
      }
    }
  }

  void check_keeps(size_t l, const LevelConstraints& limits) {
    const Workload& workload = mapspace_.workload;
    const uint32_t all = (1u << workload.data_space_count()) - 1;
    if (((limits.must_keep | limits.must_bypass) & ~all) != 0) {
      fail("keep",
           fmt::format("names data spaces beyond the {} of the workload", workload.data_space_count()));
    }
    if (const uint32_t both = limits.must_keep & limits.must_bypass & all; both != 0) {
      fail("keep", fmt::format("{} must be kept and must be bypassed", names_of(workload, both)));
    }
    const HierarchyLevel machine = array_hierarchy(mapspace_.hardware, workload).levels[l];
    if (const uint32_t barred = limits.must_keep & ~machine.may_keep & all; barred != 0) {
      fail("keep", fmt::format("{} cannot be kept here", names_of(workload, barred)));
    }
    uint32_t needed = l == 0 ? all : 0;
    for (int space = 0; space < workload.data_space_count(); ++space) {
      const uint32_t role = 1u << int(data_role(workload, space));
      if ((mapspace_.hardware.levels[l].must_keep & role) != 0) needed |= 1u << space;
    }
    if (const uint32_t missing = needed & (limits.must_bypass | ~machine.may_keep) & all; missing != 0) {
      fail("bypass", fmt::format("{} must be kept here", names_of(workload, missing)));
    }
  }

  const Mapspace& mapspace_;
  Diagnostics& diagnostics_;
  std::string where_;
  bool sound_ = true;
};

void check_factorisations(const Mapspace& mapspace, Diagnostics& diagnostics) {
  const auto fixes = [](const LevelConstraints& limits) {
    return !limits.temporal.empty() || !limits.spatial_x.empty() || !limits.spatial_y.empty();
  };
  // Free factors always multiply out, and the list of those of a large dimension takes a second.
  if (std::none_of(mapspace.constraints.begin(), mapspace.constraints.end(), fixes)) return;
  const MapspaceChoices choices(mapspace);
  for (int d = 0; d < choices.dimensions(); ++d) {
    if (!choices.factors(0, d, 1).empty()) continue;
    const Dimension& dimension = mapspace.workload.dimensions[size_t(d)];
    std::string fixed;
    for (size_t l = 0; l < mapspace.constraints.size(); ++l) {
      const LevelConstraints& limits = mapspace.constraints[l];
      const auto add = [&](const char* kind, const std::vector<int64_t>& factors) {
        if (factors.empty() || factors[size_t(d)] == kFree) return;
        fixed += fmt::format("{}{} {} {}", fixed.empty() ? "" : ", ", mapspace.hardware.levels[l].name, kind,
                             factors[size_t(d)]);
      };
      add("temporal", limits.temporal);
      add("x", limits.spatial_x);
      add("y", limits.spatial_y);
    }
    diagnostics.error(
        ErrorKind::kInvalidInput, "mapspace", dimension.name,
        fmt::format("the fixed factors ({}) cannot multiply out to its size {}", fixed, dimension.size),
        mapspace.imperfect ? "" : "perfect factors have to divide what is left");
  }
}

// Whether the level's temporal loops stand as the constraint says; outermost first in the mapping.
bool order_holds(const std::vector<int>& innermost, const MappingLevel& level) {
  std::vector<int> present;
  for (auto loop = level.temporal.rbegin(); loop != level.temporal.rend(); ++loop) {
    if (loop->factor > 1) present.push_back(loop->dimension);
  }
  std::vector<int> listed;
  for (const int d : innermost) {
    if (std::find(present.begin(), present.end(), d) != present.end()) listed.push_back(d);
  }
  return std::equal(listed.begin(), listed.end(), present.begin());
}

class MembershipCheck {
 public:
  MembershipCheck(const Mapspace& mapspace, const std::string& where, Diagnostics& diagnostics)
      : mapspace_(mapspace), where_(where), diagnostics_(diagnostics) {}

  void check_level(const LevelConstraints& limits, const MappingLevel& level) {
    name_ = fmt::format("level '{}'", level.name);
    std::vector<int64_t> temporal(size_t(mapspace_.workload.dimension_count()), 1), x = temporal,
                                                                                    y = temporal;
    const auto take = [&](const char* kind, std::vector<int64_t>& factors, int d, int64_t factor) {
      if (factor == 1) return;
      if (factors[size_t(d)] != 1) fail(fmt::format("two {} loops over {}", kind, dimension(d)));
      factors[size_t(d)] *= factor;
    };
    for (const TemporalLoop& loop : level.temporal) take("temporal", temporal, loop.dimension, loop.factor);
    for (const SpatialLoop& loop : level.spatial) {
      take("spatial", loop.axis == SpatialAxis::kX ? x : y, loop.dimension, loop.factor);
    }
    check_fixed("temporal", limits.temporal, temporal);
    check_fixed("x", limits.spatial_x, x);
    check_fixed("y", limits.spatial_y, y);
    for (int d = 0; limits.one_axis_per_dimension && d < mapspace_.workload.dimension_count(); ++d) {
      if (x[size_t(d)] > 1 && y[size_t(d)] > 1) fail(fmt::format("{} lies along both axes", dimension(d)));
    }
    if (!order_holds(limits.innermost, level)) fail("the innermost loops are not those of the constraint");
    const uint32_t all = (1u << mapspace_.workload.data_space_count()) - 1;
    if (const uint32_t missing = limits.must_keep & ~level.keeps & all; missing != 0) {
      fail(fmt::format("the constraint keeps {} here", names_of(mapspace_.workload, missing)));
    }
    if (const uint32_t extra = limits.must_bypass & level.keeps & all; extra != 0) {
      fail(fmt::format("the constraint bypasses {} here", names_of(mapspace_.workload, extra)));
    }
  }

  // Perfect factors: every loop of a dimension divides what the loops inside it leave.
  void check_divisors(const Mapping& mapping) {
    for (int d = 0; d < mapspace_.workload.dimension_count(); ++d) {
      int64_t left = mapspace_.workload.dimensions[size_t(d)].size;
      for (const MappingLevel& level : mapping.levels) {
        name_ = fmt::format("level '{}'", level.name);
        const auto take = [&](int64_t factor) {
          if (left % factor != 0) {
            fail(fmt::format("factor {} does not divide the {} of {} that are left", factor, left,
                             dimension(d)));
          }
          left = std::max<int64_t>(1, left / factor);
        };
        for (const TemporalLoop& loop : level.temporal) {
          if (loop.dimension == d) take(loop.factor);
        }
        for (const SpatialLoop& loop : level.spatial) {
          if (loop.dimension == d) take(loop.factor);
        }
      }
    }
  }

 private:
  const std::string& dimension(int d) const { return mapspace_.workload.dimensions[size_t(d)].name; }
  void fail(const std::string& message) {
    diagnostics_.error(ErrorKind::kInvalidInput, where_, name_, message);
  }
  void check_fixed(const char* kind, const std::vector<int64_t>& fixed, const std::vector<int64_t>& factors) {
    for (size_t d = 0; d < fixed.size(); ++d) {
      if (fixed[d] == kFree || fixed[d] == factors[d]) continue;
      fail(fmt::format("{} factor {} of {}, the constraint fixes {}", kind, factors[d], dimension(int(d)),
                       fixed[d]));
    }
  }

  const Mapspace& mapspace_;
  const std::string& where_;
  Diagnostics& diagnostics_;
  std::string name_;
};

}  // namespace

void Mapspace::verify(Diagnostics& diagnostics) const {
  const size_t before = diagnostics.errors().size();
  workload.verify(diagnostics);
  hardware.verify(diagnostics);
  if (int(hardware.levels.size()) > kMaxMapperLevels || workload.dimension_count() > kMaxMapperDimensions) {
    diagnostics.error(ErrorKind::kUnsupported, "mapspace", "",
                      fmt::format("the mapper takes {} levels and {} dimensions at most, here are {} and {}",
                                  kMaxMapperLevels, kMaxMapperDimensions, hardware.levels.size(),
                                  workload.dimension_count()));
  }
  if (diagnostics.errors().size() != before) return;
  if (!constraints.empty() && constraints.size() != hardware.levels.size()) {
    diagnostics.error(ErrorKind::kInvalidInput, "mapspace", "constraints",
                      fmt::format("constraints of {} levels for hardware with {}", constraints.size(),
                                  hardware.levels.size()));
    return;
  }
  ConstraintChecker checker(*this, diagnostics);
  for (size_t l = 0; l < constraints.size(); ++l) checker.check_level(l);
  if (checker.sound()) check_factorisations(*this, diagnostics);
}

void check_inside(const Mapspace& mapspace, const Mapping& mapping, const std::string& where,
                  Diagnostics& diagnostics, Accounting accounting) {
  const size_t before = diagnostics.errors().size();
  check_array_mapping(mapspace.workload, mapspace.hardware, mapping, where, diagnostics, accounting);
  if (mapping.levels.size() != mapspace.hardware.levels.size()) return;
  // Loops over dimensions that do not exist, and factors below 1, are reported above and end here.
  for (const MappingLevel& level : mapping.levels) {
    const auto unsound = [&](const auto& loop) {
      return loop.factor < 1 || loop.dimension < 0 || loop.dimension >= mapspace.workload.dimension_count();
    };
    if (std::any_of(level.temporal.begin(), level.temporal.end(), unsound) ||
        std::any_of(level.spatial.begin(), level.spatial.end(), unsound)) {
      return;
    }
  }
  MembershipCheck check(mapspace, where, diagnostics);
  for (size_t l = 0; l < mapping.levels.size(); ++l) {
    check.check_level(l < mapspace.constraints.size() ? mapspace.constraints[l] : LevelConstraints(),
                      mapping.levels[l]);
  }
  if (!mapspace.imperfect && diagnostics.errors().size() == before) check.check_divisors(mapping);
}

bool contains(const Mapspace& mapspace, const Mapping& mapping, Accounting accounting) {
  Diagnostics diagnostics;
  check_inside(mapspace, mapping, "mapping", diagnostics, accounting);
  return diagnostics.ok();
}

}  // namespace tilewright
