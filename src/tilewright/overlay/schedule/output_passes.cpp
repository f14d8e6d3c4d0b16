// Plain instructions have no rounding and no zero point, but floor((v + 2^(s-1)) / 2^s) + z is
// floor((v + 2^(s-1) + z*2^s) / 2^s): both fold into the bias. Shifts beyond 15 are split, since
// floor(floor(v / 2^a) / 2^b) = floor(v / 2^(a+b)).
//
// Reset and bias in one step: where the bias exceeds whatever a finished tile left in the accumulator,
// max(ACC, bias) is the bias. Outputs are at most clip_high, so the bias is lifted by L * 2^s, the clip
// bounds by L, with L a multiple of 2^output_bits: the STORE, which keeps the low bits, removes the lift at
// no cost.
#include "tilewright/overlay/schedule/output_passes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/execute/row_functions.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {
namespace {

constexpr int kMaxPortableShift = 15;
constexpr int64_t kLimit = int64_t{1} << 31;

// Right shift (negative: left) of one channel once a power-of-two multiplier is taken into account.
int net_shift(const Requantization& scale) {
  return scale.shift - int(std::countr_zero(uint32_t(scale.multiplier)));
}

struct PlainOutput {
  std::string reason;
  bool uniform_shift = true;
  int max_shift = 0;
  bool fold_zero_point = true;
};

PlainOutput analyse(const OverlayLayer& layer) {
  PlainOutput plain;
  const LayerFinish& output = layer.output;
  const int first = output.scale.empty() ? 0 : net_shift(output.scale[0]);
  plain.max_shift = first;
  for (const Requantization& scale : output.scale) {
    if (!scale.is_power_of_two()) {
      plain.reason =
          "the plain instruction set only scales by powers of two; quantise with power-of-two scales";
      return plain;
    }
    plain.uniform_shift = plain.uniform_shift && net_shift(scale) == first;
    plain.max_shift = std::max(plain.max_shift, net_shift(scale));
  }
  if (plain.max_shift < 0 && !plain.uniform_shift) {
    plain.reason = "the plain instruction set cannot shift left by different amounts per channel";
    return plain;
  }
  const bool shared = layer.pattern == ChannelPattern::kSharedDiagonal;
  const int64_t channels = shared && output.scale.size() == 1 ? 1 : layer.out_channels;
  for (int64_t o = 0; o < channels; ++o) {
    const int shift = net_shift(output.scale_of(o));
    if (shift < 0 && !plain.uniform_shift) {
      plain.reason = "the plain instruction set cannot shift left by different amounts per channel";
      return plain;
    }
    const int64_t bound = accumulator_bound(layer, o);
    const int64_t rounding = shift > 0 ? int64_t{1} << (shift - 1) : 0;
    if (shift > 31 || bound + rounding >= kLimit || (shift < 0 && bound >= kLimit >> std::min(-shift, 31))) {
      plain.reason = "accumulator and rounding constant may leave 32 bits on the plain instruction set";
      return plain;
    }
    const int64_t zero = shift >= 0 ? std::abs(int64_t(output.zero_point)) << shift : kLimit;
    if (bound + rounding + zero >= kLimit) plain.fold_zero_point = false;
  }
  if (output.zero_point == 0) plain.fold_zero_point = true;
  return plain;
}

// What the outputs are lifted by so that the start (OutputPasses) can replace reset and bias; nullopt:
// impossible. `bias` is by channel, with everything that is folded into it.
std::optional<int32_t> start_lift(const OverlayLayer& layer, const std::vector<int32_t>& bias) {
  constexpr int64_t kUnit = 256, kMaxImmediate = 32767;
  for (const Phase& phase : layer.phases) {
    for (const TapGrid& grid : phase.grids) {
      if (grid.pass > 0) return {};
    }
  }
  const LayerFinish& output = layer.output;
  int64_t lift = 0;
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    const int shift = net_shift(output.scale_of(o));
    const int64_t value = bias[size_t(o)], missing = std::max<int64_t>(0, output.clip_high) - value;
    if (shift < 0 || (missing > 0 && shift == 0)) return {};
    if (missing <= 0) continue;
    const int64_t factor = (int64_t{1} << shift) - 1;
    lift = std::max(lift, round_up(ceil_div(missing, factor), kUnit));
  }
  if (output.clip_high + lift > kMaxImmediate) return {};
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    const int64_t sums = accumulator_bound(layer, o) - std::abs(int64_t(output.bias[size_t(o)]));
    if (sums + std::abs(int64_t(bias[size_t(o)])) + (lift << net_shift(output.scale_of(o))) >= kLimit)
      return {};
  }
  return int32_t(lift);
}

