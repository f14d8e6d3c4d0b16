// Both functions of the header run one walk over the rules; a rule that is broken calls `report` with a
// function that makes the message, so the verdict alone never formats anything.
#include "tilewright/nest/validity.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/nest/footprint.h"

namespace tilewright {
namespace {

// Whether the loops can be read at all: later rules rely on it.
template <typename Report>
bool check_structure(const Workload& workload, const Hierarchy& hierarchy, const Mapping& mapping,
                     Report&& report) {
  bool sound = true;
  const auto fail = [&](const std::string& level, auto message) {
    sound = false;
    report(level, message);
  };
  if (hierarchy.levels.size() != mapping.levels.size()) {
    fail("", [&] {
      return fmt::format("{} levels for a hierarchy of {}", mapping.levels.size(), hierarchy.levels.size());
    });
    return false;
  }
  for (size_t l = 0; l < mapping.levels.size(); ++l) {
    if (mapping.levels[l].name != hierarchy.levels[l].name) {
      fail(mapping.levels[l].name,
           [&] { return fmt::format("level {} of the hierarchy is '{}'", l, hierarchy.levels[l].name); });
    }
  }
  for_each_loop_inside_out(mapping, mapping.level_count(), [&](int l, const auto& loop) {
    const MappingLevel& level = mapping.levels[size_t(l)];
    const int dimension = loop.dimension;
    const int64_t factor = loop.factor;
    if (dimension < 0 || dimension >= workload.dimension_count()) {
      fail(level.name,
           [&] { return fmt::format("a loop over dimension {}, which does not exist", dimension); });
    } else if (factor < 1) {
      fail(level.name, [&] {
        return fmt::format("factor {} of {} is below 1", factor, workload.dimensions[size_t(dimension)].name);
      });
    }
  });
  return sound;
}

// The loops of each dimension, inside out: a factor must not exceed the inner tiles that are left.
template <typename Report>
void check_cover(const Workload& workload, const Mapping& mapping, std::span<int64_t> covered,
                 Report&& report) {
  std::fill(covered.begin(), covered.end(), 1);
  for_each_loop_inside_out(mapping, mapping.level_count(), [&](int l, const auto& loop) {
    const MappingLevel& level = mapping.levels[size_t(l)];
    const int dimension = loop.dimension;
    const int64_t factor = loop.factor;
    const Dimension& d = workload.dimensions[size_t(dimension)];
    int64_t& inner = covered[size_t(dimension)];
    const int64_t useful = ceil_div(d.size, inner);
    if (factor > useful) {
      report(level.name, [&] {
        return fmt::format("factor {} of {} exceeds the {} tiles of {} in its size {}", factor, d.name,
                           useful, inner, d.size);
      });
    }
    inner *= std::min(factor, useful);
  });
  for (size_t i = 0; i < covered.size(); ++i) {
    const Dimension& d = workload.dimensions[i];
    if (covered[i] < d.size) {
      report("",
             [&] { return fmt::format("the loops cover {} of the {} of {}", covered[i], d.size, d.name); });
    }
  }
}

template <typename Report>
void check_level(const Workload& workload, const HierarchyLevel& machine, const MappingLevel& level,
                 bool outermost, std::span<const int64_t> extents, Report&& report) {
  for (const SpatialAxis axis : {SpatialAxis::kX, SpatialAxis::kY}) {
    const int64_t used = spatial_fanout(level, axis);
    const int64_t available = axis == SpatialAxis::kX ? machine.fanout_x : machine.fanout_y;
    if (used > available) {
      report(level.name, [&] {
        return fmt::format("spatial loops need {} instances along {}, there are {}", used,
                           axis == SpatialAxis::kX ? 'x' : 'y', available);
      });
    }
  }
  int64_t total = 0;
  for (int space = 0; space < workload.data_space_count(); ++space) {
    const DataSpace& data = workload.data_spaces[size_t(space)];
    if (!level.keeps_space(space)) {
      if (outermost) {
        report(level.name, [&] { return fmt::format("the outermost level must keep {}", data.name); });
      }
      continue;
    }
    if ((machine.may_keep >> space & 1u) == 0) {
      report(level.name, [&] { return fmt::format("{} cannot be kept here", data.name); });
    }
    const bool reserved = size_t(space) < machine.space_capacity_bits.size() &&
                          machine.space_capacity_bits[size_t(space)] != kUnlimited;
    if (!reserved && machine.capacity_bits == kUnlimited) continue;
    const int64_t bits = tile_bits(workload, machine, space, extents);
    if (!reserved || !machine.reserved_apart) total += bits;
    if (reserved && bits > machine.space_capacity_bits[size_t(space)]) {
      report(level.name, [&] {
        return fmt::format("the tile of {} takes {} bits of {}", data.name, bits,
                           machine.space_capacity_bits[size_t(space)]);
      });
    }
  }
  if (machine.capacity_bits != kUnlimited && total > machine.capacity_bits) {
    report(level.name,
           [&] { return fmt::format("the tiles take {} bits of {}", total, machine.capacity_bits); });
  }
}

template <typename Report>
void check_all(const Workload& workload, const Hierarchy& hierarchy, const Mapping& mapping,
               Report&& report) {
  if (!check_structure(workload, hierarchy, mapping, report)) return;
  const size_t dimensions = workload.dimensions.size(), levels = mapping.levels.size();
  std::vector<int64_t> buffer((levels + 2) * dimensions);
  const std::span<int64_t> extents = std::span(buffer).first((levels + 1) * dimensions);
  check_cover(workload, mapping, std::span(buffer).last(dimensions), report);
  tile_extents(workload, mapping, extents);
  for (size_t l = 0; l < levels; ++l) {
    check_level(workload, hierarchy.levels[l], mapping.levels[l], l == 0,
                extents.subspan(l * dimensions, dimensions), report);
  }
}

}  // namespace

int64_t tile_bits(const Workload& workload, const HierarchyLevel& level, int space,
                  std::span<const int64_t> extents) {
  const DataSpace& data = workload.data_spaces[size_t(space)];
  const int64_t elements = level.stores_gaps ? bounding_box(data, extents) : footprint(data, extents);
  return elements * data.bits * level.copies;
}

void check_mapping(const Workload& workload, const Hierarchy& hierarchy, const Mapping& mapping,
                   const std::string& where, Diagnostics& diagnostics) {
  check_all(workload, hierarchy, mapping, [&](const std::string& level, auto message) {
    diagnostics.error(ErrorKind::kInvalidInput, where, level.empty() ? "" : fmt::format("level '{}'", level),
                      message());
  });
}

bool is_valid(const Workload& workload, const Hierarchy& hierarchy, const Mapping& mapping) {
  bool valid = true;
  check_all(workload, hierarchy, mapping, [&](const std::string&, auto) { valid = false; });
  return valid;
}

}  // namespace tilewright
