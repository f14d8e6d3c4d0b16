// The steps of rtl/pipeline/tw_stream_sliding_window.sv: one per word, and some without a word after an
// image. The trail follows the words LAG steps behind and says which step gives an output.
#include "tilewright/pipeline/component/sliding_window.h"

#include <algorithm>
#include <bit>

#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"
#include "tilewright/pipeline/image/row_layout.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline {
namespace sliding_window {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "sliding_window";

// Bits of taps that lie inside an image of `extent` rows or columns, the window at `before` outside of it.
int64_t taps_inside(int64_t taps, int64_t before, int64_t extent) {
  int64_t bits = 0;
  for (int64_t k = before; k < taps && k - before < extent; ++k) bits |= int64_t{1} << k;
  return bits;
}

using Row = SlidingWindowRow;
int64_t lag(const Row& row, const Parameters& parameters) {
  return sliding_window_lag(row, netlist::integer(parameters, "KH"), netlist::integer(parameters, "KW"));
}
int64_t words(const Row& row, const Parameters&) { return row.rows * row.columns * row.blocks; }
int64_t rows_inside(const Row& row, const Parameters& parameters) {
  return taps_inside(netlist::integer(parameters, "KH"), row.top, row.rows);
}
int64_t columns_inside(const Row& row, const Parameters& parameters) {
  return taps_inside(netlist::integer(parameters, "KW"), row.left, row.columns);
}

constexpr RowField<Row> kFields[] = {
    {"H", unsigned_bits(16), &Row::rows},
    {"W", unsigned_bits(16), &Row::columns},
    {"CB", unsigned_bits(16), &Row::blocks},
    {"SH", unsigned_bits(4), &Row::stride_y},
    {"SW", unsigned_bits(4), &Row::stride_x},
    {"PT", unsigned_bits(8), &Row::top},
    {"PL", unsigned_bits(8), &Row::left},
    {"HO", unsigned_bits(16), &Row::out_rows},
    {"WO", unsigned_bits(16), &Row::out_columns},
    {"PAD", parameter_bits("AW", true), &Row::pad_value},
    {"LINE", unsigned_bits(16), [](const Row& row, const Parameters&) { return row.columns * row.blocks; }},
    {"LAG", unsigned_bits(32), lag},
    {"COUNT", unsigned_bits(32), words},
    {"ROWS", parameter_bits("KH", false), rows_inside},
    {"COLUMNS", parameter_bits("KW", false), columns_inside},
};
constexpr RowFields<Row> kRow(kFields);
std::vector<RowLayout> layouts() { return {row_layout(kName, kRow)}; }

enum Port { kInValid, kInReady, kInData, kOutValid, kOutReady, kOutData, kOutLast };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  Requirements requirements(kName, parameters);
  const int64_t width = requirements.at_least("PI", 1) * requirements.at_least("AW", 1);
  const int64_t kernel_rows = requirements.at_least("KH", 1), kernel_columns = requirements.at_least("KW", 1);
  const int64_t line = requirements.at_least("MAX_WORDS", 1);
  const int64_t blocks = requirements.at_least_or("MAX_CB", 1, line);
  const int64_t count_bits = requirements.at_least_or("COUNT_BITS", 1, 24);
  requirements.at_least_or("TASKS", 1, 1);
  requirements.at_least_or("REPEAT", 1, 1);
  requirements.kind("block");
  requirements.need(kernel_rows <= 15 && kernel_columns <= 15, "windows have at most 15 rows and columns");
  requirements.need(line < 65536, "MAX_WORDS is above 65535");
  requirements.need(blocks <= line, "MAX_CB is above MAX_WORDS");
  requirements.need(count_bits <= 32, "COUNT_BITS is above 32");
  requirements.raise_if_any();
  std::vector<ComponentPort> list;
  add_stream(list, "in", Direction::kInput, int(width));
  add_stream(list, "out", Direction::kOutput, int(kernel_rows * kernel_columns * width), true);
  return list;
}

class Model : public CycleModel {
 public:
  Model(const Parameters& parameters, std::vector<SlidingWindowRow> rows)
      : kernel_rows_(netlist::integer(parameters, "KH")),
        kernel_columns_(netlist::integer(parameters, "KW")),
        repeat_(netlist::integer_or(parameters, "REPEAT", 1)),
        rows_(std::move(rows)) {}

  void reset(Pins& pins) override {
    task_ = 0;
    begin_task();
    in_image_ = started_ = waiting_ = active_ = false;
    load_cycles_ = rows_.size() == 1 ? 0 : 2;
    stage1_full_ = stage1_emits_ = stage1_last_ = false;
    repeated_ = 0;
    begin_trail();
    pins.set(kOutValid, 0);
    pins.set(kOutLast, 0);
  }

  void settle(Pins& pins) override {
    pins.set(kInReady, load_cycles_ == 0 && stage1_free(pins) && may_take() ? 1 : 0);
  }

