// A beat starts when sums, parameters and, in a task that adds, a residual are there, and the pipeline moves.
// With several beats per sums, a register keeps these; its last beat makes room for the next in the same
// step.
#include "tilewright/pipeline/component/finish.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace finish {
namespace {

using netlist::Direction;
using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;
using netlist::text_or;

constexpr int kIntegerDrainBit = 177, kFixedDrainBit = 176;
constexpr int kIntegerRowBits = kIntegerDrainBit + 16, kFixedRowBits = kFixedDrainBit + 16;
constexpr int kIntegerAddBit = 57, kFixedAddBit = 96;

bool is_fixed(const Parameters& parameters) { return text_or(parameters, "NUMBER", "integer") == "fixed"; }

void check(const Parameters& parameters) {
  Requirements require("finish", parameters);
  const std::string number = text_or(parameters, "NUMBER", "integer");
  require.need(number == "integer" || number == "fixed", "NUMBER is '" + number + "', not integer or fixed");
  const int64_t aw = require.at_least("AW", 1), acc = require.at_least("ACC", 2);
  const int64_t po = require.at_least("PO", 1), pf = require.at_least("PF", 1);
  require.need(po % pf == 0, "PF does not divide PO");
  const bool residual = integer_or(parameters, "RESIDUAL", 0) != 0;
  if (number == "fixed") {
    require.need(aw == 32 && acc == 64, "fixed point needs AW 32 and ACC 64");
    const int64_t fraction = require.at_least_or("FRACTION", 0, 22);
    require.need(fraction <= 30, "FRACTION is at most 30");
  } else {
    require.need(aw <= 8 && acc <= 32, "integers need AW <= 8 and ACC <= 32");
    require.need(!residual || aw >= 2, "a residual of one bit cannot be added");
    const int64_t multiplier = require.at_least_or("MULTIPLIER_BITS", 0, 32);
    const int64_t sum = require.at_least_or("SUM_BITS", 1, 32);
    require.need(multiplier <= 32 && sum <= 32, "MULTIPLIER_BITS and SUM_BITS are at most 32");
  }
  const int64_t tables = require.at_least_or("TABLES", 0, 0);
  require.need(tables <= 256, "TABLES is at most 256");
  require.need(tables == 0 || !text_or(parameters, "FILE", "").empty(), "tables need a FILE");
  const int64_t tasks = require.at_least_or("TASKS", 1, 1);
  require.need(tasks == 1 || !text_or(parameters, "TABLE", "").empty(), "several tasks need a TABLE");
  const std::string multiply = text_or(parameters, "MULTIPLY", "dsp");
  require.need(multiply == "dsp" || multiply == "pair" || multiply == "lut",
               "MULTIPLY is '" + multiply + "', not dsp, pair or lut");
  const std::string kind = text_or(parameters, "KIND", "lutram");
  require.need(kind == "lutram" || kind == "block", "KIND is '" + kind + "', not lutram or block");
  require.raise_if_any();
}

std::vector<ComponentPort> ports(const Parameters& parameters) {
  check(parameters);
  const int64_t pf = integer(parameters, "PF"), aw = integer(parameters, "AW");
  std::vector<ComponentPort> list;
  add_stream(list, "acc", Direction::kInput, int(integer(parameters, "PO") * integer(parameters, "ACC")));
  add_stream(list, "param", Direction::kInput, int(pf * finish_param_bits(parameters)));
  add_stream(list, "residual", Direction::kInput, int(pf * aw));
  add_stream(list, "out", Direction::kOutput, int(pf * aw));
  return list;
}

struct TaskBeats {
  int64_t beats = 1;
  int64_t drain = 0;
  bool adds = false;
};

std::vector<TaskBeats> read_tasks(const Parameters& parameters, const MemoryImages& images) {
  const int64_t tasks = integer_or(parameters, "TASKS", 1);
  const std::string name = text_or(parameters, "TABLE", "");
  if (name.empty()) return {TaskBeats{}};
  const auto image = images.find(name);
  TILEWRIGHT_CHECK(image != images.end(), "no task table '" + name + "'");
  const bool fixed = is_fixed(parameters);
  TILEWRIGHT_CHECK(image->second.words() == tasks, "a task table of another number of rows");
  TILEWRIGHT_CHECK(image->second.width_bits() == (fixed ? kFixedRowBits : kIntegerRowBits),
                   "a task table of another number type");
  std::vector<TaskBeats> result;
  for (int64_t row = 0; row < tasks; ++row) {
    TaskBeats task;
    task.beats = int64_t(image->second.get(row, 0, 32));
    task.adds = image->second.get(row, fixed ? kFixedAddBit : kIntegerAddBit, 1) != 0;
    task.drain = int64_t(image->second.get(row, fixed ? kFixedDrainBit : kIntegerDrainBit, 16));
    TILEWRIGHT_CHECK(task.beats >= 1, "a task without beats");
    const int64_t slices = integer(parameters, "PO") / integer(parameters, "PF");
    const int64_t together = task.drain == 0 ? slices : std::min(slices, task.drain);
    TILEWRIGHT_CHECK(tasks == 1 || task.beats % together == 0, "a task that ends within its sums");
    result.push_back(task);
  }
  return result;
}

class Model : public CycleModel {
 public:
  Model(const Parameters& parameters, const MemoryImages& images)
      : slices_(integer(parameters, "PO") / integer(parameters, "PF")),
        residual_(integer_or(parameters, "RESIDUAL", 0) != 0),
        result_bit_(uint64_t{1} << (finish_steps(parameters) - 1)),
        tasks_(read_tasks(parameters, images)) {}

