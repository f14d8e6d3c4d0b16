// A mapspace: every mapping of a workload on a spatial architecture that a set of constraints allows.
//
// A mapping of the space assigns to every level: for each dimension a temporal factor and a spatial factor on
// each axis, the order of the temporal loops (factors of 1 have no place in it), and what is kept. Spatial
// loops of one level are in the order of the dimensions, y outside x. With `imperfect` factors need not
// divide; each factor is then at most the tiles that are left for it (nest/validity.h). Two mappings are the
// same if they print the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/hardware/array_hardware.h"
#include "tilewright/nest/access_counts.h"
#include "tilewright/nest/mapping.h"
#include "tilewright/nest/validity.h"

namespace tilewright {

inline constexpr int64_t kFree = 0;  // a factor that the search chooses

struct LevelConstraints {
  // By dimension; empty: all free. A positive number fixes the factor.
  std::vector<int64_t> temporal, spatial_x, spatial_y;
  // Dimensions whose temporal loops are the innermost of this level, innermost first; the others lie outside,
  // in any order. Empty: any order. A list of every dimension fixes the order.
  std::vector<int> innermost;
  uint32_t must_keep = 0, must_bypass = 0;  // bits per data space
  // A dimension has a spatial factor on one axis at most (arrays whose rows and columns each unroll a list of
  // dimensions, as Timeloop has them). Otherwise C=64 fits a 16x16 array as x:C=16 y:C=4.
  bool one_axis_per_dimension = false;
  bool operator==(const LevelConstraints&) const = default;
};

struct Mapspace {
  Workload workload;
  ArrayHardware hardware;
  std::vector<LevelConstraints> constraints;  // by level; empty: none
  bool imperfect = false;

  // Problems of the workload, the hardware and the constraints: names, factors that cannot multiply out,
  // contradictory keeps. The functions below take a mapspace that verifies.
  void verify(Diagnostics& diagnostics) const;
  // Number of mappings before any is excluded by capacities or by spatial factors that fit an axis alone but
  // not together: factorisations x orders x keeps (a double: they reach 1e22).
  double size() const;
};

// Whether the mapping is valid on the hardware and inside the constraints; every reason if not. What tiles
// need of a capacity depends on the accounting (spatial/cost/cost.h).
bool contains(const Mapspace& mapspace, const Mapping& mapping, Accounting accounting = Accounting::kExact);
void check_inside(const Mapspace& mapspace, const Mapping& mapping, const std::string& where,
                  Diagnostics& diagnostics, Accounting accounting = Accounting::kExact);

// Calls body for every valid mapping of a small mapspace, each once. For tests and tiny spaces.
void for_each_mapping(const Mapspace& mapspace, const std::function<void(const Mapping&)>& body,
                      Accounting accounting = Accounting::kExact);

}  // namespace tilewright
