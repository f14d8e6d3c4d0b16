// Windows, sums and results. Every rule is that of the component in rtl/pipeline, on its own parameters.
#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/finish.h"
#include "tilewright/pipeline/component/sliding_window.h"
#include "tilewright/pipeline/component/task_rows.h"
#include "tilewright/pipeline/simulate/value_streams.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::pipeline {
namespace {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;
using netlist::text_or;

// An image as it comes, word by word.
class Map {
 public:
  explicit Map(ValueStreamPtr in) : in_(std::move(in)) {}
  void restart() { words_ = 0, elements_.clear(); }
  const int64_t* word(int64_t index) {
    for (; words_ <= index; ++words_) {
      in_->next(beat_);
      elements_.insert(elements_.end(), beat_.elements.begin(), beat_.elements.end());
    }
    return elements_.data() + index * in_->count;
  }

 private:
  const ValueStreamPtr in_;
  int64_t words_ = 0;
  ValueBeat beat_;
  std::vector<int64_t> elements_;
};

class LineWindow : public ValueStream {
 public:
  LineWindow(ValueStreamPtr in, const Parameters& p)
      : ValueStream(int(integer(p, "AW")), integer(p, "PI")),
        map_(std::move(in)),
        rows_(integer(p, "H")),
        columns_(integer(p, "W")),
        blocks_(integer(p, "CB")),
        kernel_rows_(integer(p, "KH")),
        kernel_columns_(integer(p, "KW")),
        stride_y_(integer(p, "SH")),
        stride_x_(integer(p, "SW")),
        top_(integer(p, "PT")),
        left_(integer(p, "PL")),
        out_rows_(integer(p, "HO")),
        out_columns_(integer(p, "WO")),
        pad_(low_bits(integer(p, "PAD"), bits)),
        lanes_(integer_or(p, "LANES", 0) != 0),
        passes_(lanes_ ? blocks_ : integer(p, "OB")) {}

  void next(ValueBeat& beat) override {
    const int64_t row = y_ * stride_y_ - top_ + ky_, column = x_ * stride_x_ - left_ + kx_;
    if (row < 0 || row >= rows_ || column < 0 || column >= columns_) {
      beat.elements.assign(size_t(count), pad_);
    } else {
      const int64_t* const word = map_.word((row * columns_ + column) * blocks_ + (lanes_ ? pass_ : block_));
      beat.elements.assign(word, word + count);
    }
    beat.last = advance();
  }

 private:
  bool advance() {
    if (!lanes_ && ++block_ < blocks_) return false;
    block_ = 0;
    if (++kx_ < kernel_columns_) return false;
    kx_ = 0;
    if (++ky_ < kernel_rows_) return false;
    ky_ = 0;
    if (++pass_ < passes_) return true;
    pass_ = 0;
    if (++x_ < out_columns_) return true;
    x_ = 0;
    if (++y_ < out_rows_) return true;
    y_ = 0;
    map_.restart();
    return true;
  }

  Map map_;
  const int64_t rows_, columns_, blocks_, kernel_rows_, kernel_columns_, stride_y_, stride_x_, top_, left_,
      out_rows_, out_columns_, pad_;
  const bool lanes_;
  const int64_t passes_;
  int64_t y_ = 0, x_ = 0, pass_ = 0, ky_ = 0, kx_ = 0, block_ = 0;
};

class SlidingWindow : public ValueStream {
 public:
  SlidingWindow(ValueStreamPtr in, const Parameters& p, const MemoryImages& images)
      : ValueStream(int(integer(p, "AW")), integer(p, "KH") * integer(p, "KW") * integer(p, "PI")),
        map_(std::move(in)),
        pi_(integer(p, "PI")),
        kernel_rows_(integer(p, "KH")),
        kernel_columns_(integer(p, "KW")),
        repeat_(integer_or(p, "REPEAT", 1)),
        tasks_(decode_sliding_window(images.at(text_or(p, "TABLE", "")), p)) {}