  void tick(Pins& pins) override {
    const bool window_moves = window_free(pins);
    const bool ready = load_cycles_ == 0 && (!stage1_full_ || window_moves);
    const bool taken = ready && pins[kInValid] != 0 && may_take();
    const bool step = taken || (ready && !in_image_ && !idle());
    const bool first = taken && !in_image_;
    const bool drained = started_ && !in_image_ && idle();
    tick_window(pins, window_moves);
    if (window_moves) stage1_full_ = false;
    if (taken) {
      words_left_ = first ? count_ - 1 : words_left_ - 1;
      in_image_ = words_left_ != 0;
    }
    if (step) make_step(first);
    if (rows_.size() > 1) tick_task(first, drained);
  }

 private:
  const SlidingWindowRow& row() const { return rows_[task_]; }
  bool idle() const { return !waiting_ && !active_; }
  bool may_take() const { return in_image_ || (rows_.size() == 1 ? !waiting_ : !started_); }
  bool window_free(const Pins& pins) const {
    return pins[kOutValid] == 0 || (pins[kOutReady] != 0 && repeated_ == repeat_ - 1);
  }
  bool stage1_free(const Pins& pins) const { return !stage1_full_ || window_free(pins); }

  void begin_task() {
    count_ = row().rows * row().columns * row().blocks;
    lag_ = sliding_window_lag(row(), kernel_rows_, kernel_columns_);
  }

  void tick_task(bool first, bool drained) {
    if (load_cycles_ > 0) {
      if (--load_cycles_ == 0) begin_trail();
    } else if (first) {
      started_ = true;
    } else if (drained) {
      task_ = task_ + 1 == rows_.size() ? 0 : task_ + 1;
      begin_task();
      started_ = false;
      load_cycles_ = 2;
    }
  }

  void tick_window(Pins& pins, bool moves) {
    if (pins[kOutValid] != 0 && pins[kOutReady] != 0) repeated_ = moves ? 0 : repeated_ + 1;
    if (!moves) return;
    if (stage1_full_) pins.set(kOutLast, stage1_last_ ? 1 : 0);
    pins.set(kOutValid, stage1_full_ && stage1_emits_ ? 1 : 0);
  }

  void make_step(bool first) {
    const int64_t wait = first ? lag_ : wait_left_;
    const bool begins = (waiting_ || first) && wait == 0;
    const bool trailing = active_ || begins;
    waiting_ = (waiting_ || first) && !begins;
    wait_left_ = wait - 1;
    const bool emits = phase_y_ == 0 && phase_x_ == 0 && outputs_left_ != 0;
    stage1_full_ = true;
    stage1_emits_ = trailing && emits;
    stage1_last_ = blocks_left_ == 0;
    active_ = false;
    if (trailing) active_ = !advance_trail(emits);
  }

  void begin_trail() {
    blocks_left_ = row().blocks - 1;
    columns_left_ = row().columns - 1;
    outputs_left_ = row().out_columns;
    output_rows_left_ = row().out_rows;
    phase_x_ = phase_y_ = 0;
  }

  // Returns whether that was the last output of the image.
  bool advance_trail(bool emits) {
    if (blocks_left_ != 0) {
      --blocks_left_;
      return false;
    }
    blocks_left_ = row().blocks - 1;
    if (emits && outputs_left_ == 1 && output_rows_left_ == 1) {
      begin_trail();
      return true;
    }
    if (columns_left_ != 0) {
      --columns_left_;
      if (emits) --outputs_left_;
      phase_x_ = phase_x_ + 1 == row().stride_x ? 0 : phase_x_ + 1;
      return false;
    }
    columns_left_ = row().columns - 1;
    outputs_left_ = row().out_columns;
    phase_x_ = 0;
    if (phase_y_ == 0) --output_rows_left_;
    phase_y_ = phase_y_ + 1 == row().stride_y ? 0 : phase_y_ + 1;
    return false;
  }

  const int64_t kernel_rows_, kernel_columns_, repeat_;
  const std::vector<SlidingWindowRow> rows_;
  size_t task_ = 0;
  int load_cycles_ = 0;
  int64_t count_ = 0, lag_ = 0;
  bool started_ = false;   // the image of this task
  bool in_image_ = false;  // between its first and its last word
  int64_t words_left_ = 0;
  bool waiting_ = false, active_ = false;  // the trail
  int64_t wait_left_ = 0;
  int64_t blocks_left_ = 0, columns_left_ = 0, outputs_left_ = 0, output_rows_left_ = 0;
  int64_t phase_x_ = 0, phase_y_ = 0;
  bool stage1_full_ = false, stage1_emits_ = false, stage1_last_ = false;
  int64_t repeated_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages& images) {
  const std::string table = netlist::text_or(parameters, "TABLE", "");
  const auto image = images.find(table);
  const int64_t tasks = netlist::integer_or(parameters, "TASKS", 1);
  if (image == images.end() || image->second.words() != tasks) {
    throw Error(ErrorKind::kInvalidInput,
                "sliding_window: TABLE '" + table + "' does not have " + std::to_string(tasks) + " rows");
  }
  return std::make_unique<Model>(parameters, decode_sliding_window(image->second, parameters));
}