  void reset(Pins& pins) override {
    held_ = false;
    slice_ = 0;
    valids_ = 0;
    task_ = 0;
    left_ = tasks_[0].beats;
    pins.set(kOutValid, 0);
  }

  void settle(Pins& pins) override {
    const bool moves = enabled(pins), sums = has_sums(pins), adds = needs_residual();
    const bool parameters = pins[kParamValid] != 0;
    const bool residual = !adds || pins[kResidualValid] != 0;
    pins.set(kParamValid + 1, moves && sums && residual ? 1 : 0);
    pins.set(kResidualValid + 1, moves && sums && adds && parameters ? 1 : 0);
    const bool starts = moves && parameters && residual;
    pins.set(kAccValid + 1, (slices_ == 1 ? starts : !held_ || (starts && last_slice())) ? 1 : 0);
  }

  void tick(Pins& pins) override {
    const bool takes_sums = slices_ > 1 && pins[kAccValid + 1] != 0;
    const bool moves = enabled(pins);
    const bool starts =
        moves && has_sums(pins) && pins[kParamValid] != 0 && (!needs_residual() || pins[kResidualValid] != 0);
    if (takes_sums) {
      held_ = pins[kAccValid] != 0;
      slice_ = 0;
    } else if (starts) {
      ++slice_;
    }
    if (moves) {
      valids_ = ((valids_ << 1) | uint64_t(starts)) & (result_bit_ * 2 - 1);
      pins.set(kOutValid, (valids_ & result_bit_) != 0 ? 1 : 0);
    }
    if (starts && --left_ == 0) {
      task_ = task_ + 1 == tasks_.size() ? 0 : task_ + 1;
      left_ = tasks_[task_].beats;
    }
  }

 private:
  bool enabled(const Pins& pins) const { return pins[kOutValid] == 0 || pins[kOutValid + 1] != 0; }
  bool has_sums(const Pins& pins) const { return slices_ == 1 ? pins[kAccValid] != 0 : held_; }
  bool last_slice() const { return slice_ + 1 == tasks_[task_].drain || slice_ + 1 == slices_; }
  bool needs_residual() const { return residual_ && tasks_[task_].adds; }

  const int64_t slices_;
  const bool residual_;
  const uint64_t result_bit_;  // of valids_; bit k: k + 1 steps after the start
  const std::vector<TaskBeats> tasks_;
  // Ports; ready follows valid, data follows ready.
  static constexpr int kAccValid = 0, kParamValid = 3, kResidualValid = 6, kOutValid = 9;
  bool held_ = false;
  int64_t slice_ = 0, left_ = 1;
  uint64_t valids_ = 0;
  size_t task_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages& images) {
  check(parameters);
  return std::make_unique<Model>(parameters, images);
}

}  // namespace
}  // namespace finish

