// A beat starts when sums, parameters and, in a task that adds, a residual are there, and the pipeline moves.
// With several beats per sums, a register keeps these; its last beat makes room for the next in the same
// step.
#include "tilewright/pipeline/component/finish.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"
#include "tilewright/pipeline/image/row_layout.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline {
namespace finish {
namespace {

using netlist::Direction;
using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;
using netlist::text_or;

constexpr RowField<FinishRow> kIntegerFields[] = {
    {"BEATS", unsigned_bits(32), &FinishRow::beats},
    {"ZERO", signed_bits(8), &FinishRow::zero_point},
    {"LOW", signed_bits(8), &FinishRow::clip_low},
    {"HIGH", signed_bits(8), &FinishRow::clip_high},
    {"BIPOLAR", unsigned_bits(1), &FinishRow::bipolar},
    {"ADD", unsigned_bits(1), &FinishRow::add},
    {"ADD_A", signed_bits(24), &FinishRow::add_a},
    {"ADD_B", signed_bits(24), &FinishRow::add_b},
    {"ADD_BIAS", signed_bits(32), &FinishRow::add_bias},
    {"ADD_SHIFT", unsigned_bits(6), &FinishRow::add_shift},
    {"ADD_ZERO", signed_bits(8), &FinishRow::add_zero},
    {"ADD_LOW", signed_bits(8), &FinishRow::add_low},
    {"ADD_HIGH", signed_bits(8), &FinishRow::add_high},
    {"LOOKUP", unsigned_bits(1), &FinishRow::lookup},
    {"TABLE", unsigned_bits(8), &FinishRow::table},
    {"DRAIN", unsigned_bits(16), &FinishRow::drain},
    {"PRODUCT", unsigned_bits(1), &FinishRow::product},
};
constexpr RowField<FinishRow> kFixedFields[] = {
    {"BEATS", unsigned_bits(32), &FinishRow::beats},
    {"LOW", signed_bits(32), &FinishRow::clip_low},
    {"HIGH", signed_bits(32), &FinishRow::clip_high},
    {"ADD", unsigned_bits(1), &FinishRow::add},
    {"ADD_LOW", signed_bits(32), &FinishRow::add_low},
    {"ADD_HIGH", signed_bits(32), &FinishRow::add_high},
    {"LOOKUP", unsigned_bits(1), &FinishRow::lookup},
    {"TABLE", unsigned_bits(8), &FinishRow::table},
    {"INPUT_SHIFT", unsigned_bits(5), &FinishRow::input_shift},
    {"RAW", unsigned_bits(1), &FinishRow::raw},
    {"DRAIN", unsigned_bits(16), &FinishRow::drain},
};
RowFields<FinishRow> row_fields(NumberType number) {
  return number == NumberType::kFixed ? RowFields<FinishRow>(kFixedFields)
                                      : RowFields<FinishRow>(kIntegerFields);
}

constexpr RowField<FinishLane> kIntegerLane[] = {
    {"BIAS", signed_bits(32), &FinishLane::bias},
    {"MULTIPLIER", parameter_bits("MULTIPLIER_BITS", true), &FinishLane::multiplier},
    {"SHIFT", unsigned_bits(6), &FinishLane::shift},
};
constexpr RowField<FinishLane> kFixedLane[] = {{"BIAS", signed_bits(32), &FinishLane::bias}};

std::vector<RowLayout> layouts() {
  return {row_layout("finish_integer", row_fields(NumberType::kInteger)),
          row_layout("finish_fixed", row_fields(NumberType::kFixed)),
          row_layout("finish_integer_lane", finish_lane_fields(NumberType::kInteger)),
          row_layout("finish_fixed_lane", finish_lane_fields(NumberType::kFixed))};
}

NumberType number_type(const Parameters& parameters) {
  return text_or(parameters, "NUMBER", "integer") == "fixed" ? NumberType::kFixed : NumberType::kInteger;
}

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
    const int64_t twice = require.at_least_or("TWICE", 0, 0);
    require.need(twice == 0 || (twice == 1 && multiplier > 0), "TWICE is 0, or 1 with multipliers");
  }
  const bool products = integer_or(parameters, "PRODUCTS", 0) != 0;
  require.need(!products || (residual && number == "integer"), "PRODUCTS need integers and a RESIDUAL");
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

std::vector<FinishRow> read_tasks(const Parameters& parameters, const MemoryImages& images) {
  const int64_t tasks = integer_or(parameters, "TASKS", 1);
  const std::string name = text_or(parameters, "TABLE", "");
  if (name.empty()) return {FinishRow{}};
  const auto image = images.find(name);
  TILEWRIGHT_CHECK(image != images.end(), "no task table '" + name + "'");
  TILEWRIGHT_CHECK(image->second.words() == tasks, "a task table of another number of rows");
  std::vector<FinishRow> rows = decode_finish(image->second, number_type(parameters));
  for (const FinishRow& row : rows) {
    TILEWRIGHT_CHECK(row.beats >= 1, "a task without beats");
    const int64_t slices = integer(parameters, "PO") / integer(parameters, "PF");
    const int64_t together = row.drain == 0 ? slices : std::min(slices, row.drain);
    TILEWRIGHT_CHECK(tasks == 1 || row.beats % together == 0, "a task that ends within its sums");
  }
  return rows;
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
  bool needs_residual() const { return residual_ && tasks_[task_].add; }

  const int64_t slices_;
  const bool residual_;
  const uint64_t result_bit_;  // of valids_; bit k: k + 1 steps after the start
  const std::vector<FinishRow> tasks_;
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

// Sums of 64 bits and a table of 513 points.
ResourceFeatures fixed_features(const ComponentSizes& p, double held, double several, double fields) {
  ResourceFeatures f;
  const int64_t lanes = p("PF"), tables = p("TABLES", 0);
  const double adds = p("RESIDUAL", 0) != 0 ? double(lanes) : 0, looks = tables > 0 ? double(lanes) : 0;
  const double bits = double(lanes * (64 - p("FRACTION", 22)));
  f.form = "finish_fixed";
  // Low parts without a sign take the iCE40 one block less.
  if (tables > 0)
    f.dsp =
        lanes * (p.family == synthesis::DeviceFamily::kIce40 ? 4 : area::product_blocks(33, 24, p.family));
  const bool block = p.text("KIND", "lutram") == "block";
  if (block) f.bram = lanes * 2 * synthesis::block_rams(tables * 513, 32, p.family);
  // Entries are read at two places; what interpolates between them is set beside them, as too few runs have
  // several tables to tell the two apart.
  const double entries = block ? 0 : double(tables * 2 * 32 * ceil_div(513, 64));
  f.lut = {1,     held, double(lanes), bits, adds, looks * (320 + entries), several, several * double(lanes),
           fields};
  f.ff = {1, held, double(lanes), bits, adds, looks, several};
  return f;
}

// Bytes and narrower elements. `product`: bits that are shifted and clipped.
ResourceFeatures integer_features(const ComponentSizes& p, double held, double several, double fields) {
  ResourceFeatures f;
  const int64_t lanes = p("PF"), tables = p("TABLES", 0), sum = p("SUM_BITS", 32),
                factor = p("MULTIPLIER_BITS", 32);
  const bool scales = factor > 0, residual = p("RESIDUAL", 0) != 0;
  const double product = double(lanes * (sum + factor)),
               narrow = double(lanes * (8 - std::min<int64_t>(8, p("AW"))));
  const double split = scales && area::product_blocks(sum, factor, p.family) > 1 ? product : 0,
               one = scales && split == 0 ? product : 0;
  const bool block = p.text("KIND", "lutram") == "block";
  if (block) f.bram = lanes * synthesis::block_rams(tables * 256, 8, p.family);
  // A product is taken for a second addition; its blocks are known.
  const int64_t products = p("PRODUCTS", 0) != 0 ? lanes : 0;
  const double adds = residual ? double(lanes + products) : 0,
               table = block ? 0 : double(lanes * tables * 256 * 8) / 64;
  const bool rows = p.text("MULTIPLY", "dsp") == "lut";  // of additions, for each bit of a factor
  const double more = !rows ? split : scales ? double(lanes * sum * factor) : 0;
  f.lut = {1,     held,    double(lanes * sum),     product, more,          double(lanes), adds,
           table, several, several * double(lanes), fields,  several * adds};
  if (rows) {
    f.form = "finish_tables";
    f.ff = {1,
            held,
            double(lanes * sum),
            product,
            double(lanes),
            adds,
            tables > 0 ? double(lanes) : 0,
            several,
            residual ? several : 0,
            narrow};
    return f;
  }
  const int64_t factor_blocks = p.family == synthesis::DeviceFamily::kIce40 ? 2 : 1;  // 24 x 8 bits
  f.dsp = (scales ? lanes * area::product_blocks(sum, factor, p.family) : 0) +
          (residual ? 2 * lanes * factor_blocks : 0) +
          products * (1 + area::product_blocks(18, 32, p.family));
  f.ff = {1,
          held,
          double(lanes * sum),
          one,
          split,
          double(lanes),
          adds,
          tables > 0 ? double(lanes) : 0,
          several,
          scales ? 0 : double(lanes),
          residual ? several : 0,
          narrow};
  return f;
}

ResourceFeatures features(const ComponentSizes& p) {
  const bool fixed = p.text("NUMBER", "integer") == "fixed", residual = p("RESIDUAL", 0) != 0;
  const int64_t tasks = p("TASKS", 1);
  // Bits of the sums that wait; of fixed point what is half a unit of the result and more.
  const int64_t waiting = fixed ? 65 - p("FRACTION", 22) : p("ACC");
  const double held = p("PO") > p("PF") ? double(p("PO") * waiting) : 0, several = tasks > 1 ? 1 : 0;
  const double bits = fixed ? 64 + (residual ? 65 : 0) : 25 + (residual ? 111 : 0);
  const double fields = area::table_logic(tasks, bits);
  return fixed ? fixed_features(p, held, several, fields) : integer_features(p, held, several, fields);
}

}  // namespace
}  // namespace finish

