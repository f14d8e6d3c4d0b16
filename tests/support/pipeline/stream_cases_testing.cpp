// Each case keeps what it sent and computes the beat number n of an output from that, by the definition of
// the component: plain loops over the image, no counters of the hardware.
#include "support/pipeline/stream_cases_testing.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/pipeline/component_cases_testing.h"

namespace tilewright::pipeline {
namespace {

using netlist::integer;
using netlist::Parameters;

// A copy of all bits of `source` to `low` in `target`.
void place(Beat& target, int low, const Beat& source) {
  for (int bit = 0; bit < source.bits(); bit += 64) {
    const int width = std::min(64, source.bits() - bit);
    target.set(low + bit, width, source.get(bit, width));
  }
}

Beat padding(int64_t elements, int64_t element_bits, int64_t value) {
  Beat beat(int(elements * element_bits));
  for (int64_t i = 0; i < elements; ++i) beat.set(int(i * element_bits), int(element_bits), uint64_t(value));
  return beat;
}

class StreamCase : public BenchCase {
 public:
  StreamCase(const std::string& component_name, Parameters component_parameters, int64_t startup,
             MemoryImages component_images = {})
      : BenchCase(component_name, std::move(component_parameters), std::move(component_images)),
        startup_(startup) {}

  void begin() override {
    sent_.clear();
    received_.clear();
    wrong_.clear();
    cycles_ = 0;
    ++run_;
  }

  void observe(const BenchPins&) override { ++cycles_; }

  void transferred(const std::string& stream, const Beat& data, bool last) override {
    if (stream.starts_with("in")) {
      sent_[stream].push_back(data);
      return;
    }
    const size_t index = received_[stream]++;
    Beat expected(data.bits());
    bool expected_last = last;
    if (!wrong_.empty()) return;
    if (!expect(index, expected, expected_last)) {
      wrong_ = fmt::format("beat {} of {} is there before what it needs", index, stream);
    } else if (!(expected == data) || expected_last != last) {
      wrong_ = fmt::format("beat {} of {} is wrong", index, stream);
    }
  }

  std::string finish() override {
    if (!wrong_.empty()) return wrong_;
    int64_t busiest = 0;
    for (const auto& [name, beats] : sent_) busiest = std::max(busiest, int64_t(beats.size()));
    for (const auto& [name, beats] : received_) busiest = std::max(busiest, int64_t(beats));
    if (received_.empty()) return "no beat came out";
    if (startup_ >= 0 && run_ == 1 && busiest < cycles_ - startup_) {
      return fmt::format("{} beats in {} cycles at full speed", busiest, cycles_);
    }
    return "";
  }

 protected:
  // Beat `index` of every output; false: not all it needs has been sent.
  virtual bool expect(size_t index, Beat& data, bool& last) = 0;
  const std::vector<Beat>& sent(const std::string& stream = "in") { return sent_[stream]; }
  int64_t parameter(const std::string& name) const { return integer(parameters, name); }

 private:
  const int64_t startup_;
  std::map<std::string, std::vector<Beat>> sent_;
  std::map<std::string, size_t> received_;
  std::string wrong_;
  int64_t cycles_ = 0;
  int run_ = 0;
};

class CopyCase : public StreamCase {
 public:
  using StreamCase::StreamCase;

 protected:
  bool expect(size_t index, Beat& data, bool&) override {
    if (index >= sent().size()) return false;
    data = sent()[index];
    return true;
  }
};

class JoinCase : public StreamCase {
 public:
  using StreamCase::StreamCase;

 protected:
  bool expect(size_t index, Beat& data, bool&) override {
    if (index >= sent("in0").size() || index >= sent("in1").size()) return false;
    place(data, 0, sent("in0")[index]);
    place(data, data.bits() / 2, sent("in1")[index]);
    return true;
  }
};

class WidthCase : public StreamCase {
 public:
  using StreamCase::StreamCase;

 protected:
  bool expect(size_t index, Beat& data, bool&) override {
    const int element = int(parameter("ELEMENT"));
    const int64_t in = parameter("IN"), out = parameter("OUT");
    for (int64_t i = 0; i < out; ++i) {
      const int64_t number = int64_t(index) * out + i;
      if (number / in >= int64_t(sent().size())) return false;
      data.set(int(i) * element, element,
               sent()[size_t(number / in)].get(int(number % in) * element, element));
    }
    return true;
  }
};

class LineWindowCase : public StreamCase {
 public:
  using StreamCase::StreamCase;

