// line_window keeps rows and frees the topmost one pixel by pixel; sliding_window passes one word per step,
// so what it holds never differs, and the word that completes window n + 1 may enter when window n has left.
#include "tilewright/pipeline/estimate/window_reach.h"

#include <algorithm>

namespace tilewright::pipeline {

WindowReach::WindowReach(const LayerGeometry& g)
    : window_(g.window),
      rows_(g.input.rows),
      columns_(g.input.columns),
      out_rows_(g.output.rows),
      out_columns_(g.output.columns),
      in_pixels_(rows_ * columns_),
      out_pixels_(out_rows_ * out_columns_),
      sliding_(g.row_major),
      direct_(g.direct) {
  if (!sliding_ && !direct_) {
    capacity_ = g.ring_rows * columns_;
    pixel_step_ = g.lanes ? 1 : g.pixel_words;
    word_step_ = g.lanes ? window_.rows * window_.columns : 1;
  }
}

// Steps of a sliding window up to the one that completes window n.
int64_t WindowReach::pushed(int64_t n) const {
  const int64_t image = n / out_pixels_, m = n % out_pixels_;
  const int64_t row = row_of(m) * window_.stride_y - window_.top + window_.rows - 1;
  const int64_t column = column_of(m) * window_.stride_x - window_.left + window_.columns - 1;
  return image * in_pixels_ + row * columns_ + column + 1;
}

std::vector<int64_t> WindowReach::corners() const {
  std::vector<int64_t> result;
  for (int64_t y = 0; y < out_rows_; ++y) {
    if (y > window_.rows && y < out_rows_ - 1 - window_.rows) continue;
    for (int64_t x = 0; x < out_columns_; ++x) {
      if (x <= window_.columns || x >= out_columns_ - 1 - window_.columns)
        result.push_back(y * out_columns_ + x);
    }
  }
  return result;
}

void WindowReach::needs(int64_t n, std::vector<Need>& result) const {
  result.clear();
  if (sliding_ || direct_) {
    result.push_back({sliding_ ? pushed(n) - 1 : n, 0});
    return;
  }
  const int64_t top = row_of(n) * window_.stride_y - window_.top;
  const int64_t left = column_of(n) * window_.stride_x - window_.left;
  const int64_t kx = std::min(window_.columns, columns_ - left) - 1;
  for (int64_t ky = 0; ky < window_.rows && left + kx >= 0; ++ky) {
    if (top + ky < 0 || top + ky >= rows_) continue;
    result.push_back({(top + ky) * columns_ + left + kx, (ky * window_.columns + kx) * pixel_step_});
  }
  if (result.empty()) result.push_back({0, 0});  // what lies outside waits for the image nevertheless
}

int64_t WindowReach::released(int64_t n) const {
  if (sliding_) return pushed(n + 1);
  if (direct_) return n + 1;
  const int64_t y = row_of(n), top = y * window_.stride_y - window_.top;
  if (column_of(n) + 1 < out_columns_) {
    if (top < 0) return 0;
    const int64_t column = (column_of(n) + 1) * window_.stride_x - window_.left;
    return top * columns_ + std::max<int64_t>(column, 0);
  }
  return y + 1 < out_rows_ ? std::max<int64_t>(top + window_.stride_y, 0) * columns_ : in_pixels_;
}

}  // namespace tilewright::pipeline
