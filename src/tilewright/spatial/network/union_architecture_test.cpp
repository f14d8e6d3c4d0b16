// Unions against brute force: every assignment of layers to dataflows.
#include "tilewright/spatial/network/union_architecture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

constexpr int kDataflows = 6;

struct Case {
  WorkloadNetwork network;
  // By dataflow and size of the storage's register file (the largest of the union's wishes).
  std::vector<int64_t> register_file;
  std::map<std::pair<int, int64_t>, DataflowRun> runs;
};

Case random_case(Random& random) {
  Case c;
  const int layers = int(random.between(1, 5));
  for (int l = 0; l < layers; ++l) {
    c.network.add("l" + std::to_string(l), "Conv", dense_workload("", 1, random.between(1, 3), 2));
  }
  for (int d = 0; d < kDataflows; ++d) c.register_file.push_back(random.between(0, 3));
  for (int d = 0; d < kDataflows; ++d) {
    for (int64_t rf = c.register_file[size_t(d)]; rf <= 3; ++rf) {
      DataflowRun run{"d" + std::to_string(d), {}, {}};
      for (size_t shape = 0; shape < c.network.shapes.size(); ++shape) {
        LayerCost cost;
        cost.status = random.chance(0.15) ? LayerStatus::kInfeasible : LayerStatus::kProven;
        cost.energy = double(random.between(1, 50));
        cost.cycles = double(random.between(1, 50));
        run.costs.push_back(cost);
      }
      c.runs[{d, rf}] = run;
    }
  }
  return c;
}

struct Least {
  double energy = -1, edp = -1;  // negative: none runs all layers
};

// Over every assignment of one member to each layer.
Least brute_force(const Case& c, const std::vector<int>& members, bool redivided) {
  int64_t storage = 0;
  for (const int m : members) storage = std::max(storage, c.register_file[size_t(m)]);
  const size_t layers = c.network.layers.size();
  std::vector<size_t> pick(layers, 0);
  Least least;
  while (true) {
    double sum = 0, cycles = 0;
    for (size_t l = 0; l < layers; ++l) {
      const int member = members[pick[l]];
      const int64_t rf = redivided ? c.register_file[size_t(member)] : storage;
      const LayerCost& cost = c.runs.at({member, rf}).costs[size_t(c.network.layers[l].shape)];
      sum += cost.has_cost() ? cost.energy : INFINITY;
      cycles += cost.cycles;
    }
    if (std::isfinite(sum)) {
      if (least.energy < 0 || sum < least.energy) least.energy = sum;
      if (least.edp < 0 || sum * cycles < least.edp) least.edp = sum * cycles;
    }
    size_t l = 0;
    while (l < layers && ++pick[l] == members.size()) pick[l++] = 0;
    if (l == layers) return least;
  }
}

TEST(UnionArchitecture, EqualsBruteForceOverAllAssignments) {
  Random random(21);
  for (int trial = 0; trial < 60; ++trial) {
    const Case c = random_case(random);
    std::vector<std::string> names;
    for (int d = 0; d < kDataflows; ++d) names.push_back("d" + std::to_string(d));
    const UnionTable table = union_table(
        c.network, names, 3, [&](int dataflow, const std::vector<int>& partners) -> const DataflowRun& {
          int64_t storage = 0;
          for (const int m : partners) storage = std::max(storage, c.register_file[size_t(m)]);
          return c.runs.at({dataflow, storage});
        });
    ASSERT_EQ(table.shared.size(), 6u + 15u + 20u);
    for (size_t i = 0; i < table.shared.size(); ++i) {
      const UnionChoice& shared = table.shared[i];
      const Least expected = brute_force(c, shared.dataflows, false);
      EXPECT_EQ(shared.missing == 0 ? shared.energy : -1, expected.energy)
          << "trial " << trial << " of seed 21";
      if (shared.missing == 0) {
        EXPECT_EQ(shared.least_edp, expected.edp) << "trial " << trial << " of seed 21";
      }
      const UnionChoice& ideal = table.redivided[i];
      EXPECT_EQ(ideal.missing == 0 ? ideal.energy : -1, brute_force(c, ideal.dataflows, true).energy);
      if (i > 0 && table.shared[i - 1].missing == shared.missing) {
        EXPECT_LE(table.shared[i - 1].energy, shared.energy) << "sorted by energy";
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
