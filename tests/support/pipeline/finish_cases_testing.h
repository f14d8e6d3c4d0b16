// For tests: random finishes, their results against the scalar rules of docs/reference/arithmetic.md.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/finish.h"
#include "tilewright/tensor/fixed_point.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::pipeline {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;

// A number of up to `bits` bits whose magnitude is as often small as large.
inline int64_t spread(Random& random, int bits) {
  const int width = int(random.between(1, bits));
  return int64_t(random.next() << (64 - width)) >> (64 - width);
}

class FinishCase : public BenchCase {
 public:
  FinishCase(const Parameters& p, std::vector<FinishRow> rows, uint64_t seed)
      : BenchCase("finish", p), rows_(std::move(rows)), fixed_(integer(p, "ACC") == 64) {
    parameters["NUMBER"] = std::string(fixed_ ? "fixed" : "integer");
    parameters["TASKS"] = int64_t(rows_.size());
    parameters["TABLE"] = std::string("rows");
    images["rows"] = encode(rows_, fixed_ ? NumberType::kFixed : NumberType::kInteger);
    if (const int64_t tables = integer_or(parameters, "TABLES", 0); tables > 0) {
      Random random(seed);
      MemoryImage image(fixed_ ? 32 : 8);
      for (int64_t i = 0; i < tables * (fixed_ ? kFixedTableSize : 256); ++i) {
        image.set(image.add_word(), 0, image.width_bits(), spread(random, image.width_bits()));
      }
      images["lookup"] = image;
      parameters["FILE"] = std::string("lookup");
    }
  }

  void begin() override {
    accs_.clear();
    params_.clear();
    residuals_.clear();
    wrong_.clear();
    task_ = 0;
    done_in_task_ = slice_ = 0;
  }

  bool next(const std::string& stream, Beat& data, bool&, Random& random) override {
    data.randomize(random);
    if (stream == "acc") {
      const int acc = int(integer(parameters, "ACC"));
      for (int at = 0; at < data.bits(); at += acc) data.set(at, acc, uint64_t(spread(random, acc)));
    } else if (stream == "param") {
      for (int lane = 0; lane < lanes(); ++lane) fill_lane(data, lane * param_bits(), random);
    }
    return true;
  }

  void transferred(const std::string& stream, const Beat& data, bool) override {
    if (stream == "acc") accs_.push_back(data);
    if (stream == "param") params_.push_back(data);
    if (stream == "residual") residuals_.push_back(data);
    if (stream == "out") check(data);
  }

  std::string finish() override { return wrong_; }

 private:
  int lanes() const { return int(integer(parameters, "PF")); }
  int param_bits() const { return int(finish_param_bits(parameters)); }
  int multiplier_bits() const { return int(integer_or(parameters, "MULTIPLIER_BITS", 32)); }

  void fill_lane(Beat& data, int at, Random& random) const {
    data.set(at, 32, uint64_t(spread(random, 32)));
    if (fixed_) return;
    const int bits = multiplier_bits();
    // Positive, as encode_scale makes them; of few bits too.
    if (bits > 0) data.set(at + 32, bits, uint64_t(spread(random, bits)) & ((uint64_t{1} << (bits - 1)) - 1));
    data.set(at + 32 + bits, 6, uint64_t(random.between(0, 62)));
  }

  void check(const Beat& out) {
    const FinishRow& row = rows_[task_];
    const bool adds = row.add && integer_or(parameters, "RESIDUAL", 0) != 0;
    if (accs_.empty() || params_.empty() || (adds && residuals_.empty())) {
      wrong_ = "a result without its operands";
      return;
    }
    const int acc = int(integer(parameters, "ACC")), aw = int(integer(parameters, "AW"));
    for (int lane = 0; lane < lanes(); ++lane) {
      const int64_t sum = accs_.front().get_signed((int(slice_) * lanes() + lane) * acc, acc);
      const int64_t residual = adds ? residuals_.front().get_signed(lane * aw, aw) : 0;
      const int64_t expected = fixed_ ? fixed_result(row, sum, lane, adds, residual)
                                      : integer_result(row, sum, lane, adds, residual);
      if (out.get(lane * aw, aw) != (uint64_t(expected) & (~uint64_t{0} >> (64 - aw)))) {
        wrong_ = "lane " + std::to_string(lane) + ": " + std::to_string(out.get_signed(lane * aw, aw)) +
                 " instead of " + std::to_string(expected);
      }
    }
    params_.pop_front();
    if (adds) residuals_.pop_front();
    if (++slice_ == integer(parameters, "PO") / lanes() || slice_ == row.drain) {
      slice_ = 0;
      accs_.pop_front();
    }
    if (++done_in_task_ == row.beats) {
      done_in_task_ = 0;
      task_ = (task_ + 1) % rows_.size();
    }
  }

