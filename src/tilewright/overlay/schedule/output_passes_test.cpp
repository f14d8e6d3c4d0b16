#include "tilewright/overlay/schedule/output_passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::overlay {
namespace {

// A 1x1 convolution of `channels` outputs whose sums stay within +-magnitude * 128.
OverlayLayer make_layer(int64_t channels, int64_t magnitude, int shift, std::vector<int32_t> bias) {
  OverlayLayer layer;
  layer.out_channels = channels;
  layer.sources.push_back({});
  layer.phases.push_back({0, 0, {TapGrid{}}});
  layer.weight_magnitude.assign(size_t(channels), magnitude);
  layer.output.bias = std::move(bias);
  layer.output.scale = {{1, shift}};
  return layer;
}

int32_t apply(const OutputPass& pass, int32_t value, int32_t parameter) {
  const int32_t y = pass.use_imm ? pass.imm : parameter;
  switch (pass.opcode) {
    case AluOpcode::kMin:
      return std::min(value, y);
    case AluOpcode::kMax:
      return std::max(value, y);
    case AluOpcode::kAdd:
      return int32_t(uint32_t(value) + uint32_t(y));
    case AluOpcode::kShr:
      return value >> y;
    default:
      ADD_FAILURE() << "an operation that the plain set does not portably have";
      return 0;
  }
}

TEST(OutputPasses, TheStartReplacesResetAndBiasWhateverTheTileBeforeLeft) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const int shift = int(random.between(1, 18));
    const int64_t magnitude = random.between(1, 100000);
    std::vector<int32_t> bias;
    for (int o = 0; o < 4; ++o) bias.push_back(int32_t(random.between(-2000000, 2000000)));
    OverlayLayer layer = make_layer(4, magnitude, shift, bias);
    layer.output.zero_point = int32_t(random.between(-20, 20));
    layer.output.clip_low = int32_t(random.between(-128, 0));
    layer.output.clip_high = int32_t(random.between(1, 127));
    ASSERT_EQ(why_no_plain_output(layer), "");
    const OutputPasses stage = make_output_passes(layer, IsaVersion::kVta);
    if (!stage.start) continue;
    for (size_t o = 0; o < 4; ++o) {
      // Outputs as they stand in ACC, before the STORE takes their low bits.
      const int32_t low = stage.passes.back().imm, high = stage.passes[stage.passes.size() - 2].imm;
      for (const int32_t before : {0, low, high}) {
        const int32_t bias_in_place = stage.parameters[size_t(stage.start->parameter)][o];
        int32_t value = apply(*stage.start, before, bias_in_place);
        ASSERT_EQ(value, bias_in_place);
        const auto sum = int32_t(random.between(-magnitude * 128, magnitude * 128));
        value += sum;
        for (const OutputPass& pass : stage.passes) {
          value = apply(pass, value, pass.use_imm ? 0 : stage.parameters[size_t(pass.parameter)][o]);
        }
        const int64_t exact =
            ((int64_t(sum) + bias[o] + (int64_t{1} << (shift - 1))) >> shift) + layer.output.zero_point;
        ASSERT_EQ(int8_t(value), std::clamp<int64_t>(exact, layer.output.clip_low, layer.output.clip_high));
      }
    }
  }
}

TEST(OutputPasses, StartsWhereTheLiftedBiasFits) {
  const auto starts = [](const OverlayLayer& layer) {
    return make_output_passes(layer, IsaVersion::kVta).start.has_value();
  };
  EXPECT_TRUE(starts(make_layer(2, 1000, 10, {-30000, 30000})));
  EXPECT_TRUE(starts(make_layer(2, 1000, 0, {127, 30000})));  // nothing to lift
  EXPECT_FALSE(
      starts(make_layer(2, 1000, 0, {126, 30000})));  // a lift would move the output as far as the clip
  EXPECT_FALSE(starts(make_layer(2, 1000, 1, {-40000, 0})));          // clip bounds beyond 16 bits
  EXPECT_FALSE(starts(make_layer(2, 1 << 23, 22, {0, -(1 << 22)})));  // the sum would leave 32 bits
  // The bias and its rounding constant must become at least 127: 127 * 256 more are the most that the clip
  // bounds have room for.
  EXPECT_TRUE(starts(make_layer(2, 1000, 1, {127 - 127 * 256 - 1, 0})));
  EXPECT_FALSE(starts(make_layer(2, 1000, 1, {127 - 127 * 256 - 2, 0})));
  OverlayLayer passes = make_layer(1, 1000, 10, {5});
  passes.phases[0].grids.push_back({.pass = 1});
  EXPECT_FALSE(starts(passes));  // the shift between the passes would move the bias
  EXPECT_FALSE(make_output_passes(make_layer(2, 1000, 10, {1, 2}), IsaVersion::kWide).start);
}

// Each channel has a shift of its own, also none or more than the 15 bits of one instruction.
TEST(OutputPassesClass, ChannelsShiftByTheirOwnAmounts) {
  const int64_t cases = test_cases(400);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const int64_t magnitude = random.between(1, 100000);
    OverlayLayer layer = make_layer(4, magnitude, 0, {});
    layer.output.scale.clear();
    for (int o = 0; o < 4; ++o) {
      layer.output.bias.push_back(int32_t(random.between(-100000, 100000)));
      layer.output.scale.push_back({1, int(random.between(0, 20))});
    }
    layer.output.zero_point = int32_t(random.between(-20, 20));
    ASSERT_EQ(why_no_plain_output(layer), "");
    const OutputPasses stage = make_output_passes(layer, IsaVersion::kVta);
    for (size_t o = 0; o < 4; ++o) {
      const auto sum = int32_t(random.between(-magnitude * 128, magnitude * 128));
      int32_t value = sum + (stage.start ? stage.parameters[size_t(stage.start->parameter)][o] : 0);
      for (const OutputPass& pass : stage.passes) {
        value = apply(pass, value, pass.use_imm ? 0 : stage.parameters[size_t(pass.parameter)][o]);
      }
      const int shift = layer.output.scale[o].shift;
      const int64_t half = shift > 0 ? int64_t{1} << (shift - 1) : 0;
      const int64_t exact = ((int64_t(sum) + layer.output.bias[o] + half) >> shift) + layer.output.zero_point;
      ASSERT_EQ(int8_t(value), std::clamp<int64_t>(exact, -128, 127));
    }
  }
}

// An instruction has room for 16 bits of a number.
TEST(OutputPasses, OneBiasForAllIsPartOfTheInstructionWhereItFits) {
  for (const auto& [bias, fits] : {std::pair{32767, true}, {32768, false}, {-32768, true}, {-32769, false}}) {
    OverlayLayer layer = make_layer(2, 1000, 0, {bias, bias});
    layer.phases[0].grids.push_back({.pass = 1});  // no start
    const OutputPasses stage = make_output_passes(layer, IsaVersion::kVta);
    ASSERT_EQ(stage.passes.front().opcode, AluOpcode::kAdd);
    EXPECT_EQ(stage.passes.front().use_imm, fits) << bias;
    EXPECT_EQ(stage.parameters.size(), fits ? 0u : 1u);
  }
}

}  // namespace
}  // namespace tilewright::overlay
