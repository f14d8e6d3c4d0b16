// The rules of Timeloop on strided and dilated layers: what a tile takes of a capacity and what it
// moves are the same boxes, in every part of the mapper.
#include <gtest/gtest.h>

#include "support/nest/count_walker_testing.h"
#include "support/random_seed_testing.h"
#include "support/spatial/mapper_testing.h"
#include "tilewright/nest/workload_text.h"

namespace tilewright {
namespace {

Workload strided_layer(Random& random, int64_t most) {
  ConvShape shape;
  shape.group = random.chance(0.2) ? 2 : 1;
  shape.input_channels = shape.group * random.between(1, 3);
  shape.output_channels = shape.group * random.between(1, 3);
  for (WindowAxis* axis : {&shape.height, &shape.width}) {
    axis->kernel = random.between(1, 3);
    axis->stride = random.between(1, 3);
    axis->dilation = random.between(1, 3);
    axis->output = random.between(1, most);
    axis->input = (axis->output - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1;
  }
  return random.chance(0.15) ? conv2d_transpose_workload("t", shape) : conv2d_workload("c", shape);
}

// Main memory, a buffer, perhaps a level of columns that stores nothing, register files.
ArrayHardware ruled_machine(Random& random) {
  ArrayHardware hardware;
  hardware.name = "array";
  hardware.mac_energy = 1;
  const bool columns = random.chance(0.4);
  for (const char* name : {"dram", "buffer", "column", "rf"}) {
    ArrayLevel level;
    level.name = name;
    if (level.name == "column" && !columns) continue;
    const int64_t words[] = {kUnlimitedWords, random.between(20, 200), 0, random.between(4, 40)};
    const double energy[] = {200, 6, 0, 1};
    const size_t at = level.name == "dram" ? 0 : level.name == "buffer" ? 1 : level.name == "column" ? 2 : 3;
    level.capacity_words = words[at];
    level.read_energy = level.fill_energy = level.update_energy = energy[at];
    if (at == 2) level.may_keep = 0;
    if (at == 1) level.fanout_x = random.between(1, 4);
    if (at == (columns ? 2u : 1u)) level.fanout_y = random.between(1, 3);
    if (at == 3 && random.chance(0.3)) level.fanout_x = random.between(2, 3);
    if (at == 3 && random.chance(0.5)) level.must_keep = 7;
    hardware.levels.push_back(level);
  }
  return hardware;
}

Mapspace strided_mapspace(Random& random, int64_t most_outputs, double least, double most) {
  while (true) {
    Mapspace mapspace{strided_layer(random, most_outputs), ruled_machine(random), {}, false};
    Diagnostics diagnostics;
    mapspace.verify(diagnostics);
    if (diagnostics.ok() && mapspace.size() >= least && mapspace.size() <= most) return mapspace;
  }
}

// Words of a tile: from the first index of every rank to the last, point by point.
int64_t box_of(const DataSpace& space, std::span<const int64_t> extents) {
  int64_t words = 1;
  for (const Rank& rank : space.ranks) {
    int64_t side = 1;
    for (const ProjectionTerm& term : rank.terms)
      side += std::abs(term.coefficient) * (extents[size_t(term.dimension)] - 1);
    words *= side;
  }
  return words;
}

void expect_boxes_fit(const Mapspace& mapspace, const Mapping& mapping) {
  const Workload& workload = mapspace.workload;
  const std::vector<int64_t> extents = tile_extents(workload, mapping);
  for (size_t l = 1; l < mapping.levels.size(); ++l) {
    const auto tile = std::span(extents).subspan(l * workload.dimensions.size(), workload.dimensions.size());
    int64_t words = 0;
    for (int space = 0; space < workload.data_space_count(); ++space) {
      if (mapping.levels[l].keeps_space(space)) words += box_of(workload.data_spaces[size_t(space)], tile);
    }
    EXPECT_LE(words, mapspace.hardware.levels[l].capacity_words) << mapping.levels[l].name;
  }
}

// The answer of the mapper against every mapping; the energy it states against the walk.
TEST(TimeloopRulesClass, StridedLayersHaveTheLeastOfTheMappingsWhoseBoxesFit) {
  const int64_t cases = test_cases(10);
  int64_t found = 0;
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    const Mapspace mapspace = strided_mapspace(random, 4, 50, 8000);
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i << "\n"
                                    << print_workload(mapspace.workload));
    MapperOptions options;
    options.rules = kTimeloopRules;
    options.objective = MapObjective(random.between(0, 2));
    options.use_lattice = random.chance(0.7);
    options.check_bounds = !options.use_lattice && random.chance(0.5);
    const auto evaluate = [&](const Mapping& mapping) {
      return evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options.rules);
    };
    const MapResult result = expect_optimum(mapspace, options, evaluate);
    if (result.status == MapStatus::kOptimal) {
      ++found;
      expect_boxes_fit(mapspace, result.mapping);
      const AccessCounts walked = walk_accesses(mapspace.workload, result.mapping,
                                                counting_networks(mapspace.hardware), Accounting::kTimeloop);
      EXPECT_EQ(cost_of_counts(mapspace.workload, mapspace.hardware, walked, options.rules).energy,
                result.cost.energy);
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(found, cases / 6);
  RecordProperty("cases", int(cases));
}

// Layers too large to list, on the solver's machines: the mapping passes the check, the counts are the
// walk's.
TEST(TimeloopRulesClass, MappingsPassTheirOwnCheck) {
  const int64_t cases = test_cases(12);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'033 + uint64_t(i));
    const Mapspace mapspace = strided_mapspace(random, 10, 1e5, 1e9);
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i << "\n"
                                    << print_workload(mapspace.workload));
    MapperOptions options;
    options.rules = kTimeloopRules;
    options.time_limit_s = 0.05;
    const MapResult result = find_mapping(mapspace, options);
    if (result.mapping.levels.empty()) continue;
    ASSERT_TRUE(contains(mapspace, result.mapping, Accounting::kTimeloop));
    expect_boxes_fit(mapspace, result.mapping);
    const std::vector<CountingNetwork> networks = counting_networks(mapspace.hardware);
    ASSERT_EQ(count_accesses(mapspace.workload, result.mapping, networks, Accounting::kTimeloop),
              walk_accesses(mapspace.workload, result.mapping, networks, Accounting::kTimeloop));
  }
  RecordProperty("cases", int(cases));
}