  int64_t integer_result(const FinishRow& row, int64_t sum, int lane, bool adds, int64_t residual) const {
    const Beat& param = params_.front();
    const int at = lane * param_bits(), bits = multiplier_bits();
    const int32_t biased = wrap(sum + param.get_signed(at, 32), int(integer_or(parameters, "SUM_BITS", 32)));
    Requantization scale;
    scale.multiplier = bits == 0 ? 1 : int32_t(param.get_signed(at + 32, bits));
    scale.shift = int32_t(param.get(at + 32 + bits, 6));
    if (integer_or(parameters, "TWICE", 0) != 0 && scale.shift >= 32) scale.shift += kTwice;
    int64_t value =
        requantize(biased, scale, int32_t(row.zero_point), int32_t(row.clip_low), int32_t(row.clip_high));
    if (adds && row.product) {
      const int64_t total = (value - row.add_a) * (residual - row.add_b) * row.add_bias;
      value = clip(round_shift(total, int(row.add_shift)) + row.add_zero, row.add_low, row.add_high);
    } else if (adds) {
      const int64_t total = value * row.add_a + residual * row.add_b + row.add_bias;
      value = clip(round_shift(total, int(row.add_shift)) + row.add_zero, row.add_low, row.add_high);
    }
    if (row.lookup && integer_or(parameters, "TABLES", 0) != 0) {
      value = images.at("lookup").get_signed(row.table * 256 + value + 128, 0, 8);
    }
    if (integer(parameters, "AW") == 1) return value & 1;
    return row.bipolar ? ((value & 1) != 0 ? 1 : -1) : value;
  }

  int64_t fixed_result(const FinishRow& row, int64_t sum, int lane, bool adds, int64_t residual) const {
    const int fraction = int(integer(parameters, "FRACTION"));
    const int32_t bias = int32_t(params_.front().get_signed(lane * 32, 32));
    const uint64_t biased = uint64_t(sum) + fixed_bias(bias, fraction);
    int32_t value = row.raw ? int32_t(uint32_t(biased))
                            : fixed_finish(biased, fraction, {int32_t(row.clip_low), int32_t(row.clip_high)});
    if (adds) value = fixed_add(value, int32_t(residual), {int32_t(row.add_low), int32_t(row.add_high)});
    if (!row.lookup || integer_or(parameters, "TABLES", 0) == 0) return value;
    std::vector<int32_t> table;
    for (int i = 0; i < kFixedTableSize; ++i) {
      table.push_back(int32_t(images.at("lookup").get_signed(row.table * kFixedTableSize + i, 0, 32)));
    }
    return fixed_lookup(value, table, int(row.input_shift));
  }

  const std::vector<FinishRow> rows_;
  const bool fixed_;
  std::deque<Beat> accs_, params_, residuals_;
  size_t task_ = 0;
  int64_t done_in_task_ = 0, slice_ = 0;
  std::string wrong_;
};

inline FinishRow random_finish_row(Random& random, const Parameters& parameters) {
  const bool fixed = integer(parameters, "ACC") == 64;
  const int64_t aw = integer(parameters, "AW"), tables = integer(parameters, "TABLES");
  const int64_t slices = integer(parameters, "PO") / integer(parameters, "PF");
  const int bits = fixed ? 32 : int(aw);
  const auto range = [&](int64_t& low, int64_t& high) {
    low = spread(random, bits);
    high = spread(random, bits);
    if (low > high) std::swap(low, high);
  };
  FinishRow row;
  row.drain = random.between(0, 3);
  row.beats = random.between(1, 10) * (row.drain == 0 ? slices : std::min(slices, row.drain));
  row.raw = fixed && random.chance(0.2);
  range(row.clip_low, row.clip_high);
  range(row.add_low, row.add_high);
  row.zero_point = spread(random, 8);
  row.add = random.chance(0.6);
  row.add_a = spread(random, 24);
  row.add_b = spread(random, 24);
  row.add_bias = spread(random, 32);
  row.add_shift = random.between(0, 35);
  row.add_zero = spread(random, 8);
  row.product = integer_or(parameters, "PRODUCTS", 0) != 0 && random.chance(0.6);
  if (row.product) {
    row.add_a = spread(random, 8);
    row.add_b = spread(random, 8);
    row.add_bias &= INT32_MAX;
    row.add_shift = random.between(0, 62);
  }
  row.lookup = tables > 0 && random.chance(0.7);
  row.table = tables > 0 ? random.between(0, tables - 1) : 0;
  row.input_shift = random.between(0, 23);
  row.bipolar = !fixed && random.chance(0.1);
  if (row.bipolar) {
    row.clip_low = row.add_low = 0;
    row.clip_high = row.add_high = 1;
  }
  return row;
}

inline Parameters integers(int64_t aw, int64_t acc, int64_t po, int64_t pf, int64_t residual, int64_t tables,
                           int64_t multiplier_bits, int64_t sum_bits, const char* multiply = "dsp") {
  return {{"AW", aw},
          {"ACC", acc},
          {"PO", po},
          {"PF", pf},
          {"TABLES", tables},
          {"RESIDUAL", residual},
          {"SUM_BITS", sum_bits},
          {"MULTIPLIER_BITS", multiplier_bits},
          {"MULTIPLY", std::string(multiply)}};
}

inline Parameters fixed(int64_t po, int64_t pf, int64_t residual, int64_t tables, int64_t fraction,
                        const char* multiply = "dsp") {
  return {{"AW", 32},
          {"ACC", 64},
          {"PO", po},
          {"PF", pf},
          {"TABLES", tables},
          {"RESIDUAL", residual},
          {"FRACTION", fraction},
          {"MULTIPLY", std::string(multiply)}};
}

}  // namespace tilewright::pipeline