MemoryImage encode(const std::vector<FinishRow>& rows, NumberType number) {
  return write_rows(finish::row_fields(number), rows);
}

std::vector<FinishRow> decode_finish(const MemoryImage& table, NumberType number) {
  const RowFields<FinishRow> fields = finish::row_fields(number);
  TILEWRIGHT_CHECK(table.width_bits() == row_bits(fields), "a task table of another number type");
  return read_rows(fields, table);
}

RowFields<FinishLane> finish_lane_fields(NumberType number) {
  return number == NumberType::kFixed ? RowFields<FinishLane>(finish::kFixedLane)
                                      : RowFields<FinishLane>(finish::kIntegerLane);
}

int64_t finish_lane_bits(NumberType number, int64_t multiplier_bits) {
  int64_t bits = 0;
  for (const RowField<FinishLane>& field : finish_lane_fields(number)) {
    bits += field.width.bits * (field.width.times == nullptr ? 1 : multiplier_bits);
  }
  return bits;
}

int64_t finish_param_bits(const netlist::Parameters& parameters) {
  return finish_lane_bits(finish::number_type(parameters),
                          netlist::integer_or(parameters, "MULTIPLIER_BITS", 32));
}

int64_t finish_steps(const netlist::Parameters& parameters) {
  const bool residual = netlist::integer_or(parameters, "RESIDUAL", 0) != 0;
  const bool lookup = netlist::integer_or(parameters, "TABLES", 0) != 0;
  if (finish::number_type(parameters) == NumberType::kFixed) return 2 + (residual ? 2 : 0) + (lookup ? 8 : 0);
  const int64_t multiplier = netlist::integer_or(parameters, "MULTIPLIER_BITS", 32);
  const bool lut = netlist::text_or(parameters, "MULTIPLY", "dsp") == "lut";
  const int64_t products = multiplier == 0 ? 0 : lut ? 1 : 2;
  const int64_t later = netlist::integer_or(parameters, "PRODUCTS", 0) == 0 ? 0 : lut ? 1 : 2;
  return 1 + products + 3 + (residual ? 5 + later : 0) + (lookup ? 1 : 0);
}

const ComponentType kFinish = {"finish",
                               {"component_config", "delay_line", "multiply", "row_field", "scale_round",
                                "task_walk", "finish_integer", "finish_fixed"},
                               finish::ports,
                               finish::model,
                               finish::features,
                               finish::layouts};

}  // namespace tilewright::pipeline
