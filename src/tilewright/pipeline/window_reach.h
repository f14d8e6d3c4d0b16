// What the feeder of a streaming stage needs before a window, and holds behind it, in pixels of its input.
#pragma once

#include <cstdint>

#include "tilewright/pipeline/layer_geometry.h"

namespace tilewright::pipeline {

class WindowReach {
 public:
  WindowReach(const LayerGeometry& geometry, Feeder feeder);

  int64_t in_pixels() const { return in_pixels_; }
  int64_t out_pixels() const { return out_pixels_; }
  // Pixels (of the image, in the order of the stream) that have to be there before window n begins; sliding
  // windows also wait for those that push the last windows out, which are of the next image.
  int64_t needed(int64_t n) const;
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
  int64_t capacity_ = 0;
};

}  // namespace tilewright::pipeline
