#include "tilewright/nest/reuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(Reuse, PositionsByRoomEqualTheEnumeration) {
  const uint64_t seed = 77;
  Random random(seed);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " seed " << seed);
    const int64_t size = random.between(1, 60), reach = random.between(1, 30);
    std::vector<Stride> loops(size_t(random.between(0, 4)));
    for (Stride& loop : loops) loop = {random.between(1, 20), random.between(1, 5)};
    std::sort(loops.begin(), loops.end(), [](const Stride& a, const Stride& b) { return a.step > b.step; });
    std::map<int64_t, int64_t> expected;
    const auto visit = [&](auto&& self, size_t depth, int64_t begin) -> void {
      if (begin >= size) return;
      if (depth == loops.size()) {
        ++expected[std::min(reach, size - begin)];
        return;
      }
      for (int64_t k = 0; k < loops[depth].count; ++k) self(self, depth + 1, begin + k * loops[depth].step);
    };
    visit(visit, 0, 0);
    std::vector<Room> rooms;
    positions_by_room(size, loops, reach, rooms);
    std::map<int64_t, int64_t> found;
    for (const Room& room : rooms) found[room.room] += room.count;
    ASSERT_EQ(found, expected);
  }
}

TEST(Reuse, ShortCutsEqualTheLists) {
  const uint64_t seed = 4711;
  Random random(seed);
  RankCounter counter;
  for (int round = 0; round < 30000; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " seed " << seed);
    std::vector<RankAxis> axes(size_t(random.between(0, 3)));
    std::vector<std::vector<Stride>> instances(axes.size());
    for (size_t a = 0; a < axes.size(); ++a) {
      RankAxis& axis = axes[a];
      axis.coefficient = random.between(1, 6) * (random.chance(0.2) ? -1 : 1);
      axis.tile = random.between(1, 5);
      axis.old_offset = random.chance(0.5) ? 0 : random.between(0, 6);
      axis.new_offset = random.chance(0.5) ? 0 : random.between(0, 6);
      axis.room = random.chance(0.7) ? 100 : random.between(1, 12);
      instances[a].resize(size_t(random.chance(0.5) ? 0 : random.between(1, 2)));
      for (Stride& loop : instances[a]) loop = {random.between(1, 8), random.between(1, 3)};
      axis.instances = instances[a];
    }
    for (const RankRules rules : {RankRules{}, RankRules{true, false}, RankRules{true, true}}) {
      ASSERT_EQ(counter.moves(axes, rules), counter.listed_moves(axes, rules));
    }
  }
}

}  // namespace
}  // namespace tilewright
