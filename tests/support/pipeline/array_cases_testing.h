// For tests: random mac_arrays and lane_arrays, their sums against plain loops.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/array_model.h"

namespace tilewright::pipeline {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;

// The number of a field: two's complement, or one bit for +1 and -1.
inline int64_t number(const Beat& beat, int64_t at, int64_t bits, bool bipolar) {
  if (bipolar) return beat.get(int(at * bits), 1) != 0 ? 1 : -1;
  return beat.get_signed(int(at * bits), int(bits));
}

// Lowest numbers now and then: the sums that random bits never reach.
inline void fill(Beat& beat, int64_t bits, Random& random) {
  beat.randomize(random);
  if (!random.chance(0.2)) return;
  for (int at = 0; at + bits <= beat.bits(); at += int(bits)) {
    beat.set(at, int(bits), random.chance(0.8) ? uint64_t{1} << (bits - 1) : 0);
  }
}

// Pairs beats of activations and weights as the hardware takes them, and keeps the sums to come.
class ArrayCase : public BenchCase {
 public:
  using BenchCase::BenchCase;
  void begin() override {
    acts_.clear();
    weights_.clear();
    lasts_.clear();
    expected_.clear();
    sums_.clear();
    wrong_.clear();
  }
  bool next(const std::string& stream, Beat& data, bool& last, Random& random) override {
    fill(data, integer(parameters, stream == "act" ? "AW" : "WW"), random);
    last = random.chance(0.3);
    return true;
  }
  void transferred(const std::string& stream, const Beat& data, bool last) override {
    if (stream == "acc") {
      if (expected_.empty() || !(expected_.front() == data)) wrong_ = "wrong sums";
      if (!expected_.empty()) expected_.pop_front();
      return;
    }
    (stream == "act" ? acts_ : weights_).push_back(data);
    if (stream == "act") lasts_.push_back(last);
    if (acts_.empty() || weights_.empty()) return;
    const bool fresh = sums_.empty();
    if (fresh) sums_.assign(size_t(outputs()), 0);
    add(acts_.front(), weights_.front(), fresh, sums_);
    if (lasts_.front()) {
      const int acc = int(integer(parameters, "ACC"));
      Beat beat(int(outputs()) * acc);
      for (int o = 0; o < int(outputs()); ++o) beat.set(o * acc, acc, sums_[size_t(o)]);
      expected_.push_back(beat);
      sums_.clear();
    }
    acts_.pop_front();
    weights_.pop_front();
    lasts_.pop_front();
  }
  std::string finish() override { return expected_.size() > 12 ? "sums are missing" : wrong_; }

 protected:
  virtual int64_t outputs() const = 0;
  virtual void add(const Beat& act, const Beat& weight, bool fresh, std::vector<uint64_t>& sums) const = 0;

