// Fused chains against the referee: the numbers come out right, nothing is read before it is made, the buffer
// never overflows, and the words and energies stated are those that the walk counts.
#include <gtest/gtest.h>

#include "fused_walker.h"
#include "support/nest/count_walker_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

ArrayHardware small_machine(int64_t capacity, Random& random) {
  ArrayHardware hardware;
  hardware.name = "small";
  ArrayLevel dram, buffer, registers;
  dram.name = "dram";
  // Reads and updates differ, so that one is not taken for the other.
  dram.read_energy = 1000, dram.update_energy = 1001;
  buffer.name = "buffer";
  buffer.capacity_words = capacity;
  buffer.must_keep = 7;
  buffer.read_energy = 6, buffer.fill_energy = 7, buffer.update_energy = 8;
  buffer.fanout_x = 2;
  buffer.network.multicast = random.chance(0.5);
  buffer.network.reduction = random.chance(0.5);
  registers.name = "rf";
  registers.capacity_words = 8;
  registers.read_energy = registers.fill_energy = registers.update_energy = 1;
  hardware.levels = {dram, buffer, registers};
  return hardware;
}

WindowAxis axis_for(int64_t output, Random& random) {
  WindowAxis axis;
  axis.output = output;
  axis.kernel = random.between(1, 3);
  axis.stride = random.chance(0.25) ? 2 : 1;
  axis.dilation = random.chance(0.15) ? 2 : 1;
  axis.pad_begin = random.between(0, std::min<int64_t>(1, axis.kernel - 1));
  const int64_t reach = (output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
  const int64_t pad_end = random.between(0, axis.pad_begin);
  axis.input = std::max<int64_t>(1, reach - axis.pad_begin - pad_end);
  // Rows that no window reaches.
  if (axis.stride == 2 && random.chance(0.3)) ++axis.input;
  return axis;
}

// Layers that fit together, built from the last to the first.
LayerChain random_chain(Random& random, int layers) {
  LayerChain chain;
  int64_t rows = random.between(1, 4), columns = random.between(1, 4), channels = random.between(1, 3);
  const int64_t batch = random.chance(0.2) ? 2 : 1;
  for (int layer = layers; layer-- > 0;) {
    ConvShape shape;
    shape.batch = batch;
    shape.output_channels = channels;
    shape.height = axis_for(rows, random);
    shape.width = axis_for(columns, random);
    const std::string name = "l" + std::to_string(layer);
    if (random.chance(0.3)) {
      shape.input_channels = channels;
      chain.insert(chain.begin(), depthwise_workload(name, shape));
    } else {
      shape.group = channels == 2 && random.chance(0.3) ? 2 : 1;
      shape.input_channels = shape.group * random.between(1, 2);
      chain.insert(chain.begin(), conv2d_workload(name, shape));
    }
    channels = shape.input_channels;
    rows = shape.height.input, columns = shape.width.input;
  }
  return chain;
}

FusedTiling random_tiling(const LayerChain& chain, Random& random) {
  FusedTiling tiling;
  const std::vector<bool> overlapping = overlapping_ranks(chain);
  const std::vector<Rank>& ranks = chain.back().data_spaces[kOutputSpace].ranks;
  for (size_t r = 0; r < ranks.size(); ++r) {
    tiling.tile.push_back(random.between(1, ranks[r].size));
    if (overlapping[r] && tiling.tile[r] < ranks[r].size && random.chance(0.6)) tiling.retained = int(r);
  }
  tiling.resident = uint32_t(random.between(0, (1 << chain.size()) - 1));
  return tiling;
}

// Energy from walking the loops of every phase that is executed, one by one.
double walked_energy(const LayerChain& chain, const FusedResult& fused, const ArrayHardware& hardware) {
  double energy = 0;
  for (const MappedPhase& mapped : fused.phases) {
    const uint32_t pinned = pinned_spaces(chain, fused.tiling, mapped.phase.layer);
    const AccessCounts counts = without_pinned_traffic(
        walk_accesses(mapped.phase.workload, mapped.mapping, counting_networks(hardware)), pinned);
    const Cost cost = cost_of_counts(mapped.phase.workload, hardware, counts, kPhysicalRules);
    energy += double(mapped.phase.times) * cost.energy;
  }
  for (size_t layer = 0; layer < chain.size(); ++layer) {
    if ((fused.tiling.resident >> layer & 1u) == 0) continue;
    const double words = double(chain[layer].data_spaces[kWeightSpace].element_count());
    energy += words * (hardware.levels[0].read_energy + hardware.levels[1].fill_energy);
  }
  return energy;
}

void check(const LayerChain& chain, const FusedResult& fused, const ArrayHardware& hardware,
           const std::string& where) {
  const FusedWalk walk = walk_fused(chain, fused, hardware);
  EXPECT_TRUE(walk.problems.empty()) << where << ": " << walk.problems.front();
  EXPECT_EQ(walk.output, plain_output(chain)) << where;
  for (const auto& [at, times] : walk.made) EXPECT_EQ(times, 1) << where;
  EXPECT_EQ(walk.operations, fused.plan.operations) << where;
  const double port = double(walk.reads) * hardware.levels[0].read_energy +
                      double(walk.updates) * hardware.levels[0].update_energy;
  EXPECT_EQ(port, fused.outermost_energy) << where;
  EXPECT_LE(walk.peak_words, hardware.levels[1].capacity_words) << where;
  EXPECT_NEAR(walked_energy(chain, fused, hardware) / fused.energy, 1, 1e-12) << where;
}

TEST(FusedChains, RandomTilingsAreWhatTheWalkExecutes) {
  constexpr uint64_t kSeed = 31;
  Random random(kSeed);
  int costed = 0, retained = 0, resident = 0, recomputed = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const LayerChain chain = random_chain(random, random.chance(0.3) ? 3 : 2);
    const ArrayHardware hardware = small_machine(random.between(20, 400), random);
    if (!cannot_fuse(chain, hardware).empty()) continue;
    const FusedTiling tiling = random_tiling(chain, random);
    FusionOptions options;
    options.phase_limit_s = 0.01;
    FusionSearch search(hardware, options);
    const auto fused = search.cost(chain, tiling);
    if (!fused) continue;
    ++costed;
    retained += tiling.retained >= 0 ? 1 : 0;
    resident += tiling.resident != 0 ? 1 : 0;
    recomputed += fused->recomputed_operations > 0 ? 1 : 0;
    check(chain, *fused, hardware, "trial " + std::to_string(trial) + " of seed " + std::to_string(kSeed));
    if (HasFailure()) return;
  }
  std::printf("%d tilings walked: %d retain overlaps, %d recompute, %d keep weights\n", costed, retained,
              recomputed, resident);
  EXPECT_GT(costed, 50);
  EXPECT_GT(retained, 10);
  EXPECT_GT(resident, 10);
  EXPECT_GT(recomputed, 10);
}

