// mac_array and lane_array in RTL: their time against the models, their sums against plain loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "support/pipeline/array_cases_testing.h"
#include "support/pipeline/bench_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/array_model.h"

namespace tilewright::pipeline {
namespace {

// Each form of the products, then random shapes of them.
std::vector<Parameters> mac_parameters(Random& random) {
  std::vector<Parameters> list = {
      mac(8, 8, 4, 3, 32, "dsp"),        mac(8, 8, 5, 4, 32, "pair"),      mac(8, 8, 3, 3, 20, "pair"),
      mac(4, 4, 7, 2, 16, "pair"),       mac(4, 4, 6, 3, 14, "lut"),       mac(3, 5, 1, 1, 24, "lut"),
      mac(1, 1, 20, 3, 12, "lut", 1, 1), mac(1, 1, 4, 2, 12, "dsp", 1, 1), mac(2, 1, 9, 2, 10, "lut", 0, 1),
      mac(8, 1, 1, 2, 24, "lut", 0, 1),  mac(1, 8, 5, 2, 18, "lut", 1, 0), mac(8, 1, 3, 2, 18, "dsp", 0, 1),
      mac(32, 32, 3, 2, 64, "dsp"),      mac(20, 32, 2, 1, 48, "dsp"),     mac(32, 10, 2, 2, 40, "dsp"),
      mac(25, 18, 2, 2, 50, "dsp"),      mac(24, 24, 2, 2, 32, "dsp"),     mac(1, 1, 3, 2, 8, "lut"),
      mac(8, 8, 4, 3, 32, "packed2"),    mac(5, 5, 1, 3, 24, "packed3"),   mac(6, 5, 7, 7, 20, "packed3"),
      mac(2, 2, 3, 4, 12, "packed4"),    mac(5, 3, 16, 6, 24, "packed4"),  mac(13, 2, 5, 2, 15, "packed2"),
  };
  for (int i = 0; i < 24; ++i) list.push_back(random_mac(random));
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
  SCOPED_TRACE(fmt::format("seed {}", test_seed()));
  Random random(test_seed());
  std::vector<std::unique_ptr<BenchCase>> cases;
  for (const Parameters& p : mac_parameters(random)) cases.push_back(std::make_unique<MacCase>(p));
  for (const Parameters& p : lane_parameters(random)) cases.push_back(std::make_unique<LaneCase>(p));
  BenchOptions options;
  options.cycles = 1500;
  const BenchResult result = expect_models_agree(cases, options);
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
  expect(refusal("mac_array", mac(1, 4, 1, 2, 32, "packed2", 1, 0)), "two's complement");
  expect(refusal("mac_array", mac(6, 6, 1, 3, 32, "packed3")), "(products - 1) * (AW + WW) + WW <= 27");
  expect(refusal("mac_array", mac(2, 2, 1, 3, 32, "packed5")), "MULTIPLY is 'packed5'");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 32, "pair")), "lanes share no factor");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 32, "dsp", 0, 0)), "SUM and MAXIMUM are both 0");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 4, "dsp")), "at least those of an element");
  expect(refusal("lane_array", lane(8, 8, 1, 1, 32, "dsp", 1, 1, 1)), "bipolar operands have one bit");
  expect(refusal("lane_array", lane(8, 40, 1, 1, 32, "dsp")), "at most 32 bits");
}

TEST(Arrays, StepsAreThoseOfTheStages) {
  EXPECT_EQ(mac_array_steps(mac(8, 8, 16, 4, 32, "dsp")), 2 + 4 + 1);
  EXPECT_EQ(mac_array_steps(mac(8, 8, 16, 4, 32, "pair")), 3 + 4 + 1);
  EXPECT_EQ(mac_array_steps(mac(4, 4, 16, 4, 32, "packed3")), 2 + 4 + 1 + 1);
  EXPECT_EQ(mac_array_steps(mac(32, 32, 16, 4, 64, "dsp")), 3 + 4 + 1);
  EXPECT_EQ(mac_array_steps(mac(1, 1, 12, 4, 16, "lut", 1, 1)), 1 + 2 + 1);
  EXPECT_EQ(lane_array_steps(lane(8, 8, 1, 9, 32, "dsp")), 2 + 4 + 1);
  EXPECT_EQ(lane_array_steps(lane(8, 8, 1, 9, 32, "dsp", 0, 1)), 4 + 1);
}

}  // namespace
}  // namespace tilewright::pipeline