// A halo to which the loops of two levels lead is fetched by each of the ways there.
TEST(TimeloopRules, HalosAcrossTwoLevelsAreNotShared) {
  ConvShape shape;
  shape.width = {.input = 6, .kernel = 3, .output = 4};
  const Workload w = conv2d_workload("c", shape);
  const auto reads = [&](const std::string& text, Accounting accounting) {
    const Mapping mapping = parse_mapping(text, "m", w);
    const std::vector<CountingNetwork> networks(mapping.levels.size());
    const AccessCounts counts = count_accesses(w, mapping, networks, accounting);
    EXPECT_EQ(counts, walk_accesses(w, mapping, networks, accounting));
    return counts.traffic[0].reads;
  };
  const std::string one = "- {level: dram, spatial: 'y:S=3 x:Q=4'}\n- {level: rf}\n";
  const std::string two =
      "- {level: dram, spatial: 'x:Q=4'}\n- {level: column, spatial: 'y:S=3', keeps: ''}\n- {level: rf}\n";
  EXPECT_EQ(reads(one, Accounting::kExact), 6);
  EXPECT_EQ(reads(two, Accounting::kExact), 6);
  EXPECT_EQ(reads(one, Accounting::kTimeloop), 6);
  EXPECT_EQ(reads(two, Accounting::kTimeloop), 12);
}

// A 1x1 layer with stride 2: two words of a row lie in a box of three.
TEST(TimeloopRules, ACapacityHoldsBoxes) {
  ConvShape shape;
  shape.width = {.input = 8, .kernel = 1, .stride = 2, .output = 4};
  const Workload w = conv2d_workload("c", shape);
  ArrayHardware hardware;
  hardware.levels.resize(2);
  hardware.levels[0].name = "dram";
  hardware.levels[1].name = "rf";
  hardware.levels[1].capacity_words = 5;  // two inputs, one weight, two outputs
  const Mapping mapping =
      parse_mapping("- {level: dram, temporal: Q=2}\n- {level: rf, temporal: Q=2}\n", "m", w);
  const auto fits = [&](Accounting accounting) {
    Diagnostics diagnostics;
    check_array_mapping(w, hardware, mapping, "m", diagnostics, accounting);
    return diagnostics.ok();
  };
  EXPECT_TRUE(fits(Accounting::kExact));
  EXPECT_FALSE(fits(Accounting::kTimeloop));
  hardware.levels[1].capacity_words = 6;
  EXPECT_TRUE(fits(Accounting::kTimeloop));
}

}  // namespace
}  // namespace tilewright
