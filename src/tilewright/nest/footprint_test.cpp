#include "tilewright/nest/footprint.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

// The indices of one rank that a tile touches, by visiting every point of the box.
std::set<int64_t> touched(const Rank& rank, const std::vector<int64_t>& begins,
                          const std::vector<int64_t>& extents, size_t term = 0, int64_t value = 0) {
  std::set<int64_t> indices;
  if (term == rank.terms.size()) return {value + rank.offset};
  const ProjectionTerm& t = rank.terms[term];
  const size_t d = size_t(t.dimension);
  for (int64_t i = begins[d]; i < begins[d] + extents[d]; ++i) {
    indices.merge(touched(rank, begins, extents, term + 1, value + t.coefficient * i));
  }
  return indices;
}

void expect_exact(const Rank& rank, const std::vector<int64_t>& begins, const std::vector<int64_t>& extents) {
  const std::set<int64_t> indices = touched(rank, begins, extents);
  ASSERT_EQ(rank_footprint(rank, extents), int64_t(indices.size()));
  const auto stored =
      std::count_if(indices.begin(), indices.end(), [&](int64_t i) { return 0 <= i && i < rank.size; });
  ASSERT_EQ(stored_rank_footprint(rank, begins, extents), stored);
  if (indices.empty()) {
    ASSERT_EQ(bounding_range(rank, begins, extents).size(), 0);
  } else {
    ASSERT_EQ(bounding_range(rank, begins, extents), (IndexRange{*indices.begin(), *indices.rbegin()}));
  }
}

TEST(Footprint, RandomRanksEqualTheEnumeration) {
  const uint64_t seed = 424242;
  Random random(seed);
  for (int round = 0; round < 20000; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " seed " << seed);
    const int terms = int(random.between(0, 4));
    Rank rank{"r", random.between(1, 30), random.between(-8, 8), {}};
    std::vector<int64_t> begins, extents;
    for (int t = 0; t < terms; ++t) {
      int64_t coefficient = random.between(1, 12);
      if (random.chance(0.2)) coefficient = -coefficient;
      rank.terms.push_back({t, coefficient});
      begins.push_back(random.between(0, 4));
      extents.push_back(random.between(random.chance(0.05) ? 0 : 1, 7));
    }
    expect_exact(rank, begins, extents);
    if (HasFatalFailure()) return;
  }
}

TEST(Footprint, RandomConvolutionTilesEqualTheEnumeration) {
  const uint64_t seed = 31337;
  Random random(seed);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " seed " << seed);
    ConvShape shape;
    shape.batch = random.between(1, 3);
    shape.group = random.between(1, 3);
    shape.input_channels = shape.group * random.between(1, 3);
    shape.output_channels = shape.group * random.between(1, 3);
    for (WindowAxis* axis : {&shape.height, &shape.width}) {
      axis->kernel = random.between(1, 5);
      axis->stride = random.between(1, 5);
      axis->dilation = random.between(1, 4);
      axis->output = random.between(1, 6);
      axis->pad_begin = random.between(0, 3);
      axis->input = random.between(1, 40);
    }
    const Workload w =
        random.chance(0.5) ? conv2d_workload("c", shape) : conv2d_transpose_workload("t", shape);
    std::vector<int64_t> begins, extents;
    for (const Dimension& d : w.dimensions) {
      begins.push_back(random.between(0, d.size - 1));
      extents.push_back(random.between(1, d.size - begins.back()));
    }
    for (const DataSpace& space : w.data_spaces) {
      int64_t elements = 1, stored = 1, box = 1;
      for (const Rank& rank : space.ranks) {
        expect_exact(rank, begins, extents);
        if (HasFatalFailure()) return;
        elements *= rank_footprint(rank, extents);
        stored *= stored_rank_footprint(rank, begins, extents);
        box *= bounding_range(rank, begins, extents).size();
      }
      ASSERT_EQ(footprint(space, extents), elements);
      ASSERT_EQ(stored_footprint(space, begins, extents), stored);
      ASSERT_EQ(bounding_box(space, extents), box);
    }
  }
}

// Ranks are independent: the elements of a whole data space, enumerated as tuples, are the product.
TEST(Footprint, WholeDataSpacesEqualTheEnumerationOfTheirElements) {
  const uint64_t seed = 99;
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    ConvShape shape;
    shape.group = 2;
    shape.input_channels = 4;
    shape.output_channels = 2;
    shape.height = {.input = 9,
                    .kernel = 3,
                    .stride = random.between(1, 4),
                    .dilation = random.between(1, 3),
                    .pad_begin = 1,
                    .output = 3};
    shape.width = {.input = 7,
                   .kernel = 2,
                   .stride = random.between(1, 4),
                   .dilation = random.between(1, 3),
                   .pad_begin = 0,
                   .output = 2};
    const Workload w = conv2d_workload("c", shape);
    std::vector<int64_t> begins(8, 0), extents, point(8, 0);
    for (const Dimension& d : w.dimensions) extents.push_back(random.between(1, d.size));
    for (const DataSpace& space : w.data_spaces) {
      std::set<std::vector<int64_t>> elements;
      int64_t points = 1;
      for (const int64_t extent : extents) points *= extent;
      for (int64_t i = 0; i < points; ++i) {
        int64_t rest = i;
        for (size_t d = 0; d < 8; ++d) {
          point[d] = rest % extents[d];
          rest /= extents[d];
        }
        std::vector<int64_t> element;
        for (const Rank& rank : space.ranks) {
          int64_t index = rank.offset;
          for (const ProjectionTerm& t : rank.terms) index += t.coefficient * point[size_t(t.dimension)];
          element.push_back(index);
        }
        elements.insert(element);
      }
      ASSERT_EQ(footprint(space, extents), int64_t(elements.size())) << "round " << round << " seed " << seed;
    }
  }
}

TEST(Footprint, LargeRangesNeedNoMemory) {
  const int64_t big = int64_t{1} << 30;
  const Rank rank{"r", big * 3, 0, {{0, 3}, {1, 1}}};
  const std::vector<int64_t> extents{big, 2};
  EXPECT_EQ(rank_footprint(rank, extents), 2 * big);
  const std::vector<int64_t> begins{0, 0};
  EXPECT_EQ(stored_rank_footprint(Rank{"r", 30, 0, rank.terms}, begins, extents), 20);
}

}  // namespace
}  // namespace tilewright