  void next(ValueBeat& beat) override {
    const SlidingWindowRow& task = tasks_[task_];
    beat.elements.clear();
    for (int64_t ky = 0; ky < kernel_rows_; ++ky) {
      for (int64_t kx = 0; kx < kernel_columns_; ++kx) {
        const int64_t row = y_ * task.stride_y - task.top + ky, column = x_ * task.stride_x - task.left + kx;
        if (row < 0 || row >= task.rows || column < 0 || column >= task.columns) {
          beat.elements.insert(beat.elements.end(), size_t(pi_), low_bits(task.pad_value, bits));
        } else {
          const int64_t* const word = map_.word((row * task.columns + column) * task.blocks + block_);
          beat.elements.insert(beat.elements.end(), word, word + pi_);
        }
      }
    }
    beat.last = block_ + 1 == task.blocks;
    advance(task);
  }

 private:
  void advance(const SlidingWindowRow& task) {
    if (++pass_ < repeat_) return;
    pass_ = 0;
    if (++block_ < task.blocks) return;
    block_ = 0;
    if (++x_ < task.out_columns) return;
    x_ = 0;
    if (++y_ < task.out_rows) return;
    y_ = 0;
    map_.word(task.rows * task.columns * task.blocks - 1);  // all words of the task are taken
    map_.restart();
    task_ = task_ + 1 == tasks_.size() ? 0 : task_ + 1;
  }

  Map map_;
  const int64_t pi_, kernel_rows_, kernel_columns_, repeat_;
  const std::vector<SlidingWindowRow> tasks_;
  size_t task_ = 0;
  int64_t y_ = 0, x_ = 0, block_ = 0, pass_ = 0;
};

// Elements of a memory's words as signed numbers.
std::vector<int32_t> numbers(const MemoryImage& image, int64_t count, int bits, bool bipolar) {
  std::vector<int32_t> all;
  all.reserve(size_t(image.words() * count));
  for (int64_t word = 0; word < image.words(); ++word) {
    for (int64_t i = 0; i < count; ++i) {
      all.push_back(
          int32_t(bipolar ? (image.get(word, i, 1) != 0 ? 1 : -1) : image.get_signed(word, i * bits, bits)));
    }
  }
  return all;
}

// What both arrays do: beats of one window make one set of sums.
class Array : public ValueStream {
 public:
  Array(ValueStreamPtr act, WordStreamPtr weights, const Parameters& p, const char* outputs, bool every_beat)
      : ValueStream(int(integer(p, "ACC")), integer(p, outputs)),
        act_(regrouped(std::move(act), int(integer(p, "AW")))),
        weights_(std::move(weights)),
        every_beat_(every_beat),
        bipolar_(integer_or(p, "A_BIPOLAR", 0) != 0) {}

  void next(ValueBeat& beat) override {
    beat.elements.assign(size_t(count), 0);
    beat.last = true;
    for (bool first = true, last = false; !last; first = false) {
      act_->next(window_);
      last = every_beat_ || window_.last;
      for (int64_t& element : window_.elements) {
        element = bipolar_ ? (element != 0 ? 1 : -1) : as_signed(element, act_->bits);
      }
      add(window_.elements, weights_->next(), first, beat.elements);
    }
    for (int64_t& sum : beat.elements) sum = as_signed(sum, bits);
  }

 protected:
  virtual void add(const std::vector<int64_t>& window, int64_t word, bool first,
                   std::vector<int64_t>& sums) = 0;
  const ValueStreamPtr act_;
  const WordStreamPtr weights_;

 private:
  const bool every_beat_, bipolar_;
  ValueBeat window_;
};

class Macs : public Array {
 public:
  Macs(ValueStreamPtr act, WordStreamPtr weights, const Parameters& p, bool every_beat)
      : Array(std::move(act), std::move(weights), p, "PO", every_beat),
        numbers_(numbers(weights_->image(), count * act_->count, int(integer(p, "WW")),
                         integer_or(p, "W_BIPOLAR", 0) != 0)) {}

 protected:
  void add(const std::vector<int64_t>& window, int64_t word, bool, std::vector<int64_t>& sums) override {
    const int32_t* weight = numbers_.data() + word * count * act_->count;
    for (int64_t& sum : sums) {
      uint64_t total = uint64_t(sum);
      for (const int64_t element : window) total += uint64_t(element * *weight++);
      sum = int64_t(total);
    }
  }