 protected:
  bool expect(size_t index, Beat& data, bool& last) override {
    const bool lanes = integer_of("LANES") != 0;
    const int64_t blocks = integer_of("CB"), kernel_columns = integer_of("KW"),
                  kernel_rows = integer_of("KH");
    int64_t rest = int64_t(index);
    const auto digit = [&](int64_t extent) {
      const int64_t value = rest % extent;
      rest /= extent;
      return value;
    };
    int64_t block = lanes ? 0 : digit(blocks);
    const int64_t kx = digit(kernel_columns), ky = digit(kernel_rows);
    last = kx == kernel_columns - 1 && ky == kernel_rows - 1 && (lanes || block == blocks - 1);
    const int64_t repeat = digit(lanes ? blocks : integer_of("OB"));
    if (lanes) block = repeat;
    const int64_t column = digit(integer_of("WO")) * integer_of("SW") - integer_of("PL") + kx;
    const int64_t row = digit(integer_of("HO")) * integer_of("SH") - integer_of("PT") + ky;
    const int64_t rows = integer_of("H"), columns = integer_of("W");
    if (row < 0 || row >= rows || column < 0 || column >= columns) {
      data = padding(integer_of("PI"), integer_of("AW"), integer_of("PAD"));
      return true;
    }
    const int64_t word = ((rest * rows + row) * columns + column) * blocks + block;
    if (word >= int64_t(sent().size())) return false;
    data = sent()[size_t(word)];
    return true;
  }

 private:
  int64_t integer_of(const std::string& name) const { return parameter(name); }
};

class SlidingWindowCase : public StreamCase {
 public:
  SlidingWindowCase(Parameters component_parameters, MemoryImages component_images,
                    std::vector<SlidingWindowRow> rows, int64_t startup)
      : StreamCase("sliding_window", std::move(component_parameters), startup, std::move(component_images)),
        rows_(std::move(rows)) {}

  void begin() override {
    StreamCase::begin();
    image_ = first_beat_ = first_word_ = 0;
  }

 protected:
  bool expect(size_t index, Beat& data, bool& last) override {
    const int64_t repeat = netlist::integer_or(parameters, "REPEAT", 1);
    while (int64_t(index) >= first_beat_ + beats(row()) * repeat) {
      first_beat_ += beats(row()) * repeat;
      first_word_ += row().rows * row().columns * row().blocks;
      ++image_;
    }
    const SlidingWindowRow& r = row();
    const int64_t number = (int64_t(index) - first_beat_) / repeat;
    const int64_t block = number % r.blocks, x = number / r.blocks % r.out_columns,
                  y = number / r.blocks / r.out_columns;
    last = block == r.blocks - 1;
    const int64_t kernel_rows = parameter("KH"), kernel_columns = parameter("KW");
    const int64_t width = parameter("PI") * parameter("AW");
    for (int64_t tap = 0; tap < kernel_rows * kernel_columns; ++tap) {
      const int64_t input_row = y * r.stride_y - r.top + tap / kernel_columns;
      const int64_t column = x * r.stride_x - r.left + tap % kernel_columns;
      if (input_row < 0 || input_row >= r.rows || column < 0 || column >= r.columns) {
        place(data, int(tap * width), padding(parameter("PI"), parameter("AW"), r.pad_value));
        continue;
      }
      const int64_t word = first_word_ + (input_row * r.columns + column) * r.blocks + block;
      if (word >= int64_t(sent().size())) return false;
      place(data, int(tap * width), sent()[size_t(word)]);
    }
    return true;
  }

 private:
  const SlidingWindowRow& row() const { return rows_[size_t(image_) % rows_.size()]; }
  static int64_t beats(const SlidingWindowRow& r) { return r.out_rows * r.out_columns * r.blocks; }

