// mac_array and lane_array in RTL: their time against the models, their sums against plain loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/components/component_bench.h"
#include "tilewright/pipeline/components/lane_array.h"
#include "tilewright/pipeline/components/mac_array.h"
#include "tilewright/pipeline/rtl_testing.h"

namespace tilewright::pipeline {
namespace {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;

// The number of a field: two's complement, or one bit for +1 and -1.
int64_t number(const Beat& beat, int64_t at, int64_t bits, bool bipolar) {
  if (bipolar) return beat.get(int(at * bits), 1) != 0 ? 1 : -1;
  return beat.get_signed(int(at * bits), int(bits));
}

// Lowest numbers now and then: the sums that random bits never reach.
void fill(Beat& beat, int64_t bits, Random& random) {
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

Parameters mac(int64_t aw, int64_t ww, int64_t pi, int64_t po, int64_t acc, const char* multiply,
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

Parameters lane(int64_t aw, int64_t ww, int64_t lanes, int64_t taps, int64_t acc, const char* multiply,
                int64_t sum = 1, int64_t maximum = 1, int64_t bipolar = 0) {
  return {{"AW", aw},     {"WW", ww},           {"P", lanes},
          {"TAPS", taps}, {"ACC", acc},         {"MULTIPLY", std::string(multiply)},
          {"SUM", sum},   {"MAXIMUM", maximum}, {"A_BIPOLAR", bipolar}};
}

// Each form of the products, then random shapes of them.
std::vector<Parameters> mac_parameters(Random& random) {
  std::vector<Parameters> list = {
      mac(8, 8, 4, 3, 32, "dsp"),        mac(8, 8, 5, 4, 32, "pair"),      mac(8, 8, 3, 3, 20, "pair"),
      mac(4, 4, 7, 2, 16, "pair"),       mac(4, 4, 6, 3, 14, "lut"),       mac(3, 5, 1, 1, 24, "lut"),
      mac(1, 1, 20, 3, 12, "lut", 1, 1), mac(1, 1, 4, 2, 12, "dsp", 1, 1), mac(2, 1, 9, 2, 10, "lut", 0, 1),
      mac(8, 1, 1, 2, 24, "lut", 0, 1),  mac(1, 8, 5, 2, 18, "lut", 1, 0), mac(8, 1, 3, 2, 18, "dsp", 0, 1),
      mac(32, 32, 3, 2, 64, "dsp"),      mac(20, 32, 2, 1, 48, "dsp"),     mac(32, 10, 2, 2, 40, "dsp"),
      mac(25, 18, 2, 2, 50, "dsp"),      mac(24, 24, 2, 2, 32, "dsp"),     mac(1, 1, 3, 2, 8, "lut"),
  };
  for (int i = 0; i < 12; ++i) {
    const char* const multiply = i % 3 == 0 ? "dsp" : i % 3 == 1 ? "pair" : "lut";
    const int64_t aw = random.between(1, 8), ww = random.between(1, 8), pi = random.between(1, 12);
    const int64_t po = random.between(1, 5), acc = random.between(aw + ww, 32);
    list.push_back(mac(aw, ww, pi, po, acc, multiply));
  }
  return list;
}

std::vector<Parameters> lane_parameters(Random& random) {
  std::vector<Parameters> list = {
      lane(8, 8, 3, 9, 32, "dsp"),         lane(8, 8, 2, 9, 8, "dsp", 0, 1),
      lane(8, 8, 2, 5, 24, "dsp", 1, 0),   lane(4, 4, 3, 4, 16, "lut"),
      lane(8, 2, 2, 1, 20, "dsp"),         lane(8, 1, 2, 1, 8, "lut", 0, 1),
      lane(1, 2, 4, 4, 8, "lut", 0, 1, 1), lane(1, 2, 4, 3, 8, "dsp", 1, 1, 1),
      lane(32, 32, 2, 1, 64, "dsp"),       lane(32, 32, 1, 3, 64, "dsp", 0, 1),
  };
  for (int i = 0; i < 6; ++i) {
    const int64_t aw = random.between(2, 8), ww = random.between(1, 8), lanes = random.between(1, 4);
    const int64_t taps = random.between(1, 10), acc = random.between(aw + ww, 32);
    list.push_back(
        lane(aw, ww, lanes, taps, acc, i % 2 == 0 ? "dsp" : "lut", i % 3 == 2 ? 0 : 1, i % 3 == 1 ? 0 : 1));
  }
  return list;
}

TEST(Arrays, RtlIsAsModelsAndLoopsSay) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  Random random(41);
  std::vector<std::unique_ptr<BenchCase>> cases;
  for (const Parameters& p : mac_parameters(random)) cases.push_back(std::make_unique<MacCase>(p));
  for (const Parameters& p : lane_parameters(random)) cases.push_back(std::make_unique<LaneCase>(p));
  std::vector<BenchCase*> pointers;
  for (const auto& one : cases) pointers.push_back(one.get());
  BenchOptions options;
  options.rtl = rtl_options();
  options.cycles = 1500;
  const BenchResult result = run_bench(pointers, options);
  for (const std::string& problem : result.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(result.cycles, cases.size() * 3 * 1500);
  EXPECT_GT(result.beats, cases.size() * 300);
}

std::string refusal(const char* component, const Parameters& parameters) {
  try {
    component_type(component)->ports(parameters);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Arrays, RefuseWhatCannotBeBuilt) {
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(refusal("mac_array", mac(8, 8, 0, 1, 32, "dsp")), "PI is 0");
  expect(refusal("mac_array", mac(33, 8, 1, 1, 32, "dsp")), "at most 32 bits");
  expect(refusal("mac_array", mac(8, 8, 1, 1, 65, "dsp")), "ACC has at most 64");
  expect(refusal("mac_array", mac(8, 2, 1, 1, 32, "dsp", 0, 1)), "bipolar operands have one bit");
  expect(refusal("mac_array", mac(8, 8, 1, 1, 32, "booth")), "MULTIPLY is 'booth'");
  expect(refusal("mac_array", mac(8, 9, 1, 2, 32, "pair")), "two products fit");
  expect(refusal("mac_array", mac(8, 1, 1, 2, 32, "pair", 0, 1)), "two's complement");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 32, "pair")), "lanes share no factor");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 32, "dsp", 0, 0)), "SUM and MAXIMUM are both 0");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 4, "dsp")), "at least those of an element");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 32, "dsp", 1, 1, 1)), "bipolar operands have one bit");
  expect(refusal("lane_array", lane(8, 40, 1, 1, 32, "dsp")), "at most 32 bits");
}

TEST(Arrays, StepsAreThoseOfTheStages) {
  EXPECT_EQ(mac_array_steps(mac(8, 8, 16, 4, 32, "dsp")), 2 + 4 + 1);
  EXPECT_EQ(mac_array_steps(mac(8, 8, 16, 4, 32, "pair")), 3 + 4 + 1);
  EXPECT_EQ(mac_array_steps(mac(32, 32, 16, 4, 64, "dsp")), 3 + 4 + 1);
  EXPECT_EQ(mac_array_steps(mac(1, 1, 12, 4, 16, "lut", 1, 1)), 1 + 2 + 1);
  EXPECT_EQ(lane_array_steps(lane(8, 8, 1, 9, 32, "dsp")), 2 + 4 + 1);
  EXPECT_EQ(lane_array_steps(lane(8, 8, 1, 9, 32, "dsp", 0, 1)), 4 + 1);
}

}  // namespace
}  // namespace tilewright::pipeline
