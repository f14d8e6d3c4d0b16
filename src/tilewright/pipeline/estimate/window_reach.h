// What the feeder of a streaming stage needs before a window, and holds after it, in pixels of its input.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/design/layer_geometry.h"

namespace tilewright::pipeline {

class WindowReach {
 public:
  explicit WindowReach(const LayerGeometry& geometry);

  int64_t in_pixels() const { return in_pixels_; }
  int64_t out_pixels() const { return out_pixels_; }
  // Windows at the corners of where all is linear in row and column: those near the edges, where padding and
  // images' ends cut windows off.
  std::vector<int64_t> corners() const;
  // The last pixel of each row of window n that lies in the image: its number in the stream, and how many
  // words of the window are read before the pixel's first. Sliding windows have the one pixel that completes
  // them, which may be of the next image.
  struct Need {
    int64_t pixel = 0, words_before = 0;
  };
  void needs(int64_t n, std::vector<Need>& result) const;
  // Words of the window from one word of a pixel to the next one.
  int64_t word_step() const { return word_step_; }
  // Pixels that have left the queue before the stage, or the window's memory, when window n is done.
  int64_t released(int64_t n) const;
  // Pixels that the feeder's own memory holds, beyond what released() counts.
  int64_t capacity() const { return capacity_; }

 private:
  int64_t row_of(int64_t n) const { return n / out_columns_; }
  int64_t column_of(int64_t n) const { return n % out_columns_; }
  int64_t pushed(int64_t n) const;

  LayerWindow window_;
  int64_t rows_, columns_, out_rows_, out_columns_, in_pixels_, out_pixels_;
  bool sliding_ = false, direct_ = false;
  int64_t capacity_ = 0, pixel_step_ = 1, word_step_ = 1;
};

}  // namespace tilewright::pipeline
