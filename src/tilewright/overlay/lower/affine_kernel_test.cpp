#include "tilewright/overlay/lower/affine_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "tilewright/base/random.h"

namespace tilewright::overlay {
namespace {

using Point = std::tuple<uint64_t, uint64_t, uint64_t, bool>;

void execute(const MicroKernel& kernel, std::vector<Point>& points) {
  for (uint32_t y = 0; y < kernel.outer.extent; ++y) {
    for (uint32_t x = 0; x < kernel.inner.extent; ++x) {
      for (const MicroOp& u : kernel.uops) {
        points.emplace_back(u.dst + y * kernel.outer.dst + x * kernel.inner.dst,
                            u.src + y * kernel.outer.src + x * kernel.inner.src,
                            u.wgt + y * kernel.outer.wgt + x * kernel.inner.wgt, u.overwrite);
      }
    }
  }
}

std::vector<Point> sorted(std::vector<Point> points) {
  std::sort(points.begin(), points.end());
  return points;
}

// All points of a box, with `first` set where every reduction index is zero.
std::vector<Point> walk(const AffineBox& box) {
  std::vector<Point> points{{box.dst, box.src, box.wgt, true}};
  for (const BoxAxis& axis : box.axes) {
    std::vector<Point> next;
    for (const auto& [d, s, w, first] : points) {
      for (uint32_t i = 0; i < axis.extent; ++i) {
        next.emplace_back(d + i * axis.dst, s + i * axis.src, w + i * axis.wgt,
                          first && (axis.dst != 0 || i == 0));
      }
    }
    points = std::move(next);
  }
  return points;
}

// A convolution-like box: rows and columns of a plane, output blocks, input blocks, taps; some of extent 1.
AffineBox random_box(Random& random) {
  const auto extent = [&](int64_t most) {
    return uint32_t(random.chance(0.3) ? 1 : random.between(1, most));
  };
  const uint32_t rows = extent(5), cols = extent(7), outs = extent(3), ins = extent(3), ky = extent(3),
                 kx = extent(3);
  const uint32_t width = cols + kx + 1;
  AffineBox box;
  box.axes = {{outs, rows * cols, 0, ins * ky * kx},
              {ins, 0, width * (rows + ky), ky * kx},
              {ky, 0, width, kx},
              {kx, 0, 1, 1},
              {rows, cols, width, 0},
              {cols, 1, 1, 0}};
  box.dst = uint32_t(random.between(0, 20));
  box.src = uint32_t(random.between(0, 20));
  box.wgt = uint32_t(random.between(0, 20));
  return box;
}

TEST(AffineKernel, CoversEveryPointOnce) {
  OverlayHardware wide;
  wide.isa = IsaVersion::kWide;
  wide.uop_buffer_bytes *= 2;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const AffineBox box = random_box(random);
    std::vector<Point> expected = walk(box), overwriting, plain, portable;
    execute(cover_box(wide, box, {}, true), overwriting);
    EXPECT_EQ(sorted(overwriting), sorted(expected));
    for (Point& point : expected) std::get<3>(point) = false;
    execute(cover_box({}, box, {}), plain);
    EXPECT_EQ(sorted(plain), sorted(expected));
    for (const MicroKernel& kernel : cover_box_portably({}, box, {})) {
      EXPECT_FALSE(reuses_destination(kernel));
      execute(kernel, portable);
    }
    EXPECT_EQ(sorted(portable), sorted(expected));
  }
}

TEST(AffineKernel, OverwritingMicroOpsComeFirst) {
  OverlayHardware wide;
  wide.isa = IsaVersion::kWide;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<Point> points;
    execute(cover_box(wide, random_box(random), {}, true), points);
    std::vector<bool> touched(2000);
    for (const auto& [dst, src, wgt, overwrite] : points) {
      ASSERT_EQ(overwrite, !touched[dst]) << "ACC " << dst;
      touched[dst] = true;
    }
  }
}

TEST(AffineKernel, HazardsAreSeenAcrossIterations) {
  MicroKernel kernel;
  kernel.uops = {{.dst = 0}, {.dst = 1}, {.dst = 2}};
  EXPECT_FALSE(reuses_destination(kernel));
  kernel.inner = {.extent = 4, .dst = 0, .src = 1};
  EXPECT_FALSE(reuses_destination(kernel));  // 0 1 2 0 1 2: distance three
  kernel.uops.pop_back();
  EXPECT_TRUE(reuses_destination(kernel));  // 0 1 0 1
  kernel.inner.dst = 2;
  EXPECT_FALSE(reuses_destination(kernel));
  kernel.inner.dst = 1;
  EXPECT_TRUE(reuses_destination(kernel));  // 0 1 1 2
  // Only the seam between two outer iterations repeats: 0 1 2 | 2 3 4.
  kernel.uops = {{.dst = 0}};
  kernel.inner = {.extent = 3, .dst = 1};
  kernel.outer = {.extent = 2, .dst = 2};
  EXPECT_TRUE(reuses_destination(kernel));
}

}  // namespace
}  // namespace tilewright::overlay