// The bound never excludes the best tiling: the search finds what costing every candidate finds.
TEST(FusedChains, TheSearchEqualsCostingEveryCandidate) {
  constexpr uint64_t kSeed = 32;
  Random random(kSeed);
  int compared = 0;
  for (int trial = 0; trial < 40 && compared < 8; ++trial) {
    const LayerChain chain = random_chain(random, 2);
    const ArrayHardware hardware = small_machine(random.between(20, 120), random);
    if (!cannot_fuse(chain, hardware).empty() || candidate_tilings(chain).size() > 150) continue;
    FusionOptions options;
    options.most_tilings = 0;
    FusionSearch search(hardware, options);
    std::optional<FusedResult> least;
    for (const FusedTiling& tiling : candidate_tilings(chain)) {
      auto result = search.cost(chain, tiling);
      if (result && (!least || result->energy < least->energy)) least = std::move(result);
    }
    const auto found = search.best(chain);
    ASSERT_EQ(found.has_value(), least.has_value()) << "trial " << trial << " of seed " << kSeed;
    if (!found) continue;
    ++compared;
    EXPECT_EQ(found->energy, least->energy) << "trial " << trial << " of seed " << kSeed;
    EXPECT_TRUE(found->proven);
  }
  EXPECT_GE(compared, 5);
}

}  // namespace
}  // namespace tilewright
