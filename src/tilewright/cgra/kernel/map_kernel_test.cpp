// Kernels mapped at their least II: known ones, and random ones against enumeration of all places.
#include "tilewright/cgra/kernel/map_kernel.h"

#include <gtest/gtest.h>

#include "tilewright/cgra/kernel/kernel_checks_testing.h"
#include "tilewright/cgra/kernel/start_windows.h"
#include "tilewright/cgra/route/route_places.h"

namespace tilewright::cgra {
namespace {

using testing::graph_of;
using testing::preset;
using testing::problem_of;
using testing::violations;

// Every choice of tiles and starts up to `makespan`, routed exactly.
class Enumeration {
 public:
  Enumeration(const MappingProblem& problem, int makespan) : problem_(problem), starts_(makespan) {
    mapping_.ii = problem.ii;
    mapping_.places.resize(problem.graph.nodes.size());
  }
  bool found(size_t node = 0) {
    if (node == mapping_.places.size()) return valid();
    for (int tile = 0; tile < problem_.fabric.tiles(); ++tile) {
      for (int time = 0; time < starts_; ++time) {
        mapping_.places[node] = {tile, time};
        if (partly_valid(node) && found(node + 1)) return true;
      }
    }
    return false;
  }

 private:
  bool partly_valid(size_t node) const {
    for (size_t other = 0; other < node; ++other) {
      if (mapping_.places[other].tile == mapping_.places[node].tile &&
          (mapping_.places[other].time - mapping_.places[node].time) % problem_.ii == 0)
        return false;
    }
    return true;
  }
  bool valid() {
    mapping_.routes.clear();
    MappingProblem places = problem_;
    places.rules.routed = false;
    if (!check_mapping(places, mapping_).empty()) return false;
    return route_places(problem_, mapping_).status == SearchStatus::kFeasible;
  }

  const MappingProblem& problem_;
  int starts_ = 0;
  GraphMapping mapping_;
};

TEST(MapKernel, AgreesWithEnumerationOnTinyArrays) {
  Random random(11);
  int refuted = 0, longer = 0;
  for (int i = 0; i < 150; ++i) {
    const int nodes = int(random.between(1, 3));
    Fabric fabric = preset(random.chance(0.5) ? "mesh-1x2" : "mesh-1x3");
    fabric.delay_registers = int(random.between(0, 1));
    fabric.pass_through = int(random.between(0, 1));
    fabric.instructions = random.chance(0.2) ? 1 : 64;
    MappingProblem problem = problem_of(testing::random_kernel(random, nodes), fabric);
    if (random.chance(0.3)) {
      problem.fixed_tiles.resize(nodes);
      problem.fixed_tiles[0] = int(random.between(0, fabric.tiles() - 1));
    }
    KernelOptions options;
    options.most_ii = 3;
    const KernelResult result = map_kernel(problem, options);
    ASSERT_NE(result.status, SearchStatus::kStopped);
    const int last = result.mapping ? result.mapping->ii : options.most_ii;
    for (problem.ii = 1; problem.ii <= last; ++problem.ii) {
      const PlacementModel model = compile_model(problem);
      const int enough = std::min(7, sufficient_makespan_cycles(model, fabric.delay_registers));
      if (result.mapping && problem.ii == last) {
        EXPECT_EQ(violations(problem, *result.mapping), 0u) << i;
        EXPECT_EQ(result.makespan, result.least_makespan) << i;
        if (result.makespan > 1) {
          EXPECT_FALSE(Enumeration(problem, result.makespan - 1).found()) << i;
        }
        longer += result.makespan > *least_makespan_cycles(model);
      } else {
        EXPECT_FALSE(Enumeration(problem, enough).found()) << i << " II " << problem.ii;
        refuted += problem.ii >= result.bound.value();
      }
    }
  }
  EXPECT_GT(refuted, 5);  // beyond what the bounds say
  EXPECT_GT(longer, 2);
}

TEST(MapKernel, ShippedKernelsReachTheBoundWithTheShortestSchedule) {
  for (const std::string& name : testing::shipped_kernels()) {
    for (const char* fabric : {"mesh-4x4", "hycube-4x4"}) {
      testing::expect_bound_and_shortest_schedule(testing::kernel_problem(name, fabric),
                                                  name == "butterfly" ? 1 : 0);
    }
  }
}

TEST(MapKernel, ShippedKernelsExecuteOverlappedIterations) {
  for (const std::string& name : testing::shipped_kernels()) {
    for (const char* fabric : {"mesh-4x4", "hycube-4x4", "torus-4x4"}) {
      testing::expect_overlapped_execution(testing::kernel_problem(name, fabric));
    }
  }
}

TEST(MapKernel, TheSameMappingForTheSameSeed) {
  const MappingProblem problem = testing::kernel_problem("butterfly", "mesh-4x4");
  KernelOptions options;
  options.seed = 3;
  EXPECT_EQ(map_kernel(problem, options).mapping, map_kernel(problem, options).mapping);
}

TEST(MapKernel, ALargerArrayNeedsNoLargerIi) {
  int before = 1000;
  for (const char* fabric : {"mesh-3x3", "mesh-4x4", "mesh-5x5", "mesh-6x6"}) {
    const MappingProblem problem = testing::kernel_problem("butterfly", fabric);
    const KernelResult result = map_kernel(problem, {.shortest = false});
    ASSERT_TRUE(result.mapping) << fabric;
    EXPECT_EQ(violations(problem, *result.mapping), 0u);
    EXPECT_LE(result.mapping->ii, before) << fabric;
    before = result.mapping->ii;
  }
}

TEST(MapKernel, AnIiBeyondTheFabricsLimitIsInfeasible) {
  MappingProblem problem = problem_of(graph_of(9, {}), preset("mesh-2x2"));
  problem.fabric.max_ii = 2;
  const KernelResult result = map_kernel(problem, {});
  EXPECT_EQ(result.status, SearchStatus::kInfeasible);
  EXPECT_EQ(result.least_ii, 3);
  EXPECT_FALSE(result.mapping);
}

TEST(MapKernel, RefusesWhatItCannotMap) {
  const auto refused = [](const MappingProblem& problem, const std::string& text) {
    try {
      map_kernel(problem, {});
      return std::string("accepted");
    } catch (const Error& error) {
      return std::string(error.what()).find(text) == std::string::npos ? std::string(error.what())
                                                                       : std::string();
    }
  };
  EXPECT_EQ(refused(problem_of(graph_of(2, {{0, 1, 0}}), preset("line-8")), "links take no clock"), "");
  EXPECT_EQ(refused(problem_of(graph_of(2, {{0, 1, 0}, {1, 0, 0}}), preset("mesh-2x2")), "n0"), "");
  MappingProblem stored = problem_of(graph_of(2, {}), preset("mesh-2x2"));
  stored.fabric.tile_memories = stored.fabric.tile_memory_entries = 1;
  stored.graph.variables.push_back({.name = "v", .entries = 2});
  stored.graph.nodes[0].writes = 0;
  EXPECT_EQ(refused(stored, "2 entries of variables could meet on one tile"), "");
  MappingProblem fixed = problem_of(graph_of(1, {}), preset("mesh-2x2"));
  fixed.fixed_tiles = {7};
  EXPECT_EQ(refused(fixed, "tile 7 does not exist"), "");
}

}  // namespace
}  // namespace tilewright::cgra