 private:
  const std::vector<int32_t> numbers_;
};

class Lanes : public Array {
 public:
  Lanes(ValueStreamPtr act, WordStreamPtr weights, const Parameters& p, bool every_beat)
      : Array(std::move(act), std::move(weights), p, "P", every_beat),
        sums_(integer_or(p, "SUM", 1) != 0),
        maxima_(integer_or(p, "MAXIMUM", 1) != 0),
        flag_(act_->count * integer(p, "WW")),
        numbers_(numbers(weights_->image(), act_->count, int(integer(p, "WW")), false)) {}

 protected:
  void add(const std::vector<int64_t>& window, int64_t word, bool first,
           std::vector<int64_t>& sums) override {
    const bool maximum = maxima_ && (!sums_ || weights_->image().get(word, flag_, 1) != 0);
    const int32_t* const weights = numbers_.data() + word * act_->count;
    for (int64_t i = 0; i < act_->count; ++i) {
      int64_t& sum = sums[size_t(i % count)];
      const int64_t element = window[size_t(i)];
      if (!maximum) {
        sum = int64_t(uint64_t(sum) + uint64_t(element * weights[i]));
      } else if ((first && i < count) || element > sum) {
        sum = element;
      }
    }
  }

 private:
  const bool sums_, maxima_;
  const int64_t flag_;
  const std::vector<int32_t> numbers_;
};

class Finish : public ValueStream {
 public:
  Finish(ValueStreamPtr acc, WordStreamPtr words, ValueStreamPtr residual, const Parameters& p,
         const MemoryImages& images)
      : ValueStream(int(integer(p, "AW")), integer(p, "PF")),
        acc_(std::move(acc)),
        words_(std::move(words)),
        residual_(std::move(residual)),
        fixed_(text_or(p, "NUMBER", "integer") == "fixed"),
        fraction_(int(integer_or(p, "FRACTION", 22))),
        sum_bits_(int(integer_or(p, "SUM_BITS", 32))),
        twice_(integer_or(p, "TWICE", 0) != 0),
        rows_(decode_finish(images.at(text_or(p, "TABLE", "")),
                            fixed_ ? NumberType::kFixed : NumberType::kInteger)) {
    read_lanes(integer_or(p, "MULTIPLIER_BITS", 32));
    const auto file = images.find(text_or(p, "FILE", ""));
    if (file == images.end()) return;
    for (int64_t i = 0; i < file->second.words(); ++i) {
      table_.push_back(file->second.get_signed(i, 0, file->second.width_bits()));
    }
  }

  void next(ValueBeat& beat) override {
    const FinishRow& row = rows_[row_];
    if (slice_ == 0) acc_->next(sums_);
    const int64_t word = words_->next();
    if (row.add) residual_->next(other_);
    beat.elements.resize(size_t(count));
    beat.last = true;
    for (int64_t lane = 0; lane < count; ++lane) {
      const int64_t sum = sums_.elements[size_t(slice_ * count + lane)];
      const int64_t other = row.add ? as_signed(other_.elements[size_t(lane)], bits) : 0;
      const int64_t value = fixed_ ? fixed(row, word, lane, sum, other) : whole(row, word, lane, sum, other);
      beat.elements[size_t(lane)] = low_bits(value, bits);
    }
    const int64_t slices = acc_->count / count;
    if (++slice_ == (row.drain == 0 ? slices : std::min(slices, row.drain))) slice_ = 0;
    if (++beats_ < row.beats) return;
    beats_ = 0;
    row_ = row_ + 1 == rows_.size() ? 0 : row_ + 1;
  }

 private:
  void read_lanes(int64_t multiplier_bits) {
    const MemoryImage& words = words_->image();
    const auto fields = finish_lane_fields(fixed_ ? NumberType::kFixed : NumberType::kInteger);
    for (int64_t word = 0; word < words.words(); ++word) {
      RowReader reader(words, word);
      for (int64_t lane = 0; lane < count; ++lane) {
        lanes_.push_back(read_row(reader, fields, {{"MULTIPLIER_BITS", multiplier_bits}}));
      }
    }
  }

