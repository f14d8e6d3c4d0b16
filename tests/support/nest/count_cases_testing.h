// Random small cases for comparing closed-form access counts with the walker: workloads of every kind, and
// mappings with any order, imperfect factors, spatial loops at every level and bypass.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/nest/access_counts.h"

namespace tilewright {

enum class CountCaseKind : uint8_t {
  kConv,
  kGrouped,
  kDepthwise,
  kTransposed,
  kMatmul,
  kBatchedMatmul,
  kOneTerm,     // random affine ranks of at most one term
  kTwoTerms,    // of up to two, signs included
  kThreeTerms,  // of up to three
};
inline constexpr int kCountCaseKinds = 9;
inline const char* count_case_kind_name(CountCaseKind kind) {
  static constexpr const char* kNames[] = {"conv",           "grouped",  "depthwise", "transposed", "matmul",
                                           "batched_matmul", "one_term", "two_terms", "three_terms"};
  return kNames[size_t(kind)];
}

struct CountCase {
  CountCaseKind kind = CountCaseKind::kConv;
  Workload workload;
  Mapping mapping;
  std::vector<CountingNetwork> networks;
  Accounting accounting = Accounting::kExact;
  bool imperfect = false, bypass = false, spatial = false;
};

inline Workload random_affine_workload(int max_terms, int64_t max_operations, Random& random) {
  Workload w;
  w.name = "affine";
  const int dimensions = int(random.between(1, 5));
  int64_t left = max_operations;
  for (int d = 0; d < dimensions; ++d) {
    const int64_t size = random.between(1, std::min<int64_t>(left, d % 2 == 0 ? 12 : 6));
    left /= size;
    w.dimensions.push_back({fmt::format("D{}", d), size});
  }
  for (const char* name : {"a", "b", "out"}) {
    DataSpace space;
    space.name = name;
    space.is_output = w.data_spaces.size() == 2;
    std::vector<int> order;
    for (int d = 0; d < dimensions; ++d) {
      order.insert(order.begin() + random.between(0, int64_t(order.size())), d);
    }
    size_t next = 0;
    const int ranks = int(random.between(0, 3));
    for (int r = 0; r < ranks; ++r) {
      Rank rank{fmt::format("r{}", r), random.between(1, 20), random.between(-4, 4), {}};
      const int terms = int(random.between(r == 0 ? 1 : 0, max_terms));
      for (int t = 0; t < terms && next < order.size(); ++t) {
        int64_t coefficient = random.chance(0.5) ? 1 : random.between(1, 7);
        if (random.chance(0.3)) coefficient = -coefficient;
        rank.terms.push_back({order[next++], coefficient});
      }
      space.ranks.push_back(rank);
    }
    w.data_spaces.push_back(space);
  }
  return w;
}

inline Workload random_count_workload(CountCaseKind kind, int64_t max_operations, Random& random) {
  if (kind >= CountCaseKind::kOneTerm) {
    return random_affine_workload(1 + int(kind) - int(CountCaseKind::kOneTerm), max_operations, random);
  }
  while (true) {
    Workload w;
    if (kind == CountCaseKind::kMatmul || kind == CountCaseKind::kBatchedMatmul) {
      const int64_t m = random.between(1, 12), n = random.between(1, 12), k = random.between(1, 12);
      const int64_t batch = random.between(1, 4);
      w = kind == CountCaseKind::kMatmul ? matmul_workload("m", m, n, k)
                                         : batched_matmul_workload("b", batch, m, n, k, random.chance(0.5));
    } else {
      ConvShape shape;
      shape.batch = random.chance(0.6) ? 1 : random.between(2, 3);
      shape.group = kind == CountCaseKind::kGrouped ? random.between(2, 4) : 1;
      shape.input_channels = shape.group * random.between(1, 4);
      shape.output_channels = shape.group * random.between(1, 4);
      for (WindowAxis* axis : {&shape.height, &shape.width}) {
        axis->kernel = random.chance(0.3) ? 1 : random.between(1, 4);
        axis->stride = random.chance(0.5) ? 1 : random.between(1, 4);
        axis->dilation = random.chance(0.7) ? 1 : random.between(2, 3);
        axis->pad_begin = random.between(0, 2);
        axis->output = random.between(1, random.chance(0.3) ? 14 : 5);
        axis->input = random.between(1, kind == CountCaseKind::kTransposed ? 6 : 20);
      }
      w = kind == CountCaseKind::kDepthwise    ? depthwise_workload("d", shape, random.between(1, 2))
          : kind == CountCaseKind::kTransposed ? conv2d_transpose_workload("t", shape)
                                               : conv2d_workload("c", shape);
    }
    if (w.operation_count() <= max_operations) return w;
  }
}

// Every dimension is cut into factors, inside out, each put as a loop somewhere in its level.
inline Mapping random_count_mapping(const Workload& workload, int levels, double spatial, bool imperfect,
                                    Random& random) {
  Mapping mapping;
  mapping.levels.resize(size_t(levels));
  std::vector<int64_t> left;
  for (const Dimension& dimension : workload.dimensions) left.push_back(dimension.size);
  const auto take = [&](size_t d) {
    int64_t factor = random.between(1, left[d]);
    while (!imperfect && left[d] % factor != 0) factor = random.between(1, left[d]);
    left[d] = (left[d] + factor - 1) / factor;
    return factor;
  };
  for (int l = levels - 1; l >= 0; --l) {
    MappingLevel& level = mapping.levels[size_t(l)];
    level.name = fmt::format("l{}", l);
    if (l > 0) level.keeps = uint32_t(random.chance(0.4) ? 7 : random.between(0, 7));
    // The inner loops take their factors first.
    for (size_t d = 0; d < left.size(); ++d) {
      for (int again = random.chance(0.1) ? 2 : 1; again > 0; --again) {
        if (!random.chance(spatial)) continue;
        const SpatialAxis axis = random.chance(0.5) ? SpatialAxis::kX : SpatialAxis::kY;
        const auto factor = take(d);
        if (factor > 1 || random.chance(0.1)) {
          level.spatial.insert(level.spatial.begin(), {int(d), factor, axis});
        }
      }
    }
    std::vector<size_t> order;
    for (size_t d = 0; d < left.size(); ++d) {
      order.insert(order.begin() + random.between(0, int64_t(order.size())), d);
    }
    if (random.chance(0.3)) order.push_back(order.front());  // a dimension twice in one level
    for (const size_t d : order) {
      if (l > 0 && random.chance(0.4)) continue;
      const int64_t factor = l == 0 ? left[d] : take(d);
      if (l == 0) left[d] = 1;
      if (factor > 1 || random.chance(0.1)) level.temporal.insert(level.temporal.begin(), {int(d), factor});
    }
  }
  return mapping;
}

inline CountCase random_count_case(uint64_t seed, int64_t max_operations = 600) {
  Random random(seed * 2654435761u + 17);
  CountCase c;
  c.kind = CountCaseKind(seed % kCountCaseKinds);
  c.accounting = random.chance(0.3) ? Accounting::kTimeloop : Accounting::kExact;
  c.workload =
      random_count_workload(c.kind, random.chance(0.5) ? max_operations / 4 : max_operations, random);
  const int levels = int(random.between(1, 5));
  c.imperfect = random.chance(0.5);
  const double spatial = random.chance(0.2) ? 0 : random.chance(0.5) ? 0.15 : 0.4;
  c.mapping = random_count_mapping(c.workload, levels, spatial, c.imperfect, random);
  const bool plain = random.chance(0.4);
  for (int l = 0; l < levels; ++l) {
    c.networks.push_back({plain || random.chance(0.7), plain || random.chance(0.7)});
    c.spatial = c.spatial || !c.mapping.levels[size_t(l)].spatial.empty();
    c.bypass = c.bypass || (c.mapping.levels[size_t(l)].keeps & 7u) != 7u;
  }
  return c;
}

inline std::string describe(const CountCase& c) {
  std::string text = fmt::format("{} {}", count_case_kind_name(c.kind),
                                 c.accounting == Accounting::kExact ? "exact" : "timeloop");
  for (const Dimension& d : c.workload.dimensions) text += fmt::format(" {}={}", d.name, d.size);
  for (const DataSpace& space : c.workload.data_spaces) {
    text += "\n" + space.name;
    for (const Rank& rank : space.ranks) {
      text += " [";
      for (const ProjectionTerm& t : rank.terms) {
        text += fmt::format(" {}*{}", t.coefficient, c.workload.dimensions[size_t(t.dimension)].name);
      }
      text += " ]";
    }
  }
  text += "\n" + print_mapping(c.workload, c.mapping);
  for (const CountingNetwork& n : c.networks)
    text += fmt::format(" m{}r{}", int(n.multicast), int(n.reduction));
  return text + "\n";
}

inline std::string describe(const AccessCounts& counts) {
  std::string text = fmt::format("operations {} steps {} used", counts.operations, counts.steps);
  for (const int64_t n : counts.used_instances) text += fmt::format(" {}", n);
  text += " tiles";
  for (const int64_t n : counts.tile_words) text += fmt::format(" {}", n);
  for (const SpaceTraffic& t : counts.traffic) {
    text += fmt::format(
        "\n  space {} {}->{}: reads {} fills {} row_fills {} updates {} drains {} row_drains {}", t.space,
        t.parent, t.child, t.reads, t.fills, t.row_fills, t.updates, t.drains, t.row_drains);
  }
  return text + "\n";
}

}  // namespace tilewright