void check(const SlidingWindowRow& row, size_t index, const Parameters& parameters,
           Requirements& requirements) {
  const std::string where = "task " + std::to_string(index) + ": ";
  const int64_t kernel_rows = netlist::integer(parameters, "KH");
  const int64_t line = row.columns * row.blocks, longest = netlist::integer(parameters, "MAX_WORDS");
  requirements.need(row.rows >= 1 && row.columns >= 1 && row.blocks >= 1 && row.out_rows >= 1 &&
                        row.out_columns >= 1 && row.stride_y >= 1 && row.stride_x >= 1 && row.top >= 0 &&
                        row.left >= 0,
                    where + "sizes and strides are at least 1, padding at least 0");
  requirements.need(row.stride_y < 16 && row.stride_x < 16, where + "strides are at most 15");
  requirements.need(line <= longest, where + "a row of " + std::to_string(line) + " words exceeds MAX_WORDS");
  requirements.need(kernel_rows == 1 || line >= 2, where + "a row needs at least 2 words");
  requirements.need(row.blocks <= netlist::integer_or(parameters, "MAX_CB", longest),
                    where + "more words per pixel than MAX_CB");
  const int64_t counted = int64_t{1} << netlist::integer_or(parameters, "COUNT_BITS", 24);
  requirements.need(row.rows * line < counted, where + "more words than COUNT_BITS can count");
  requirements.need(sliding_window_lag(row, kernel_rows, netlist::integer(parameters, "KW")) < counted,
                    where + "a longer lag than COUNT_BITS can count");
  requirements.need(row.top < kernel_rows && row.left < netlist::integer(parameters, "KW"),
                    where + "padding covers a whole window");
  requirements.need(
      (row.out_rows - 1) * row.stride_y < row.rows && (row.out_columns - 1) * row.stride_x < row.columns,
      where +
          "more windows than pixels; top and bottom, left and right padding must be less than the window");
  requirements.need(row.blocks == 1 || netlist::integer_or(parameters, "REPEAT", 1) == 1,
                    where + "REPEAT needs one word per pixel");
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t word = p("PI") * p("AW"), kh = p("KH"), kw = p("KW"), words = p("MAX_WORDS"),
                tasks = p("TASKS", 1);
  area::MemoryLogic memory;
  if (kh > 1) memory = area::add_memory(f, p.text("KIND", "block"), words, (kh - 1) * word, p.family);
  const int64_t most = p("MAX_CB", words);
  double columns = 0;
  if (kw > 1 && most > 1)
    columns = area::add_memory(f, "lutram", most, (kw - 1) * kh * word, p.family, true).lut;
  const double window = double(kw * kh * word), several = tasks > 1 ? 1 : 0;
  f.lut = {1, memory.lut, columns, window, several * double(184 + p("AW")), double(area::bits_of(words))};
  f.ff = {
      1, memory.ff, window, double(kh * word), several * double(184 + p("AW")), double(area::bits_of(words))};
  return f;
}

}  // namespace
}  // namespace sliding_window

int64_t sliding_window_lag(const SlidingWindowRow& row, int64_t kernel_rows, int64_t kernel_columns) {
  return ((kernel_rows - 1 - row.top) * row.columns + (kernel_columns - 1 - row.left)) * row.blocks;
}

int64_t sliding_window_count_bits(const SlidingWindowRow& row, int64_t kernel_rows, int64_t kernel_columns) {
  const int64_t words = row.rows * row.columns * row.blocks,
                lag = sliding_window_lag(row, kernel_rows, kernel_columns);
  return int64_t(std::bit_width(uint64_t(std::max(words, lag))));
}

MemoryImage encode(const std::vector<SlidingWindowRow>& rows, const netlist::Parameters& parameters) {
  Requirements requirements("sliding_window", parameters);
  for (size_t i = 0; i < rows.size(); ++i) sliding_window::check(rows[i], i, parameters, requirements);
  requirements.raise_if_any();
  return write_rows(sliding_window::kRow, rows, parameters);
}

std::vector<SlidingWindowRow> decode_sliding_window(const MemoryImage& table,
                                                    const netlist::Parameters& parameters) {
  return read_rows(sliding_window::kRow, table, parameters);
}

const ComponentType kSlidingWindow = {sliding_window::kName,    {"component_config", "stream_memory"},
                                      sliding_window::ports,    sliding_window::model,
                                      sliding_window::features, sliding_window::layouts};

}  // namespace tilewright::pipeline