  int64_t whole(const FinishRow& row, int64_t word, int64_t lane, int64_t sum, int64_t other) const {
    const FinishLane& own = lanes_.at(size_t(word * count + lane));
    const int32_t shift = int32_t(own.shift) + (twice_ && own.shift >= 32 ? kTwice : 0);
    int64_t value =
        requantize(int32_t(as_signed(sum + own.bias, sum_bits_)), {int32_t(own.multiplier), shift},
                   int32_t(row.zero_point), int32_t(row.clip_low), int32_t(row.clip_high));
    if (row.add && row.product) {
      const int64_t total = (value - row.add_a) * (other - row.add_b) * row.add_bias;
      value = clip(round_shift(total, int(row.add_shift)) + row.add_zero, row.add_low, row.add_high);
    } else if (row.add) {
      const int64_t total = as_signed(value * row.add_a + other * row.add_b + row.add_bias, 34);
      value = clip(round_shift(total, int(row.add_shift)) + row.add_zero, row.add_low, row.add_high);
    }
    if (row.lookup) value = table_.at(size_t(row.table * 256 + value + 128));
    return row.bipolar && bits > 1 ? 2 * (value & 1) - 1 : value;
  }

  int64_t fixed(const FinishRow& row, int64_t word, int64_t lane, int64_t sum, int64_t other) const {
    const int64_t bias = lanes_.at(size_t(word * count + lane)).bias;
    const int64_t total = int64_t(uint64_t(sum) + (uint64_t(bias) << fraction_));
    int64_t value =
        row.raw ? as_signed(total, 32) : clip(round_shift(total, fraction_), row.clip_low, row.clip_high);
    if (row.add) value = clip(value + other, row.add_low, row.add_high);
    if (!row.lookup) return value;
    const int64_t limit = int64_t{256} << row.input_shift;
    value = clip(value, -limit, limit - 1);
    const size_t at = size_t(row.table * 513 + (value >> row.input_shift) + 256);
    const int64_t rest = low_bits(value, int(row.input_shift));
    return table_.at(at) + round_shift((table_.at(at + 1) - table_.at(at)) * rest, int(row.input_shift));
  }

  const ValueStreamPtr acc_;
  const WordStreamPtr words_;
  const ValueStreamPtr residual_;
  const bool fixed_;
  const int fraction_, sum_bits_;
  const bool twice_;
  const std::vector<FinishRow> rows_;
  std::vector<FinishLane> lanes_;  // of every word
  std::vector<int64_t> table_;
  ValueBeat sums_, other_;
  size_t row_ = 0;
  int64_t slice_ = 0, beats_ = 0;
};

}  // namespace

ValueStreamPtr line_window_stream(ValueStreamPtr in, const Parameters& parameters) {
  return std::make_shared<LineWindow>(std::move(in), parameters);
}

ValueStreamPtr sliding_window_stream(ValueStreamPtr in, const Parameters& parameters,
                                     const MemoryImages& images) {
  return std::make_shared<SlidingWindow>(std::move(in), parameters, images);
}

ValueStreamPtr mac_stream(ValueStreamPtr act, WordStreamPtr weights, const Parameters& parameters,
                          bool every_beat) {
  return std::make_shared<Macs>(std::move(act), std::move(weights), parameters, every_beat);
}

ValueStreamPtr lane_stream(ValueStreamPtr act, WordStreamPtr weights, const Parameters& parameters,
                           bool every_beat) {
  return std::make_shared<Lanes>(std::move(act), std::move(weights), parameters, every_beat);
}

ValueStreamPtr finish_stream(ValueStreamPtr acc, WordStreamPtr parameter_words, ValueStreamPtr residual,
                             const Parameters& parameters, const MemoryImages& images) {
  return std::make_shared<Finish>(std::move(acc), std::move(parameter_words), std::move(residual), parameters,
                                  images);
}

}  // namespace tilewright::pipeline