void add_uniform_shift(int shift, OutputPasses& stage) {
  while (shift != 0) {
    const int step = std::clamp(shift, -16, kMaxPortableShift);
    stage.passes.push_back({.opcode = AluOpcode::kShr, .imm = step});
    shift -= step;
  }
}

void add_channel_shifts(const OverlayLayer& layer, int max_shift, OutputPasses& stage) {
  for (int done = 0; done < max_shift; done += kMaxPortableShift) {
    std::vector<int32_t> amounts;
    for (int64_t o = 0; o < layer.out_channels; ++o) {
      amounts.push_back(std::clamp(net_shift(layer.output.scale_of(o)) - done, 0, kMaxPortableShift));
    }
    stage.passes.push_back(
        {.opcode = AluOpcode::kShr, .use_imm = false, .parameter = int(stage.parameters.size())});
    stage.parameters.push_back(std::move(amounts));
  }
}

OutputPasses plain_stage(const OverlayLayer& layer) {
  const PlainOutput plain = analyse(layer);
  const LayerFinish& output = layer.output;
  OutputPasses stage;
  std::vector<int32_t> bias;
  bool any = false;
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    const int shift = net_shift(output.scale_of(o));
    int64_t value = output.bias[size_t(o)];
    if (shift > 0) value += int64_t{1} << (shift - 1);
    if (plain.fold_zero_point && shift >= 0) value += int64_t(output.zero_point) * (int64_t{1} << shift);
    bias.push_back(int32_t(value));
    any = any || value != 0;
  }
  const std::optional<int32_t> lift = any ? start_lift(layer, bias) : std::nullopt;
  if (lift) {
    for (int64_t o = 0; o < layer.out_channels; ++o)
      bias[size_t(o)] += *lift << net_shift(output.scale_of(o));
    stage.start = OutputPass{.opcode = AluOpcode::kMax, .use_imm = false};
    stage.parameters.push_back(bias);
  }
  const bool uniform = std::all_of(bias.begin(), bias.end(), [&](int32_t v) { return v == bias[0]; });
  if (lift) {
    // The start has added it.
  } else if (any && uniform && bias[0] >= -32768 && bias[0] <= 32767) {
    stage.passes.push_back({.opcode = AluOpcode::kAdd, .imm = bias[0]});
  } else if (any) {
    stage.passes.push_back({.opcode = AluOpcode::kAdd, .use_imm = false, .parameter = 0});
    stage.parameters.push_back(std::move(bias));
  }
  if (plain.uniform_shift) {
    add_uniform_shift(plain.max_shift, stage);
  } else {
    add_channel_shifts(layer, plain.max_shift, stage);
  }
  if (!plain.fold_zero_point || (plain.max_shift < 0 && output.zero_point != 0)) {
    stage.passes.push_back({.opcode = AluOpcode::kAdd, .imm = output.zero_point});
  }
  stage.passes.push_back({.opcode = AluOpcode::kMin, .imm = output.clip_high + lift.value_or(0)});
  stage.passes.push_back({.opcode = AluOpcode::kMax, .imm = output.clip_low + lift.value_or(0)});
  return stage;
}

// From 16 bits to the byte that a STORE keeps: high, or low minus 128.
void add_plane_passes(const OverlayLayer& layer, OutputPasses& stage) {
  std::vector<int32_t> shifts, summands;
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    const bool is_low = o >= layer.out_plane;
    shifts.push_back(is_low ? 0 : 8);
    summands.push_back(is_low ? -128 : 0);
  }
  for (const AluOpcode opcode : {AluOpcode::kShr, AluOpcode::kAdd}) {
    stage.passes.push_back({.opcode = opcode, .use_imm = false, .parameter = int(stage.parameters.size())});
    stage.parameters.push_back(opcode == AluOpcode::kShr ? shifts : summands);
    stage.unused.push_back(0);
  }
}

OutputPass requantizing(const LayerFinish& output) {
  return {.opcode = AluOpcode::kRequantize,
          .use_imm = false,
          .imm = output.zero_point,
          .clip_low = output.clip_low,
          .clip_high = output.clip_high};
}

// An operation on rows leaves its parameters with the row.
OutputPass row_pass(AluOpcode opcode, int32_t imm, uint64_t number) {
  return {.opcode = opcode,
          .use_imm = false,
          .imm = imm,
          .of_rows = true,
          .clip_low = int32_t(uint32_t(number)),
          .clip_high = int32_t(uint32_t(number >> 32))};
}

OutputPass of_row(OutputPass pass) {
  pass.of_rows = true;
  return pass;
}

