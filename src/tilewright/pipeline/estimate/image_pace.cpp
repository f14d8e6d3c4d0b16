// Three images, row by row: a row of the input may enter the window memory as the row `ring_rows` before it
// leaves, and a row of windows needs its lowest input row. What lies between the ends of the last two is the
// pace.
#include "tilewright/pipeline/estimate/image_pace.h"

#include <algorithm>
#include <vector>

namespace tilewright::pipeline {
namespace {

constexpr int64_t kImages = 3;
constexpr int64_t kEdgeRows = 6;  // of windows, beside those that reach over an image's ends

struct Span {
  double begin = 0, end = 0;
};

class WindowMemory {
 public:
  WindowMemory(const LayerGeometry& g, const StageTiming& timing)
      : g_(g),
        timing_(timing),
        columns_(double(g.input.columns)),
        pixel_(timing.row_cycles / double(g.output.columns)),
        left_over_(columns_ -
                   double(std::clamp<int64_t>((g.output.columns - 1) * g.window.stride_x - g.window.left, 0,
                                              g.input.columns))) {
    arrived_.reserve(size_t(kImages * g.input.rows));
    released_.reserve(size_t(kImages * g.input.rows));
  }

  double pace() {
    double end = 0, before = 0;
    for (int64_t image = 0; image < kImages; ++image) {
      before = end;
      for (int64_t y = 0; y < g_.output.rows; ++y) end = windows(image, y, end);
    }
    return end - before;
  }

 private:
  int64_t top(int64_t y) const {
    return std::clamp<int64_t>(y * g_.window.stride_y - g_.window.top, 0, g_.input.rows);
  }
  double share(int64_t x) const {
    const int64_t last = x * g_.window.stride_x - g_.window.left + g_.window.columns;
    return double(std::clamp<int64_t>(last, 1, g_.input.columns)) / columns_;
  }

  // The end of a row of windows that may start at `start`.
  double windows(int64_t image, int64_t y, double start) {
    const RowRange rows = rows_read(g_, y, 1);
    double end = start + timing_.row_cycles;
    if (rows.last > rows.first) {
      const Span lowest = arrival(image * g_.input.rows + rows.last - 1);
      const auto until = [&](double part) { return lowest.begin + part * (lowest.end - lowest.begin); };
      const double tail =
          std::max(1.0, timing_.tail + 1 - timing_.tail_share * (lowest.end - lowest.begin) / columns_);
      const double first = std::max(start + pixel_, until(share(0)) + tail);
      end = std::max({end, first + timing_.row_cycles - pixel_, until(share(g_.output.columns - 1)) + tail});
    }
    // The topmost row leaves pixel by pixel, what the next windows do not need at the end.
    const int64_t from = image * g_.input.rows + top(y),
                  to = image * g_.input.rows + (y + 1 < g_.output.rows ? top(y + 1) : g_.input.rows);
    const bool gradual = y * g_.window.stride_y >= g_.window.top;
    for (int64_t row = from; row < to; ++row)
      released_.push_back({row == from && gradual ? end - timing_.row_cycles + pixel_ : end, end});
    return end;
  }

  // Rows are numbered through all images.
  Span arrival(int64_t row) {
    while (std::ssize(arrived_) <= row) {
      const int64_t own = std::ssize(arrived_), freed = own - g_.ring_rows;
      const double before = arrived_.empty() ? 0 : arrived_.back().end;
      Span span{before, before + timing_.input_row};
      if (freed >= 0 && freed < std::ssize(released_)) {
        const Span room = released_[size_t(freed)];
        span.begin = std::max(span.begin, room.begin);
        span.end =
            std::max({span.begin + timing_.input_row, room.end + left_over_ / columns_ * timing_.input_row});
      }
      arrived_.push_back(span);
    }
    return arrived_[size_t(row)];
  }

  const LayerGeometry& g_;
  const StageTiming& timing_;
  const double columns_, pixel_;
  const double left_over_;  // columns of the topmost row that leave at the end of a row of windows
  std::vector<Span> arrived_, released_;
};

// A sliding window steps once per word, and not while a window is in use. Steps between the windows of a row
// hide behind a finish that is slower than its array, those of rows without windows do not.
double sliding_pace(const LayerGeometry& g, const StageTiming& timing) {
  const int64_t without = std::max<int64_t>(0, g.input.rows - g.output.rows);
  return double(g.output.rows) * std::max(sliding_row(g, timing.input_row), timing.row_cycles) +
         double(without) * timing.input_row;
}

}  // namespace

double sliding_row(const LayerGeometry& g, double input_row) {
  const double step = input_row / double(g.input.columns * g.pixel_words);
  const double passes = g.lanes ? 1 : double(g.blocks);
  const double windows = double(g.output.columns * g.pixel_words) * std::max(passes, step);
  const double between = double(std::max<int64_t>(0, (g.input.columns - g.output.columns) * g.pixel_words));
  // The first of them has come in the meantime.
  return windows + std::max(0.0, between * step - (passes >= step ? step - 1 : 0));
}

double image_pace(const LayerGeometry& g, const StageTiming& timing) {
  const double least =
      std::max(double(g.output.rows) * timing.row_cycles, double(g.input.rows) * timing.input_row);
  if (g.row_major) return std::max(least, sliding_pace(g, timing));
  if (g.direct || g.ring_rows >= g.input.rows + g.window.rows) return least;
  // Rows in the middle of an image are alike.
  const int64_t alike = std::max<int64_t>(0, g.output.rows - kEdgeRows - 2 * g.window.rows);
  LayerGeometry edges = g;
  edges.output.rows -= alike;
  edges.input.rows -= alike * g.window.stride_y;
  const double row = std::max(timing.row_cycles, double(g.window.stride_y) * timing.input_row);
  return std::max(least, WindowMemory(edges, timing).pace() + double(alike) * row);
}

}  // namespace tilewright::pipeline
