// The walk of rtl/pipeline/tw_stream_line_window.sv with the same counts of words: how far the stream has
// been written behind the topmost row of the windows (`distance_`), and behind the first word still needed
// (`level_`).
#include <algorithm>

#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace line_window {
namespace {

using netlist::Direction;
using netlist::Parameters;

enum Port { kInValid, kInReady, kInData, kOutValid, kOutReady, kOutData, kOutLast };

struct Geometry {
  int64_t rows = 0, columns = 0, blocks = 0, kernel_rows = 0, kernel_columns = 0, stride_y = 0, stride_x = 0,
          top = 0, left = 0, out_rows = 0, out_columns = 0, outer = 0, ring_rows = 0;
  bool lanes = false;
};

Geometry geometry(Requirements& requirements) {
  Geometry g;
  g.rows = requirements.at_least("H", 1);
  g.columns = requirements.at_least("W", 1);
  g.blocks = requirements.at_least("CB", 1);
  g.kernel_rows = requirements.at_least("KH", 1);
  g.kernel_columns = requirements.at_least("KW", 1);
  g.stride_y = requirements.at_least("SH", 1);
  g.stride_x = requirements.at_least("SW", 1);
  g.top = requirements.at_least("PT", 0);
  g.left = requirements.at_least("PL", 0);
  g.out_rows = requirements.at_least("HO", 1);
  g.out_columns = requirements.at_least("WO", 1);
  g.outer = requirements.at_least("OB", 1);
  g.lanes = requirements.at_least_or("LANES", 0, 0) != 0;
  g.ring_rows = requirements.at_least("ROWS", 1);
  return g;
}

std::vector<ComponentPort> ports(const Parameters& parameters) {
  Requirements requirements("line_window", parameters);
  const int64_t width = requirements.at_least("PI", 1) * requirements.at_least("AW", 1);
  const Geometry g = geometry(requirements);
  requirements.kind("block");
  requirements.need(g.ring_rows >= std::min(g.kernel_rows, g.rows),
                    "ROWS is " + std::to_string(g.ring_rows) + ", but a window has " +
                        std::to_string(std::min(g.kernel_rows, g.rows)) + " rows of the image");
  const int64_t last_top = (g.out_rows - 1) * g.stride_y - g.top;
  const int64_t last_left = (g.out_columns - 1) * g.stride_x - g.left;
  requirements.need(last_top < g.rows && last_top + g.kernel_rows > 0,
                    "the last of HO rows of windows lies outside of the image");
  requirements.need(last_left < g.columns && last_left + g.kernel_columns > 0,
                    "the last of WO windows of a row lies outside of the image");
  requirements.need(!g.lanes || g.outer == 1, "LANES needs OB = 1");
  requirements.raise_if_any();
  std::vector<ComponentPort> list;
  add_stream(list, "in", Direction::kInput, int(width));
  add_stream(list, "out", Direction::kOutput, int(width), true);
  return list;
}

class Model : public CycleModel {
 public:
  explicit Model(const Geometry& geometry)
      : g_(geometry),
        row_words_(g_.columns * g_.blocks),
        ring_(g_.ring_rows * row_words_),
        row_start_at_reset_(-(g_.top * row_words_ + g_.left * g_.blocks)),
        blank_(g_.top >= g_.kernel_rows || g_.left >= g_.kernel_columns),
        blocks_inner_(g_.lanes ? 1 : g_.blocks),
        repeats_(g_.lanes ? g_.blocks : g_.outer) {}

  void reset(Pins& pins) override {
    y_ = x_ = repeat_ = ky_ = kx_ = block_ = 0;
    row_ = -g_.top;
    column_ = -g_.left;
    window_start_ = row_start_ = offset_ = row_start_at_reset_;
    distance_ = level_ = 0;
    pins.set(kOutValid, 0);
    pins.set(kOutLast, 0);
  }

  void settle(Pins& pins) override { pins.set(kInReady, level_ < ring_ ? 1 : 0); }

  void tick(Pins& pins) override {
    const bool taken = pins[kInValid] != 0 && level_ < ring_;
    const bool free = pins[kOutValid] == 0 || pins[kOutReady] != 0;
    const bool go = free && (outside() ? !blank_ || y_ != 0 || distance_ > 0 : distance_ > offset_);
    if (taken) {
      ++distance_;
      ++level_;
    }
    if (go) pins.set(kOutLast, advance() ? 1 : 0);
    if (free) pins.set(kOutValid, go ? 1 : 0);
  }