// docs/reference/arithmetic.md, "Transformers", step by step.
OutputPasses row_stage(const OverlayLayer& layer) {
  const RowFunction& rows = *layer.rows;
  const LayerFinish unclipped{.clip_low = INT32_MIN, .clip_high = INT32_MAX};
  OutputPasses stage;
  if (rows.first) {
    const size_t channels = size_t(layer.out_channels);
    const Requantization& scale = rows.first->scale_of(0);
    stage.passes.push_back(requantizing(*rows.first));
    stage.parameters = {std::vector<int32_t>(channels, 0), std::vector<int32_t>(channels, scale.multiplier),
                        std::vector<int32_t>(channels, scale.shift)};
    stage.unused.assign(3, 0);
  }
  if (rows.offset != 0) stage.passes.push_back({.opcode = AluOpcode::kAdd, .imm = rows.offset});
  if (rows.kind == RowFunction::Kind::kSoftmax) {
    stage.passes.push_back(row_pass(AluOpcode::kRowMax, row_immediate(rows.last_lanes, 0), 0));
    OutputPass power = of_row(requantizing({.clip_low = -(int32_t(kTableEntries) - 1), .clip_high = 0}));
    power.opcode = AluOpcode::kLookupWide;
    stage.passes.push_back(power);
    stage.passes.push_back(
        row_pass(AluOpcode::kRowDivide, row_immediate(rows.last_lanes, rows.shift), rows.number));
    stage.passes.push_back(of_row(requantizing(layer.output)));
    return stage;
  }
  stage.passes.push_back(
      row_pass(AluOpcode::kRowNorm, row_immediate(rows.last_lanes, rows.fraction, rows.center), rows.number));
  OutputPass by_channels = requantizing(unclipped);
  by_channels.parameter = kParameterElements;  // behind those of the output
  stage.passes.push_back(by_channels);
  stage.passes.push_back(of_row(requantizing(unclipped)));
  stage.passes.push_back(requantizing(layer.output));
  const size_t channels = size_t(layer.out_channels);
  stage.parameters.resize(6);
  stage.unused.assign(6, 0);
  stage.parameters[0] = layer.output.bias;
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    stage.parameters[1].push_back(layer.output.scale_of(o).multiplier);
    stage.parameters[2].push_back(layer.output.scale_of(o).shift);
  }
  stage.parameters[3].assign(channels, 0);
  stage.parameters[4].assign(channels, int32_t(layer.out_channels));
  stage.parameters[5].assign(channels, 0);
  return stage;
}

// Each source of a sum times its multiplier, which a requantising pass does in one go, and their addition.
void add_sources(const OverlayLayer& layer, OutputPasses& stage) {
  for (const LayerSource& source : layer.sources) {
    OutputPass pass = requantizing({.clip_low = INT32_MIN, .clip_high = INT32_MAX});
    pass.parameter = int(stage.parameters.size());
    pass.of_second = &source != &layer.sources.front();
    stage.passes.push_back(pass);
    for (const int32_t number : {0, source.multiplier, 0}) {
      stage.parameters.emplace_back(size_t(layer.out_channels), number);
      stage.unused.push_back(0);
    }
  }
  stage.passes.push_back({.opcode = AluOpcode::kAdd, .use_imm = false, .adds_second = true});
}

OutputPasses wide_stage(const OverlayLayer& layer) {
  const LayerFinish& output = layer.output;
  OutputPasses stage;
  stage.parameters.resize(3);
  stage.unused = {0, 0, 0};
  // 1-bit weights have no zero that would ignore such a lane later on: it is clipped to 0 whatever its sum.
  if (layer.weight_bits == 1) stage.unused = {-(1 << 30), 1, 0};
  stage.parameters[0] = output.bias;
  for (int32_t& bias : stage.parameters[0]) bias -= unused_lane_sum(layer);
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    stage.parameters[1].push_back(output.scale_of(o).multiplier);
    stage.parameters[2].push_back(output.scale_of(o).shift);
  }
  if (layer.pair == OverlayLayer::Pair::kSum) add_sources(layer, stage);
  stage.passes.push_back(requantizing(output));
  if (output.table != nullptr) stage.passes.back().opcode = AluOpcode::kLookup;
  if (layer.out_plane > 0) add_plane_passes(layer, stage);
  return stage;
}

}  // namespace

std::string why_no_plain_output(const OverlayLayer& layer) { return analyse(layer).reason; }

OutputPasses make_output_passes(const OverlayLayer& layer, IsaVersion isa) {
  if (layer.kind == OverlayLayerKind::kMaximum) return {};
  if (layer.rows) return row_stage(layer);
  if (isa == IsaVersion::kWide) return wide_stage(layer);
  OutputPasses stage = plain_stage(layer);
  stage.unused.assign(stage.parameters.size(), 0);
  return stage;
}

}  // namespace tilewright::overlay
