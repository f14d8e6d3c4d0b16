// What moves data: nothing here depends on what the elements mean.
#include "tilewright/pipeline/simulate/value_streams.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/weight_ring.h"

namespace tilewright::pipeline {
namespace {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;
using netlist::text_or;

class Bytes : public ValueStream {
 public:
  Bytes(std::vector<uint8_t> bytes, int64_t beat) : ValueStream(8, beat), bytes_(std::move(bytes)) {}
  void next(ValueBeat& beat) override {
    beat.elements.assign(size_t(count), 0);
    for (int64_t& element : beat.elements) {
      if (at_ < bytes_.size()) element = bytes_[at_++];
    }
  }

 private:
  const std::vector<uint8_t> bytes_;
  size_t at_ = 0;
};

class Regroup : public ValueStream {
 public:
  Regroup(ValueStreamPtr in, int element_bits)
      : ValueStream(element_bits, in->count * in->bits / element_bits), in_(std::move(in)) {
    TILEWRIGHT_CHECK(count * bits == in_->count * in_->bits, "a beat that holds no whole elements");
  }
  void next(ValueBeat& beat) override {
    in_->next(taken_);
    beat.elements.assign(size_t(count), 0);
    beat.last = taken_.last;
    const int step = std::min(bits, in_->bits);
    for (int64_t at = 0; at < count * bits; at += step) {
      const int64_t part = low_bits(taken_.elements[size_t(at / in_->bits)] >> (at % in_->bits), step);
      beat.elements[size_t(at / bits)] |= part << (at % bits);
    }
  }

 private:
  const ValueStreamPtr in_;
  ValueBeat taken_;
};

class Width : public ValueStream {
 public:
  Width(ValueStreamPtr in, int64_t elements) : ValueStream(in->bits, elements), in_(std::move(in)) {}
  void next(ValueBeat& beat) override {
    while (int64_t(held_.size()) < count) {
      in_->next(taken_);
      held_.insert(held_.end(), taken_.elements.begin(), taken_.elements.end());
    }
    beat.elements.assign(held_.begin(), held_.begin() + count);
    beat.last = true;
    held_.erase(held_.begin(), held_.begin() + count);
  }

 private:
  const ValueStreamPtr in_;
  ValueBeat taken_;
  std::deque<int64_t> held_;
};

class Frame : public ValueStream {
 public:
  Frame(ValueStreamPtr in, const Parameters& parameters)
      : ValueStream(in->bits, in->count),
        in_(std::move(in)),
        keep_(integer(parameters, "KEEP")),
        drop_(integer_or(parameters, "DROP", 0)),
        add_(integer_or(parameters, "ADD", 0)) {}
  void next(ValueBeat& beat) override {
    if (position_ == keep_ && add_ == 0) end_frame();
    if (position_ < keep_) {
      in_->next(beat);
    } else {
      beat.elements.assign(size_t(count), 0);
      beat.last = true;
    }
    if (++position_ == keep_ + add_ && add_ > 0) end_frame();
  }

 private:
  void end_frame() {
    for (int64_t i = 0; i < drop_; ++i) in_->next(dropped_);
    position_ = 0;
  }
  const ValueStreamPtr in_;
  const int64_t keep_, drop_, add_;
  int64_t position_ = 0;
  ValueBeat dropped_;
};

class Join : public ValueStream {
 public:
  Join(ValueStreamPtr low, ValueStreamPtr high)
      : ValueStream(low->bits, low->count + high->count), low_(std::move(low)), high_(std::move(high)) {}
  void next(ValueBeat& beat) override {
    low_->next(beat);
    high_->next(upper_);
    beat.elements.insert(beat.elements.end(), upper_.elements.begin(), upper_.elements.end());
  }