 private:
  bool outside() const { return row_ < 0 || row_ >= g_.rows || column_ < 0 || column_ >= g_.columns; }

  // One beat; returns whether it was the last of its window.
  bool advance() {
    ++offset_;
    if (++block_ < blocks_inner_) return false;
    block_ = 0;
    if (g_.lanes) offset_ += g_.blocks - 1;
    ++column_;
    if (++kx_ < g_.kernel_columns) return false;
    kx_ = 0;
    column_ -= g_.kernel_columns;
    offset_ += row_words_ - g_.kernel_columns * g_.blocks;
    ++row_;
    if (++ky_ < g_.kernel_rows) return false;
    ky_ = 0;
    row_ -= g_.kernel_rows;
    offset_ = window_start_;
    if (++repeat_ < repeats_) {
      if (g_.lanes) offset_ = window_start_ + repeat_;
      return true;
    }
    repeat_ = 0;
    next_pixel();
    return true;
  }

  // Output rows whose windows begin inside the image free the topmost row along their way; the others free
  // what the next row does not need.
  void next_pixel() {
    const bool inside = row_ >= 0;
    const int64_t left = std::max<int64_t>(column_, 0);
    if (++x_ < g_.out_columns) {
      column_ += g_.stride_x;
      if (inside) level_ -= (std::max<int64_t>(column_, 0) - left) * g_.blocks;
      window_start_ += g_.stride_x * g_.blocks;
      offset_ = window_start_;
      return;
    }
    x_ = 0;
    column_ = -g_.left;
    const int64_t top = std::max<int64_t>(row_, 0);
    int64_t next_top = g_.rows;
    if (++y_ < g_.out_rows) {
      row_ += g_.stride_y;
      next_top = std::max<int64_t>(row_, 0);
      row_start_ += (g_.stride_y - (next_top - top)) * row_words_;
    } else {
      y_ = 0;
      row_ = -g_.top;
      row_start_ = row_start_at_reset_;
    }
    const int64_t move = (next_top - top) * row_words_;
    distance_ -= move;
    level_ -= move - (inside ? left * g_.blocks : 0);
    window_start_ = offset_ = row_start_;
  }

  const Geometry g_;
  const int64_t row_words_, ring_, row_start_at_reset_;
  const bool blank_;  // the first window lies outside of the image, and waits for it
  const int64_t blocks_inner_, repeats_;
  int64_t y_ = 0, x_ = 0, repeat_ = 0, ky_ = 0, kx_ = 0, block_ = 0;
  int64_t row_ = 0, column_ = 0;  // of the pixel of the next beat
  // Words behind the first of the topmost row: of the next beat, of its window, of window x = 0.
  int64_t offset_ = 0, window_start_ = 0, row_start_ = 0;
  int64_t distance_ = 0, level_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  Requirements requirements("line_window", parameters);
  const Geometry g = geometry(requirements);
  requirements.raise_if_any();
  return std::make_unique<Model>(g);
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t word = p("PI") * p("AW"), line = p("W") * p("CB"), ring = p("ROWS") * line;
  const area::MemoryLogic memory = area::add_memory(f, p.text("KIND", "block"), ring, word, p.family);
  const int64_t kh = p("KH"), kw = p("KW");
  const double address = double(area::bits_of(ring));
  const double span = double(area::bits_of(ring + (kh + p("SH") + p("PT") + 1) * line + p("H") * line) + 1);
  const double loops = double(area::bits_of(p("HO")) + area::bits_of(p("WO")) + area::bits_of(p("OB")) +
                              area::bits_of(kh) + area::bits_of(kw) + area::bits_of(p("CB")));
  const double place = double(area::bits_of(p("H") + kh) + area::bits_of(p("W") + kw));
  f.lut = {1, memory.lut, address, span, loops, place, double(word)};
  f.ff = {1, memory.ff, address, span, loops, place};
  return f;
}

}  // namespace
}  // namespace line_window

const ComponentType kLineWindow = {
    "line_window", {"stream_memory"}, line_window::ports, line_window::model, line_window::features};

}  // namespace tilewright::pipeline
