// Random small mapspaces for tests: every kind of workload, one to four levels, shared and reserved
// capacities, bypass, fan-out, networks with and without multicast, bandwidths and constraints.
#pragma once

#include <fmt/format.h>

#include "tilewright/base/random.h"
#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright {

inline WindowAxis random_window(Random& random) {
  WindowAxis axis;
  axis.kernel = random.between(1, 3);
  axis.stride = random.chance(0.3) ? 2 : 1;
  axis.dilation = random.chance(0.2) ? 2 : 1;
  axis.output = random.between(1, 5);
  axis.pad_begin = random.between(0, 1);
  axis.input = (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
  return axis;
}

// Any affine workload: ranks of up to three terms, negative coefficients, outputs that slide.
inline Workload random_affine_workload(Random& random) {
  Workload workload;
  workload.name = "a";
  const int dimensions = int(random.between(2, 4));
  for (int d = 0; d < dimensions; ++d)
    workload.dimensions.push_back({fmt::format("D{}", d), random.between(1, 5)});
  const int spaces = random.chance(0.2) ? 4 : 3;
  for (int s = 0; s < spaces; ++s) {
    DataSpace space;
    space.name = fmt::format("s{}", s);
    space.is_output = s == 2;
    space.ranks.resize(size_t(random.between(1, 2)));
    for (size_t r = 0; r < space.ranks.size(); ++r) space.ranks[r].name = fmt::format("r{}", r);
    for (int d = 0; d < dimensions; ++d) {
      if (random.chance(0.35)) continue;
      int64_t coefficient = random.chance(0.6) ? 1 : random.between(2, 3);
      if (random.chance(0.2)) coefficient = -coefficient;
      Rank& rank = space.ranks[size_t(random.between(0, int64_t(space.ranks.size()) - 1))];
      if (rank.terms.size() < 3) rank.terms.push_back({d, coefficient});
    }
    for (Rank& rank : space.ranks) rank.size = 40;
    workload.data_spaces.push_back(std::move(space));
  }
  return workload;
}

inline Workload random_small_workload(Random& random) {
  const int64_t kind = random.between(0, 6);
  if (kind == 6) return random_affine_workload(random);
  if (kind == 0)
    return matmul_workload("m", random.between(1, 8), random.between(1, 8), random.between(1, 8));
  if (kind == 1) {
    return batched_matmul_workload("b", random.between(1, 3), random.between(1, 6), random.between(1, 6),
                                   random.between(1, 4), random.chance(0.5));
  }
  ConvShape shape;
  shape.batch = random.chance(0.3) ? 2 : 1;
  shape.group = random.chance(0.2) ? 2 : 1;
  shape.input_channels = shape.group * random.between(1, 4);
  shape.output_channels = shape.group * random.between(1, 4);
  shape.height = random.chance(0.5) ? random_window(random) : WindowAxis();
  shape.width = random_window(random);
  if (kind == 2) return depthwise_workload("d", shape, random.between(1, 2));
  if (kind == 3) {
    // The roles of input and output swap.
    std::swap(shape.height.input, shape.height.output);
    std::swap(shape.width.input, shape.width.output);
    if (shape.height.input * shape.width.input < 20) return conv2d_transpose_workload("t", shape);
    std::swap(shape.height.input, shape.height.output);
    std::swap(shape.width.input, shape.width.output);
  }
  return conv2d_workload("c", shape);
}

inline ArrayHardware random_small_hardware(Random& random) {
  ArrayHardware hardware;
  hardware.name = "random";
  hardware.mac_energy = double(random.between(0, 4)) * 0.5;
  const int levels = int(random.between(1, 4));
  const bool decimal = random.chance(0.3), ports = random.chance(0.3);
  const auto energy = [&](int64_t most) {
    return decimal ? double(random.between(0, most * 10)) / 10 : double(random.between(0, most));
  };
  for (int l = 0; l < levels; ++l) {
    ArrayLevel level;
    level.name = fmt::format("l{}", l);
    if (l > 0) {
      level.capacity_words = random.chance(0.05) ? 0 : random.between(4, 120 / l);
      if (random.chance(0.15))
        level.role_capacity_words[size_t(random.between(0, 2))] = random.between(1, 30);
      level.may_keep = random.chance(0.8) ? 7 : uint32_t(random.between(0, 7));
      level.copies = random.chance(0.1) ? 2 : 1;
      if (random.chance(0.1)) level.overlaps_transfers = false;
      if (level.capacity_words > 0 && random.chance(0.1))
        level.must_keep = level.may_keep & 1u << random.between(0, 2);
    }
    const int64_t scale = l == 0 ? 40 : 8 / l;
    level.read_energy = energy(scale);
    level.fill_energy = energy(scale);
    level.update_energy = energy(scale);
    if (ports && random.chance(0.5)) level.read_words_per_cycle = double(random.between(1, 8)) / 4;
    if (ports && random.chance(0.5)) level.write_words_per_cycle = double(random.between(1, 8)) / 4;
    if (random.chance(0.35)) level.fanout_x = random.between(2, 4);
    if (random.chance(0.25)) level.fanout_y = random.between(2, 3);
    level.network.multicast = random.chance(0.7);
    level.network.reduction = random.chance(0.7);
    if (random.chance(0.4)) level.network.delivery_energy = energy(3);
    if (random.chance(0.3)) level.network.hop_energy = energy(2);
    if (ports && random.chance(0.3)) {
      level.network.words_per_cycle[size_t(random.between(0, 2))] = double(random.between(1, 6)) / 2;
    }
    hardware.levels.push_back(level);
  }
  return hardware;
}

inline void constrain_at_random(Mapspace& mapspace, Random& random) {
  const size_t dimensions = mapspace.workload.dimensions.size();
  mapspace.constraints.resize(mapspace.hardware.levels.size());
  for (LevelConstraints& limits : mapspace.constraints) {
    const auto fix = [&](std::vector<int64_t>& factors) {
      factors.assign(dimensions, kFree);
      factors[size_t(random.between(0, int64_t(dimensions) - 1))] = random.between(1, 2);
    };
    if (random.chance(0.2)) fix(limits.temporal);
    if (random.chance(0.2)) fix(limits.spatial_x);
    if (random.chance(0.1)) fix(limits.spatial_y);
    if (random.chance(0.3)) limits.innermost.push_back(int(random.between(0, int64_t(dimensions) - 1)));
    if (random.chance(0.2)) limits.must_keep = 1u << random.between(0, 2);
    if (random.chance(0.2)) limits.must_bypass = 1u << random.between(0, 2);
    limits.one_axis_per_dimension = random.chance(0.2);
  }
}

// A mapspace that verifies, of `least` to `most` mappings and at most `operations`.
inline Mapspace random_mapspace(Random& random, double least, double most, int64_t operations = 200) {
  while (true) {
    Mapspace mapspace;
    mapspace.workload = random_small_workload(random);
    if (mapspace.workload.operation_count() > operations || mapspace.workload.operation_count() < 4) continue;
    mapspace.hardware = random_small_hardware(random);
    mapspace.imperfect = random.chance(0.4);
    if (random.chance(0.5)) constrain_at_random(mapspace, random);
    Diagnostics diagnostics;
    mapspace.verify(diagnostics);
    if (!diagnostics.ok()) continue;
    const double size = mapspace.size();
    if (least <= size && size <= most) return mapspace;
  }
}

}  // namespace tilewright
