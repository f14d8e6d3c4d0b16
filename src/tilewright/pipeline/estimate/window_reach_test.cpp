// Corners stand for all windows: whatever is linear in pixels, words and windows is largest at one of them.
#include "tilewright/pipeline/estimate/window_reach.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/base/random.h"

namespace tilewright::pipeline {
namespace {

LayerGeometry random_geometry(Random& random) {
  LayerGeometry g;
  g.window = {random.between(1, 5), random.between(1, 5), random.between(1, 3), random.between(1, 3)};
  g.window.top = random.between(0, g.window.rows - 1);
  g.window.left = random.between(0, g.window.columns - 1);
  g.output = {random.between(1, 20), random.between(1, 20), 1};
  g.input = {(g.output.rows - 1) * g.window.stride_y + random.between(1, 3),
             (g.output.columns - 1) * g.window.stride_x + random.between(1, 3), 1};
  g.lanes = random.chance(0.3);
  g.row_major = random.chance(0.3);
  g.pixel_words = random.between(1, 4);
  return g;
}

TEST(WindowReach, CornersHaveTheExtremes) {
  Random random(7);
  size_t all_windows = 0, corner_windows = 0;
  for (int i = 0; i < 500; ++i) {
    const LayerGeometry g = random_geometry(random);
    const WindowReach reach(g);
    const int64_t pixel_time = random.between(g.pixel_words, 50);
    // The latest need, and the most that is held before a release, for windows `window_time` apart.
    const auto extremes = [&](const std::vector<int64_t>& windows, int64_t window_time) {
      std::pair<int64_t, int64_t> result{INT64_MIN, INT64_MIN};
      std::vector<WindowReach::Need> needs;
      for (const int64_t n : windows) {
        reach.needs(n, needs);
        for (const WindowReach::Need& need : needs) {
          result.first =
              std::max(result.first, need.pixel * pixel_time - need.words_before - n * window_time);
        }
        const int64_t last = reach.out_pixels() - 1;
        const int64_t gone = n > 0 ? reach.released(n - 1) : reach.released(last) - reach.in_pixels();
        result.second = std::max(result.second, n * window_time - gone * pixel_time);
      }
      return result;
    };
    std::vector<int64_t> all;
    for (int64_t n = 0; n < reach.out_pixels(); ++n) all.push_back(n);
    const std::vector<int64_t> corners = reach.corners();
    const int64_t window_time = random.between(1, 200);
    EXPECT_EQ(extremes(corners, window_time), extremes(all, window_time)) << i;
    all_windows += all.size();
    corner_windows += corners.size();
  }
  EXPECT_LT(corner_windows, all_windows);
}

}  // namespace
}  // namespace tilewright::pipeline