 private:
  const ValueStreamPtr low_, high_;
  ValueBeat upper_;
};

struct Fork {
  ValueStreamPtr in;
  std::deque<ValueBeat> waiting[2];
};

class Branch : public ValueStream {
 public:
  Branch(std::shared_ptr<Fork> fork, int index)
      : ValueStream(fork->in->bits, fork->in->count), fork_(std::move(fork)), index_(index) {}
  void next(ValueBeat& beat) override {
    std::deque<ValueBeat>& own = fork_->waiting[index_];
    if (own.empty()) {
      fork_->in->next(beat);
      fork_->waiting[1 - index_].push_back(beat);
      return;
    }
    beat = std::move(own.front());
    own.pop_front();
  }

 private:
  const std::shared_ptr<Fork> fork_;
  const int index_;
};

}  // namespace

int64_t WordStream::next() {
  const RomWalkerRow& task = tasks_[task_];
  const int64_t index = task.base + outer_ * task.words + word_;
  TILEWRIGHT_CHECK(index < image_.words(), "a task that reads beyond its memory");
  if (++word_ < task.words) return index;
  word_ = 0;
  if (++repeat_ < task.repeats) return index;
  repeat_ = 0;
  if (++outer_ < task.outer) return index;
  outer_ = 0;
  task_ = task_ + 1 == tasks_.size() ? 0 : task_ + 1;
  return index;
}

ValueStreamPtr bytes_stream(std::vector<uint8_t> bytes, int64_t beat_bytes) {
  return std::make_shared<Bytes>(std::move(bytes), beat_bytes);
}

ValueStreamPtr regrouped(ValueStreamPtr in, int bits) {
  if (in->bits == bits) return in;
  return std::make_shared<Regroup>(std::move(in), bits);
}

ValueStreamPtr width_stream(ValueStreamPtr in, int64_t count) {
  return std::make_shared<Width>(std::move(in), count);
}

ValueStreamPtr frame_stream(ValueStreamPtr in, const Parameters& parameters) {
  return std::make_shared<Frame>(std::move(in), parameters);
}

ValueStreamPtr join_stream(ValueStreamPtr low, ValueStreamPtr high) {
  return std::make_shared<Join>(std::move(low), std::move(high));
}

std::vector<ValueStreamPtr> fork_streams(ValueStreamPtr in) {
  const auto fork = std::make_shared<Fork>();
  fork->in = std::move(in);
  return {std::make_shared<Branch>(fork, 0), std::make_shared<Branch>(fork, 1)};
}

WordStreamPtr rom_stream(const Parameters& parameters, const MemoryImages& images) {
  return std::make_shared<WordStream>(images.at(text_or(parameters, "FILE", "")),
                                      rom_walker_rows(parameters, images));
}

// The words of one pass, cut from beats or put together from them as the ring does; `hold` gives a task's
// words to the next one as well.
WordStreamPtr ring_stream(ValueStreamPtr in, const Parameters& parameters, const MemoryImages& images) {
  const int width = int(integer(parameters, "WIDTH"));
  const int64_t beat = integer(parameters, "BEAT"), stream = integer_or(parameters, "STREAM", 0);
  std::vector<RomWalkerRow> tasks;
  int64_t base = 0, words = 0;
  for (const WeightRingRow& row : weight_ring_rows(parameters, images)) {
    tasks.push_back({base, row.outer, row.repeats, row.words});
    words = std::max(words, base + row.outer * row.words);
    if (!row.hold) base += row.outer * row.words;
  }
  const ValueStreamPtr bits = regrouped(std::move(in), 1);
  MemoryImage image(width);
  ValueBeat taken;
  int64_t at = 0;  // bits of `taken` that are used
  for (int64_t word = 0; word < words; ++word) {
    image.add_word();
    for (int bit = 0; bit < width; ++bit, ++at) {
      if (at % beat == 0) {
        bits->next(taken);
        at = 0;
      }
      image.set(word, bit, 1, taken.elements[size_t(at)]);
    }
    if (stream > 0 && (word + 1) % stream == 0) at = 0;  // a pass begins with a new beat
  }
  return std::make_shared<WordStream>(std::move(image), std::move(tasks));
}

}  // namespace tilewright::pipeline
