// Weights and biases of fewer bits are those of 8, scaled down: their sums take as many bits less. The shapes
// of the arrays are found once for the widths of weights and input; the output's change only the finish.
#include "tilewright/pipeline/allocate/width_options.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tilewright/pipeline/allocate/stage_options.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/estimate/resource_model.h"
#include "tilewright/pipeline/network/fit_tensors.h"
#include "tilewright/pipeline/network/narrow_scales.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::pipeline {
namespace {

bool undercuts(const synthesis::Resources& a, const synthesis::Resources& b) {
  return a.lut <= b.lut && a.ff <= b.ff && a.dsp <= b.dsp && a.bram <= b.bram && a.uram <= b.uram;
}

bool has_width(const NetworkTensor& tensor) { return !tensor.bipolar && tensor.bits <= 8; }

double share_of_8_bits(int bits) { return double((1 << (bits - 1)) - 1) / 127; }

// The finish of sums and of elements that are shares of the original ones.
LayerFinish with_shares(LayerFinish finish, double sum, double element) {
  for (int32_t& bias : finish.bias) bias = int32_t(std::lround(bias * sum));
  for (Requantization& scale : finish.scale) {
    if (scale.multiplier > 1 || scale.shift >= kTwice)
      scale = encode_scale(std::min(decode_scale(scale) * element / sum, 0x1p30));
  }
  if (finish.bipolar) return finish;
  for (int32_t* value : {&finish.zero_point, &finish.clip_low, &finish.clip_high})
    *value = int32_t(std::lround(*value * element));
  return finish;
}

}  // namespace

WidthOptions::WidthOptions(const Network& network, const Budget& budget, std::vector<double> most_cycles)
    : original_(network),
      budget_(budget),
      most_cycles_(std::move(most_cycles)),
      network_(network),
      facts_(network_facts(network)),
      blanks_({blank_stages(network, budget, false)}) {
  if (can_unroll(network)) blanks_.push_back(blank_stages(network, budget, true));
  Allocation whole = blanks_[0];
  for (LayerAllocation& layer : whole.layers) layer.stage.pf = 1;
  frame_ = bill_resources(frame_bill(network_, whole), budget.family) +
           bill_resources(border_bill(network_, facts_, whole), budget.family);
}

void WidthOptions::set_widths(size_t l, const StageWidths& widths) {
  Layer& layer = network_.layers[l];
  const Layer& original = original_.layers[l];
  const auto set = [&](int id, int bits) {
    NetworkTensor& tensor = network_.tensors[size_t(id)];
    if (!has_width(original_.tensors[size_t(id)])) return;
    const bool border = id == network_.input || id == network_.output;
    tensor.bits = border ? addressed_bits(bits) : bits;
  };
  set(layer.input, widths.input);
  set(layer.output, widths.output);
  if (layer.add) set(layer.add->tensor, widths.output);
  if (network_.number != NumberType::kInteger) return;
  const auto share = [&](int id, int bits) {
    return has_width(original_.tensors[size_t(id)]) ? share_of_8_bits(bits) : 1;
  };
  double sum = share(layer.input, widths.input);
  if (!original.weights.empty() && original.weight_bits <= 8 && !original.weight_bipolar) {
    layer.weight_bits = std::min(widths.weights, original.weight_bits);
    const double weight = share_of_8_bits(widths.weights);
    for (size_t i = 0; i < layer.weights.size(); ++i)
      layer.weights[i] = int32_t(std::lround(original.weights[i] * weight));
    sum *= weight;
  }
  layer.finish = with_shares(original.finish, sum, share(layer.output, widths.output));
  narrow_scales(network_, layer);
}

std::vector<synthesis::Resources> WidthOptions::needs(size_t layer, const StageWidths& widths) {
  set_widths(layer, widths);
  const LayerFacts kept = facts_[layer];
  facts_[layer].accumulator_bits = accumulator_bits(network_, network_.layers[layer]);
  facts_[layer].biased_sum_bits = biased_sum_bits(network_, network_.layers[layer]);
  facts_[layer].multiplier_bits = multiplier_bits(network_.layers[layer]);
  facts_[layer].lowest_weight = has_lowest_weight(network_.layers[layer]);
  const Judge judge(budget_, Objective::kThroughput);
  std::vector<synthesis::Resources> result;
  const bool first = network_.layers[layer].input == network_.input;
  for (size_t i = 0; i < (first ? blanks_.size() : 1); ++i) {
    for (const StageOption& option :
         stage_options(network_, facts_, blanks_[i], layer, judge, true, most_cycles_[layer])) {
      const bool worse = std::any_of(result.begin(), result.end(), [&](const synthesis::Resources& r) {
        return undercuts(r, option.resources);
      });
      if (worse) continue;
      std::erase_if(result, [&](const synthesis::Resources& r) { return undercuts(option.resources, r); });
      result.push_back(option.resources);
    }
  }
  facts_[layer] = kept;
  const Layer& original = original_.layers[layer];
  network_.layers[layer] = original;
  for (const int id : {original.input, original.output, original.add ? original.add->tensor : -1}) {
    if (id >= 0) network_.tensors[size_t(id)] = original_.tensors[size_t(id)];
  }
  return result;
}

}  // namespace tilewright::pipeline