 private:
  std::deque<Beat> acts_, weights_, expected_;
  std::deque<bool> lasts_;
  std::vector<uint64_t> sums_;
  std::string wrong_;
};

class MacCase : public ArrayCase {
 public:
  explicit MacCase(const Parameters& p) : ArrayCase("mac_array", p) {}
  // Packed products take no weight that is the lowest number.
  bool next(const std::string& stream, Beat& data, bool& last, Random& random) override {
    if (!ArrayCase::next(stream, data, last, random)) return false;
    if (stream != "weight" || packed_rows(netlist::text_or(parameters, "MULTIPLY", "dsp")) == 0) return true;
    const int ww = int(integer(parameters, "WW"));
    for (int i = 0; i + ww <= data.bits(); i += ww) {
      if (data.get(i, ww) == uint64_t{1} << (ww - 1)) data.set(i, ww, uint64_t(random.between(0, 1)));
    }
    return true;
  }
  int64_t outputs() const override { return integer(parameters, "PO"); }
  void add(const Beat& act, const Beat& weight, bool, std::vector<uint64_t>& sums) const override {
    const int64_t pi = integer(parameters, "PI"), aw = integer(parameters, "AW"),
                  ww = integer(parameters, "WW");
    const bool a_bipolar = integer_or(parameters, "A_BIPOLAR", 0) != 0;
    const bool w_bipolar = integer_or(parameters, "W_BIPOLAR", 0) != 0;
    for (int64_t o = 0; o < outputs(); ++o) {
      for (int64_t i = 0; i < pi; ++i) {
        sums[size_t(o)] +=
            uint64_t(number(act, i, aw, a_bipolar)) * uint64_t(number(weight, o * pi + i, ww, w_bipolar));
      }
    }
  }
};

class LaneCase : public ArrayCase {
 public:
  explicit LaneCase(const Parameters& p) : ArrayCase("lane_array", p) {}
  int64_t outputs() const override { return integer(parameters, "P"); }
  void begin() override {
    ArrayCase::begin();
    position_ = weight_position_ = 0;
  }
  // A window is of one kind; maximum and sum take turns where both are built.
  bool next(const std::string& stream, Beat& data, bool& last, Random& random) override {
    if (stream == "act") {
      last = ++position_ % 3 == 0;
      fill(data, integer(parameters, "AW"), random);
      return true;
    }
    data.randomize(random);
    const bool both = has("SUM") && has("MAXIMUM");
    const bool maximum = both ? weight_position_++ / 3 % 2 == 0 : has("MAXIMUM");
    data.set(data.bits() - 1, 1, maximum ? 1 : 0);
    return true;
  }
  void add(const Beat& act, const Beat& weight, bool fresh, std::vector<uint64_t>& sums) const override {
    const int64_t taps = integer(parameters, "TAPS"), aw = integer(parameters, "AW"),
                  ww = integer(parameters, "WW");
    const bool bipolar = integer_or(parameters, "A_BIPOLAR", 0) != 0;
    const bool maximum = weight.get(weight.bits() - 1, 1) != 0;
    for (int64_t l = 0; l < outputs(); ++l) {
      int64_t largest = INT64_MIN;
      uint64_t sum = 0;
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t a = number(act, t * outputs() + l, aw, bipolar);
        largest = std::max(largest, a);
        sum += uint64_t(a) * uint64_t(number(weight, t * outputs() + l, ww, false));
      }
      uint64_t& kept = sums[size_t(l)];
      if (!maximum) {
        kept += sum;
      } else if (fresh || largest > int64_t(kept)) {
        kept = uint64_t(largest);
      }
    }
  }

 private:
  bool has(const char* part) const { return integer_or(parameters, part, 1) != 0; }
  int64_t position_ = 0, weight_position_ = 0;
};

inline Parameters mac(int64_t aw, int64_t ww, int64_t pi, int64_t po, int64_t acc, const char* multiply,
                      int64_t a_bipolar = 0, int64_t w_bipolar = 0) {
  return {{"AW", aw},
          {"WW", ww},
          {"PI", pi},
          {"PO", po},
          {"ACC", acc},
          {"MULTIPLY", std::string(multiply)},
          {"A_BIPOLAR", a_bipolar},
          {"W_BIPOLAR", w_bipolar}};
}

// Of any form of the products of numbers, as far as their blocks take them.
inline Parameters random_mac(Random& random) {
  for (;;) {
    const int64_t aw = random.between(1, 8), ww = random.between(1, 8), pi = random.between(1, 17);
    const int64_t po = random.between(1, 9), acc = random.between(aw + ww, 32);
    constexpr const char* kMultiply[] = {"dsp", "pair", "lut", "packed2", "packed3", "packed4"};
    const Parameters p = mac(aw, ww, pi, po, acc, kMultiply[random.between(0, 5)]);
    try {
      component_type("mac_array")->ports(p);
      return p;
    } catch (const Error&) {
      continue;  // too wide for a block
    }
  }
}

inline Parameters lane(int64_t aw, int64_t ww, int64_t lanes, int64_t taps, int64_t acc, const char* multiply,
                       int64_t sum = 1, int64_t maximum = 1, int64_t bipolar = 0) {
  return {{"AW", aw},     {"WW", ww},           {"P", lanes},
          {"TAPS", taps}, {"ACC", acc},         {"MULTIPLY", std::string(multiply)},
          {"SUM", sum},   {"MAXIMUM", maximum}, {"A_BIPOLAR", bipolar}};
}

}  // namespace tilewright::pipeline