  const std::vector<SlidingWindowRow> rows_;
  int64_t image_ = 0, first_beat_ = 0, first_word_ = 0;  // of the image that the last beat was of
};

const char* random_kind(Random& random) {
  static const char* const kinds[] = {"registers", "lutram", "block", "ultra"};
  return kinds[random.between(0, 3)];
}

}  // namespace

std::unique_ptr<BenchCase> stream_fifo_case(int64_t width, int64_t depth, const std::string& kind,
                                            int64_t startup) {
  return std::make_unique<CopyCase>("stream_fifo",
                                    Parameters{{"WIDTH", width}, {"DEPTH", depth}, {"KIND", kind}}, startup);
}

std::unique_ptr<BenchCase> stream_fork_case(int64_t width, int64_t startup) {
  return std::make_unique<CopyCase>("stream_fork", Parameters{{"WIDTH", width}}, startup);
}

std::unique_ptr<BenchCase> stream_join_case(int64_t width, int64_t startup) {
  return std::make_unique<JoinCase>("stream_join", Parameters{{"WIDTH", width}}, startup);
}

std::unique_ptr<BenchCase> stream_width_case(int64_t element, int64_t in, int64_t out, int64_t startup) {
  return std::make_unique<WidthCase>("stream_width",
                                     Parameters{{"ELEMENT", element}, {"IN", in}, {"OUT", out}}, startup);
}

std::unique_ptr<BenchCase> line_window_case(Parameters parameters, int64_t startup) {
  return std::make_unique<LineWindowCase>("line_window", std::move(parameters), startup);
}

std::unique_ptr<BenchCase> sliding_window_case(Parameters parameters, std::vector<SlidingWindowRow> rows,
                                               int64_t startup) {
  parameters["TASKS"] = int64_t(rows.size());
  parameters["TABLE"] = std::string("tasks.hex");
  MemoryImages images;
  images["tasks.hex"] = encode(rows, parameters);
  return std::make_unique<SlidingWindowCase>(std::move(parameters), std::move(images), std::move(rows),
                                             startup);
}

std::unique_ptr<BenchCase> random_stream_fifo(Random& random) {
  return stream_fifo_case(random.between(1, 80), random.between(1, 9), random_kind(random));
}

std::unique_ptr<BenchCase> random_stream_fork(Random& random) {
  return stream_fork_case(random.between(1, 80));
}

std::unique_ptr<BenchCase> random_stream_join(Random& random) {
  return stream_join_case(random.between(1, 80));
}

std::unique_ptr<BenchCase> random_stream_width(Random& random) {
  const int64_t narrow = random.between(1, 5), wide = narrow * random.between(1, 6);
  const int64_t element = random.between(1, 9);
  return random.chance(0.5) ? stream_width_case(element, narrow, wide)
                            : stream_width_case(element, wide, narrow);
}

std::unique_ptr<BenchCase> random_line_window(Random& random) {
  while (true) {
    const bool lanes = random.chance(0.4);
    Parameters p = {{"AW", random.between(1, 9)},
                    {"PI", random.between(1, 8)},
                    {"CB", random.between(1, 3)},
                    {"OB", lanes ? 1 : random.between(1, 3)},
                    {"PAD", -random.between(0, 1)},
                    {"LANES", int64_t{lanes}},
                    {"KIND", std::string(random_kind(random))}};
    for (const char* name : {"H", "W", "HO", "WO"}) p[name] = random.between(1, 8);
    for (const char* name : {"KH", "KW"}) p[name] = random.between(1, 4);
    for (const char* name : {"SH", "SW"}) p[name] = random.between(1, 3);
    for (const char* name : {"PT", "PL"}) p[name] = random.between(0, 3);
    p["ROWS"] = std::min(integer(p, "KH"), integer(p, "H")) + random.between(0, 3);
    const auto touches = [&](const char* out, const char* stride, const char* before, const char* taps,
                             const char* extent) {
      const int64_t last = (integer(p, out) - 1) * integer(p, stride) - integer(p, before);
      return last < integer(p, extent) && last + integer(p, taps) > 0;
    };
    if (touches("HO", "SH", "PT", "KH", "H") && touches("WO", "SW", "PL", "KW", "W")) {
      return line_window_case(std::move(p));
    }
  }
}

std::unique_ptr<BenchCase> random_sliding_window(Random& random) {
  const int64_t largest = random.chance(0.2) ? 9 : 4;  // on maps of up to 8 x 8
  const int64_t kernel_rows = random.between(1, largest), kernel_columns = random.between(1, largest);
  const int64_t repeat = random.chance(0.3) ? random.between(2, 3) : 1;
  const size_t tasks = random.chance(0.5) ? 1 : size_t(random.between(2, 4));
  std::vector<SlidingWindowRow> rows;
  int64_t line = 1, blocks = 1, bits = 1;
  while (rows.size() < tasks) {
    SlidingWindowRow r;
    for (int64_t* value : {&r.rows, &r.columns, &r.out_rows, &r.out_columns}) *value = random.between(1, 8);
    for (int64_t* value : {&r.stride_y, &r.stride_x}) *value = random.between(1, 3);
    r.blocks = repeat > 1 ? 1 : random.between(1, 3);
    r.top = random.between(0, kernel_rows - 1);
    r.left = random.between(0, kernel_columns - 1);
    r.pad_value = -random.between(0, 1);
    if ((r.out_rows - 1) * r.stride_y >= r.rows || (r.out_columns - 1) * r.stride_x >= r.columns) continue;
    if (kernel_rows > 1 && r.columns * r.blocks < 2) continue;
    line = std::max(line, r.columns * r.blocks);
    blocks = std::max(blocks, r.blocks);
    bits = std::max(bits, sliding_window_count_bits(r, kernel_rows, kernel_columns));
    rows.push_back(r);
  }
  return sliding_window_case({{"AW", random.between(1, 9)},
                              {"PI", random.between(1, 4)},
                              {"KH", kernel_rows},
                              {"KW", kernel_columns},
                              {"MAX_WORDS", line + random.between(0, 2)},
                              {"MAX_CB", blocks},
                              {"COUNT_BITS", random.chance(0.5) ? bits : random.between(bits, 24)},
                              {"REPEAT", repeat},
                              {"KIND", std::string(random_kind(random))}},
                             std::move(rows));
}

}  // namespace tilewright::pipeline