MemoryImage encode(const std::vector<FinishRow>& rows, NumberType number) {
  const bool fixed = number == NumberType::kFixed;
  MemoryImage image(fixed ? finish::kFixedRowBits : finish::kIntegerRowBits);
  for (const FinishRow& r : rows) {
    RowWriter row(image);
    row.field(32, r.beats);
    if (fixed) {
      row.field(32, r.clip_low).field(32, r.clip_high).field(1, r.add ? 1 : 0);
      row.field(32, r.add_low).field(32, r.add_high);
      row.field(1, r.lookup ? 1 : 0).field(8, r.table).field(5, r.input_shift);
      row.field(1, r.raw ? 1 : 0).field(16, r.drain);
      continue;
    }
    row.field(8, r.zero_point).field(8, r.clip_low).field(8, r.clip_high).field(1, r.bipolar ? 1 : 0);
    row.field(1, r.add ? 1 : 0).field(24, r.add_a).field(24, r.add_b).field(32, r.add_bias);
    row.field(6, r.add_shift).field(8, r.add_zero).field(8, r.add_low).field(8, r.add_high);
    row.field(1, r.lookup ? 1 : 0).field(8, r.table).field(16, r.drain);
  }
  return image;
}

std::vector<FinishRow> decode_finish(const MemoryImage& table, NumberType number) {
  const bool fixed = number == NumberType::kFixed;
  TILEWRIGHT_CHECK(table.width_bits() == (fixed ? finish::kFixedRowBits : finish::kIntegerRowBits),
                   "a task table of another number type");
  std::vector<FinishRow> rows;
  for (int64_t i = 0; i < table.words(); ++i) {
    RowReader reader(table, i);
    const auto next = [&](int bits) { return int64_t(reader.field(bits)); };
    FinishRow row;
    row.beats = next(32);
    if (fixed) {
      row.clip_low = reader.signed_field(32), row.clip_high = reader.signed_field(32);
      row.add = next(1) != 0;
      row.add_low = reader.signed_field(32), row.add_high = reader.signed_field(32);
      row.lookup = next(1) != 0, row.table = next(8), row.input_shift = next(5);
      row.raw = next(1) != 0, row.drain = next(16);
    } else {
      for (int64_t* field : {&row.zero_point, &row.clip_low, &row.clip_high}) *field = reader.signed_field(8);
      row.bipolar = next(1) != 0, row.add = next(1) != 0;
      row.add_a = reader.signed_field(24), row.add_b = reader.signed_field(24);
      row.add_bias = reader.signed_field(32), row.add_shift = next(6);
      for (int64_t* field : {&row.add_zero, &row.add_low, &row.add_high}) *field = reader.signed_field(8);
      row.lookup = next(1) != 0, row.table = next(8), row.drain = next(16);
    }
    rows.push_back(row);
  }
  return rows;
}

int64_t finish_param_bits(const netlist::Parameters& parameters) {
  return finish::is_fixed(parameters) ? 32 : 32 + netlist::integer_or(parameters, "MULTIPLIER_BITS", 32) + 6;
}

int64_t finish_steps(const netlist::Parameters& parameters) {
  const bool residual = netlist::integer_or(parameters, "RESIDUAL", 0) != 0;
  const bool lookup = netlist::integer_or(parameters, "TABLES", 0) != 0;
  if (finish::is_fixed(parameters)) return 2 + (residual ? 2 : 0) + (lookup ? 8 : 0);
  const int64_t multiplier = netlist::integer_or(parameters, "MULTIPLIER_BITS", 32);
  const bool lut = netlist::text_or(parameters, "MULTIPLY", "dsp") == "lut";
  const int64_t products =
      multiplier == 0 ? 0
                      : multiplier_steps(netlist::integer_or(parameters, "SUM_BITS", 32), multiplier, lut);
  return 1 + products + 3 + (residual ? 5 : 0) + (lookup ? 1 : 0);
}

const ComponentType kFinish = {
    "finish",
    {"delay_line", "multiply", "row_field", "scale_round", "task_walk", "finish_integer", "finish_fixed"},
    finish::ports,
    finish::model};

}  // namespace tilewright::pipeline
