// Mapping networks on a small machine: parts and totals, the cache, time limits, fronts against enumeration.
#include "tilewright/spatial/network/map_network.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/spatial/random_mapspace_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/spatial/network/layer_front.h"

namespace tilewright {
namespace {

ArrayHardware two_memories(int64_t words) {
  ArrayHardware hardware;
  hardware.name = "two";
  ArrayLevel dram, buffer;
  dram.name = "dram";
  dram.read_energy = dram.fill_energy = dram.update_energy = 200;
  buffer.name = "buffer";
  buffer.capacity_words = words;
  buffer.read_energy = buffer.fill_energy = buffer.update_energy = 6;
  buffer.fanout_x = buffer.fanout_y = 2;
  buffer.network.delivery_energy = 1;
  hardware.levels = {dram, buffer};
  return hardware;
}

WorkloadNetwork three_layers() {
  WorkloadNetwork network;
  network.name = "three";
  network.add("a", "Gemm", dense_workload("", 2, 4, 4));
  network.add("b", "Gemm", dense_workload("", 2, 4, 6));
  network.add("c", "Gemm", dense_workload("", 2, 4, 4));
  return network;
}

std::filesystem::path folder_of(const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("tilewright_" + std::to_string(::getpid()) + "_" + name);
  std::filesystem::remove_all(path);
  return path;
}

TEST(MapNetwork, PartsAddUpAndEqualLayersShareTheirResult) {
  const ArrayHardware hardware = two_memories(24);
  NetworkReport report = report_header(three_layers(), hardware);
  report.runs.push_back(map_freely(report.network, hardware, {}));
  ASSERT_EQ(report.runs[0].costs.size(), 2u);
  EXPECT_EQ(report.runs[0].places,
            (std::vector<std::string>{"dram", "dram network", "buffer", "buffer network"}));
  for (const LayerCost& cost : report.runs[0].costs) {
    EXPECT_EQ(cost.status, LayerStatus::kProven);
    double sum = cost.arithmetic_energy;
    for (const auto& part : cost.parts) sum += part[0] + part[1] + part[2];
    EXPECT_NEAR(sum, cost.energy, 1e-9 * cost.energy);
    EXPECT_EQ(cost.lower_bound, cost.value);
  }
  const RunTotals total = report.totals(report.runs[0]);
  EXPECT_EQ(total.layers, 3);
  EXPECT_EQ(total.energy, 2 * report.runs[0].costs[0].energy + report.runs[0].costs[1].energy);
}

TEST(MapNetwork, RefusedAndInfeasibleLayersHaveTheirReason) {
  const ArrayHardware hardware = two_memories(24);
  NetworkMapOptions options;
  options.constraints = [&](const Workload& workload) -> Mapspace {
    if (workload.name == "b") throw Error(ErrorKind::kInvalidInput, "no dimension 'K'");
    return {workload, hardware, {}, false};
  };
  options.mapper.max_cycles = 1;
  const DataflowRun run = map_freely(three_layers(), hardware, options);
  EXPECT_EQ(run.costs[0].status, LayerStatus::kInfeasible);
  EXPECT_NE(run.costs[0].reason.find("cycle"), std::string::npos);
  EXPECT_EQ(run.costs[1].status, LayerStatus::kUnsupported);
  EXPECT_NE(run.costs[1].reason.find("no dimension 'K'"), std::string::npos);
}

// A layer whose constraints cannot be stated has no front, and so has the network; the others have theirs.
TEST(MapNetwork, FrontsOfTheOtherLayersStandBesideARefusedOne) {
  const ArrayHardware hardware = two_memories(24);
  NetworkMapOptions options;
  options.constraints = [&](const Workload& workload) -> Mapspace {
    if (workload.name == "b") throw Error(ErrorKind::kInvalidInput, "no dimension 'K'");
    return {workload, hardware, {}, false};
  };
  const WorkloadNetwork network = three_layers();
  const DataflowRun run = map_freely(network, hardware, options);
  const NetworkFronts fronts = network_fronts(network, hardware, options, {}, &run);
  ASSERT_EQ(fronts.shapes.size(), 2u);
  EXPECT_FALSE(fronts.shapes[0].points.empty());
  EXPECT_TRUE(fronts.shapes[1].points.empty());
  EXPECT_TRUE(fronts.front.points.empty());
}

// A search that was stopped has not shown that there is no mapping.
TEST(MapNetwork, StoppedBeforeAnyMappingIsNotInfeasible) {
  MapResult result;
  result.status = MapStatus::kStopped;
  const LayerCost cost =
      layer_cost(Mapspace{dense_workload("x", 2, 4, 4), two_memories(24), {}, false}, result);
  EXPECT_EQ(cost.status, LayerStatus::kStopped);
  EXPECT_FALSE(cost.has_cost());
  EXPECT_EQ(cost.reason, kNothingInTime);
  NetworkReport report = report_header(three_layers(), two_memories(24));
  report.runs.push_back({"free", {}, {cost, cost}});
  EXPECT_EQ(report.totals(report.runs[0]).missing, 3);
}

TEST(MappingCache, AnswersTheSameQuestionAndNoOther) {
  const auto folder = folder_of("cache");
  MappingCache cache(folder, "1.0");
  Mapspace mapspace{dense_workload("x", 2, 4, 4), two_memories(24), {}, false};
  MapperOptions options;
  EXPECT_FALSE(cache.find(mapspace, options));
  const MapResult result = find_mapping(mapspace, options);
  cache.store(mapspace, options, result);
  mapspace.workload.name = "another name";
  options.threads = 7;
  const auto known = cache.find(mapspace, options);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->cost.energy, result.cost.energy);
  EXPECT_EQ(known->mapping, result.mapping);
  EXPECT_EQ(known->lower_bound, result.lower_bound);
  EXPECT_EQ(known->nodes, result.nodes);
  // Whatever changes the answer changes the question.
  const std::vector<std::function<void(Mapspace&, MapperOptions&)>> changes = {
      [](Mapspace& m, MapperOptions&) { m.workload.dimensions[0].size = 4; },
      [](Mapspace& m, MapperOptions&) { m.hardware.levels[1].capacity_words = 25; },
      [](Mapspace& m, MapperOptions&) { m.hardware.levels[0].read_energy = 199; },
      [](Mapspace& m, MapperOptions&) { m.imperfect = true; },
      [](Mapspace& m, MapperOptions&) {
        m.constraints = {{}, {{}, {}, {}, {}, 1}};
      },
      [](Mapspace&, MapperOptions& o) { o.objective = MapObjective::kEdp; },
      [](Mapspace&, MapperOptions& o) { o.max_cycles = 100; },
      [](Mapspace&, MapperOptions& o) { o.rules = kTimeloopRules; }};
  for (const auto& change : changes) {
    Mapspace other = mapspace;
    MapperOptions other_options = options;
    change(other, other_options);
    EXPECT_NE(cache.path_of(other, other_options), cache.path_of(mapspace, options));
  }
  EXPECT_FALSE(MappingCache(folder, "1.1").find(mapspace, options)) << "another version of the tool";
  EXPECT_TRUE(cache.warnings().empty());
  std::filesystem::remove_all(folder);
}

TEST(MappingCache, StoppedResultsServeShorterLimitsOnly) {
  const auto folder = folder_of("stopped");
  MappingCache cache(folder, "1");
  const Mapspace mapspace{dense_workload("x", 2, 4, 4), two_memories(24), {}, false};
  MapperOptions options;
  MapResult result = find_mapping(mapspace, options);
  result.status = MapStatus::kStopped;
  result.lower_bound = result.value / 2;
  options.time_limit_s = 2;
  cache.store(mapspace, options, result);
  options.time_limit_s = 1;
  const auto known = cache.find(mapspace, options);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->status, MapStatus::kStopped);
  EXPECT_EQ(known->gap(), 0.5);
  options.time_limit_s = 3;
  EXPECT_FALSE(cache.find(mapspace, options));
  options.time_limit_s = 0;
  EXPECT_FALSE(cache.find(mapspace, options)) << "without limit";
  std::filesystem::remove_all(folder);
}

