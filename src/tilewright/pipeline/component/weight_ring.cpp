// The ring counts words from the oldest one on: `level` are inside, the next to read is number `offset`. A
// word read for the last time leaves at once, so in a last repetition the offset stays at 0.
#include "tilewright/pipeline/component/weight_ring.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/task_rows.h"
#include "tilewright/pipeline/image/row_layout.h"

namespace tilewright::pipeline {
namespace weight_ring {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "weight_ring";
constexpr RowField<WeightRingRow> kFields[] = {
    {"OB", unsigned_bits(16), &WeightRingRow::outer},
    {"PX", unsigned_bits(32), &WeightRingRow::repeats},
    {"N", unsigned_bits(32), &WeightRingRow::words},
    {"HOLD", unsigned_bits(1), &WeightRingRow::hold},
};
constexpr RowFields<WeightRingRow> kRow(kFields);
std::vector<RowLayout> layouts() { return {row_layout(kName, kRow)}; }

enum Port { kInValid, kInReady, kInData, kOutValid, kOutReady };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int64_t width = parameter_in(parameters, kName, "WIDTH", 1, 1 << 20);
  const int64_t beat = parameter_in(parameters, kName, "BEAT", 1, 1 << 16);
  parameter_in(parameters, kName, "DEPTH", 1, 1 << 24);
  parameter_in(parameters, kName, "TASKS", 1, 1 << 16, 1);
  parameter_in(parameters, kName, "STREAM", 0, (int64_t{1} << 31) - 1, 0);
  parameter_in(parameters, kName, "OB_BITS", 1, 16, 16);
  parameter_in(parameters, kName, "PX_BITS", 1, 32, 32);
  parameter_in(parameters, kName, "N_BITS", 1, 32, 32);
  if (width % beat != 0 && beat % width != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("weight_ring: of WIDTH {} and BEAT {} neither divides the other", width, beat),
                "take powers of two for the array's sizes");
  }
  std::vector<ComponentPort> list;
  add_stream(list, "in", Direction::kInput, int(beat));
  add_stream(list, "out", Direction::kOutput, int(width));
  return list;
}

class Model : public CycleModel {
 public:
  Model(const Parameters& parameters, std::vector<WeightRingRow> tasks)
      : depth_(netlist::integer(parameters, "DEPTH")), tasks_(std::move(tasks)) {
    const int64_t width = netlist::integer(parameters, "WIDTH"), beat = netlist::integer(parameters, "BEAT");
    cuts_ = beat > width;
    parts_ = cuts_ ? beat / width : width / beat;
    if (cuts_) stream_ = netlist::integer_or(parameters, "STREAM", 0);
    for (const WeightRingRow& task : tasks_) {
      counted(kName, "OB", task.outer, netlist::integer_or(parameters, "OB_BITS", 16));
      counted(kName, "PX", task.repeats, netlist::integer_or(parameters, "PX_BITS", 32));
      counted(kName, "N", task.words, netlist::integer_or(parameters, "N_BITS", 32));
    }
    const int64_t least = least_depth(tasks_);
    if (least > depth_) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("weight_ring: DEPTH is {}, a task reads {} words again", depth_, least),
                  "a deeper ring, or fewer words per block");
    }
  }

  void reset(Pins& pins) override {
    part_ = level_ = offset_ = block_offset_ = stored_ = 0;
    active_ = false;
    next_task_ = 0;
    pins.set(kOutValid, 0);
  }

  void settle(Pins& pins) override {
    pins.set(kInReady, level_ != depth_ && (!cuts_ || last_part()) ? 1 : 0);
  }

  void tick(Pins& pins) override {
    const bool write = pins[kInValid] != 0 && level_ != depth_;
    const bool free = pins[kOutValid] == 0 || pins[kOutReady] != 0;
    const bool step = active_ && free && offset_ != level_;
    if (free) pins.set(kOutValid, step ? 1 : 0);
    if (write) store();
    if (!active_)
      load();
    else if (step)
      advance();
    active_ = true;
  }

 private:
  bool last_word() const { return stream_ > 0 && stored_ == stream_ - 1; }
  bool last_part() const { return part_ == parts_ - 1 || last_word(); }

  void store() {
    const bool last = last_part();
    if (cuts_ || last) ++level_;
    if (stream_ > 0) stored_ = last_word() ? 0 : stored_ + 1;
    part_ = last ? 0 : part_ + 1;
  }

  void load() {
    task_ = tasks_[next_task_];
    next_task_ = next_task_ + 1 == tasks_.size() ? 0 : next_task_ + 1;
    outer_left_ = task_.outer;
    repeats_left_ = task_.repeats;
    words_left_ = task_.words;
  }

  void advance() {
    const bool last_word = --words_left_ == 0, last_repeat = repeats_left_ == 1;
    const bool next_block = last_word && last_repeat, next_task = next_block && outer_left_ == 1;
    if (last_repeat && !task_.hold) {
      --level_;
    } else if (next_task) {
      offset_ = block_offset_ = 0;
    } else if (next_block) {
      block_offset_ = ++offset_;
    } else {
      offset_ = last_word ? block_offset_ : offset_ + 1;
    }
    if (next_task) return load();
    if (!last_word) return;
    words_left_ = task_.words;
    repeats_left_ = last_repeat ? task_.repeats : repeats_left_ - 1;
    if (next_block) --outer_left_;
  }

  const int64_t depth_;
  bool cuts_ = false;  // a beat holds several words
  int64_t parts_ = 1;
  int64_t stream_ = 0, stored_ = 0;  // words of a pass, and those of this one that are in
  const std::vector<WeightRingRow> tasks_;
  size_t next_task_ = 0;
  bool active_ = false;
  int64_t part_ = 0, level_ = 0, offset_ = 0, block_offset_ = 0;
  WeightRingRow task_;
  int64_t outer_left_ = 0, repeats_left_ = 0, words_left_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages& images) {
  return std::make_unique<Model>(parameters, weight_ring_rows(parameters, images));
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t width = p("WIDTH"), depth = p("DEPTH"), beat = p("BEAT"), tasks = p("TASKS", 1);
  const int64_t banks = width > beat ? width / beat : 1, slice = width / banks;
  area::MemoryLogic memory;
  for (int64_t bank = 0; bank < banks; ++bank) {
    const area::MemoryLogic one = area::add_memory(f, p.text("KIND", "block"), depth, slice, p.family);
    memory.lut += one.lut;
    memory.ff += one.ff;
  }
  const double address = double(area::bits_of(depth)),
               cut = beat > width ? double(width * ceil_div(beat / width - 1, 3)) : 0,
               several = tasks > 1 ? 1 : 0;
  f.lut = {1, memory.lut, address, cut, several, area::table_logic(tasks, 40), double(banks)};
  f.ff = {1, memory.ff, address, several, double(area::bits_of(tasks))};
  return f;
}

}  // namespace
}  // namespace weight_ring

MemoryImage encode(const std::vector<WeightRingRow>& rows) { return write_rows(weight_ring::kRow, rows); }

std::vector<WeightRingRow> weight_ring_rows(const netlist::Parameters& parameters,
                                            const MemoryImages& images) {
  return read_rows(weight_ring::kRow,
                   task_table(parameters, images, row_bits(weight_ring::kRow), weight_ring::kName));
}

int64_t least_depth(const std::vector<WeightRingRow>& rows) {
  int64_t least = 1;
  for (const WeightRingRow& row : rows) {
    if (row.hold) {
      least = std::max(least, row.outer * row.words);
    } else if (row.repeats > 1) {
      least = std::max(least, row.words);
    }
  }
  return least;
}

const ComponentType kWeightRing = {weight_ring::kName,    {"component_config", "task_table", "stream_memory"},
                                   weight_ring::ports,    weight_ring::model,
                                   weight_ring::features, weight_ring::layouts};

}  // namespace tilewright::pipeline