// Any byte of an entry may change: the entry is then ignored, or says the same as before.
TEST(MappingCache, DamagedEntriesNeverGiveAnotherAnswer) {
  const auto folder = folder_of("damaged");
  const Mapspace mapspace{dense_workload("x", 2, 4, 4), two_memories(24), {}, false};
  const MapperOptions options;
  const MapResult result = find_mapping(mapspace, options);
  MappingCache writer(folder, "1");
  writer.store(mapspace, options, result);
  const auto path = writer.path_of(mapspace, options);
  const std::string intact = read_text_file(path);
  Random random(41);
  for (int trial = 0; trial < 300; ++trial) {
    std::string text = intact;
    if (trial % 10 == 0) {
      text.resize(size_t(random.between(0, int64_t(text.size()) - 1)));
    } else {
      text[size_t(random.between(0, int64_t(text.size()) - 1))] ^= char(1 << random.between(0, 6));
    }
    write_text_file(path, text);
    MappingCache cache(folder, "1");
    const auto known = cache.find(mapspace, options);
    if (known) {
      EXPECT_EQ(known->value, result.value);
      EXPECT_EQ(known->lower_bound, result.lower_bound);
    } else {
      EXPECT_EQ(cache.warnings().size(), 1u) << text;
    }
  }
  std::filesystem::remove_all(folder);
}

TEST(MappingCache, AFolderThatCannotBeWrittenIsAWarning) {
  const auto folder = folder_of("readonly");
  MappingCache cache(folder, "1");
  const Mapspace mapspace{dense_workload("x", 2, 4, 4), two_memories(24), {}, false};
  std::filesystem::remove_all(folder);
  cache.store(mapspace, {}, find_mapping(mapspace, {}));
  ASSERT_EQ(cache.warnings().size(), 1u);
  EXPECT_NE(cache.warnings()[0].find("not cached"), std::string::npos);
}

TEST(LayerFront, EqualsEnumeration) {
  Random random(51);
  int checked = 0;
  for (int trial = 0; trial < 60 && checked < 15; ++trial) {
    const Mapspace mapspace = random_mapspace(random, 10, 20'000);
    std::vector<FrontCost> all;
    for_each_mapping(mapspace, [&](const Mapping& mapping) {
      const Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, kPhysicalRules);
      all.push_back({double(cost.cycles), cost.energy});
    });
    const LayerFront front = layer_front(mapspace, {});
    EXPECT_TRUE(front.proven);
    const std::vector<FrontCost> expected = pareto_front(all);
    ASSERT_EQ(front.points.size(), expected.size()) << "trial " << trial << " of seed 51";
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(front.points[i].cycles, expected[i].cycles);
      EXPECT_NEAR(front.points[i].energy, expected[i].energy, 1e-9 * expected[i].energy);
    }
    checked += all.empty() ? 0 : 1;
  }
  EXPECT_GE(checked, 10);
}

}  // namespace
}  // namespace tilewright
