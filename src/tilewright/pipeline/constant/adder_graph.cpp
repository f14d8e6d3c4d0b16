// The arithmetic of biased numbers. An operand's bits are [shift, shift + width); outside them it is zero,
// also where it is subtracted.
#include "tilewright/pipeline/constant/adder_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {
namespace {

int64_t all_ones(int width) { return (int64_t{1} << width) - 1; }
int width_of(int64_t high) { return std::bit_width(uint64_t(high)); }
uint64_t low_mask(int bits) { return (uint64_t{1} << bits) - 1; }

// Bits [low, top) that lie outside [other_low, other_top).
int bits_outside(int low, int top, int other_low, int other_top) {
  return std::max(0, top - std::max(other_top, low)) + std::max(0, std::min(other_low, top) - low);
}

}  // namespace

int range_bits(const NumberRange& range) {
  if (range.low >= 0) return std::max(1, width_of(range.high));
  return 1 + width_of(std::max(~range.low, std::max<int64_t>(range.high, 0)));
}

std::vector<int64_t> multiply(const ConstantMatrix& matrix, const std::vector<int64_t>& inputs) {
  std::vector<int64_t> outputs(size_t(matrix.rows), 0);
  for (int row = 0; row < matrix.rows; ++row) {
    for (int column = 0; column < matrix.columns; ++column) {
      outputs[size_t(row)] += matrix.at(row, column) * inputs[size_t(column)];
    }
    outputs[size_t(row)] = outputs[size_t(row)] * matrix.factor(row) + matrix.offset(row);
  }
  return outputs;
}

NumberRange row_range(const ConstantMatrix& matrix, int row, const std::vector<NumberRange>& ranges) {
  NumberRange sum;
  for (int column = 0; column < matrix.columns; ++column) {
    const int64_t weight = matrix.at(row, column);
    const NumberRange& range = ranges[size_t(column)];
    sum.low += weight * (weight > 0 ? range.low : range.high);
    sum.high += weight * (weight > 0 ? range.high : range.low);
  }
  sum.low = sum.low * matrix.factor(row) + matrix.offset(row);
  sum.high = sum.high * matrix.factor(row) + matrix.offset(row);
  return sum;
}

GraphInput make_input(const NumberRange& range) {
  GraphInput input;
  input.range = range;
  input.port_bits = range_bits(range);
  if (range.low < 0 && range.high >= 0) {
    input.flipped = true;
    input.width = input.port_bits;
    input.bias = int64_t{1} << (input.width - 1);
  } else {  // the high bits that never change are a constant
    while (range.low >> input.width != range.high >> input.width) ++input.width;
    input.bias = -((range.low >> input.width) << input.width);
  }
  input.low = range.low + input.bias;
  input.high = range.high + input.bias;
  return input;
}

PlannedSum plan_sum(const GraphNumber& a, int node_a, const GraphNumber& b, int node_b, int shift,
                    bool subtract) {
  PlannedSum plan;
  GraphSum& sum = plan.sum;
  const GraphNumber* first = &a;
  const GraphNumber* second = &b;
  sum.a = node_a, sum.b = node_b;
  sum.shift_a = shift < 0 ? -shift : 0, sum.shift_b = shift < 0 ? 0 : shift;
  const auto outside = [](const GraphNumber& of, int of_shift, const GraphNumber& other, int other_shift) {
    return bits_outside(of_shift, of_shift + of.width, other_shift, other_shift + other.width);
  };
  if (subtract && outside(a, sum.shift_a, b, sum.shift_b) < outside(b, sum.shift_b, a, sum.shift_a)) {
    std::swap(sum.a, sum.b), std::swap(sum.shift_a, sum.shift_b), std::swap(first, second);
    plan.negated = true;
  }
  sum.overlap = std::max(0, std::min(sum.shift_a + first->width, sum.shift_b + second->width) -
                                std::max(sum.shift_a, sum.shift_b));
  sum.depth = std::max(a.depth, b.depth) + (sum.overlap > 0 ? 1 : 0);
  sum.low = first->low << sum.shift_a, sum.high = first->high << sum.shift_a;
  sum.bias = first->bias << sum.shift_a;
  if (subtract) {
    sum.subtract = true;
    sum.carry = sum.overlap > 0 && sum.shift_a <= sum.shift_b;
    sum.inverted = outside(*second, sum.shift_b, *first, sum.shift_a);
    const int64_t top = all_ones(second->width) + (sum.carry ? 1 : 0);
    sum.low += (top - second->high) << sum.shift_b;
    sum.high += (top - second->low) << sum.shift_b;
    sum.bias += (top - second->bias) << sum.shift_b;
  } else {
    sum.low += second->low << sum.shift_b;
    sum.high += second->high << sum.shift_b;
    sum.bias += second->bias << sum.shift_b;
  }
  sum.width = width_of(sum.high);
  return plan;
}

int64_t offset_luts(const GraphOutput& output, const GraphNumber& number) {
  const int bits = output.bits() - output.shift;
  if (output.node < 0 || !output.is_sum() || bits <= 0) return 0;
  const uint64_t constant = uint64_t(output.offset >> output.shift) & low_mask(bits);
  const uint64_t has = low_mask(std::min(bits, number.width));
  // A carry chain whose other operand is constant: bits are inverted where that is 1 (or, negated, 0).
  return std::popcount(has & (output.negated ? ~constant : constant));
}

int64_t AdderGraph::luts() const {
  int64_t total = 0;
  for (const GraphSum& sum : sums) total += sum.luts();
  for (const GraphOutput& output : outputs) {
    if (output.node >= 0) total += offset_luts(output, number(output.node));
  }
  return total;
}

int64_t AdderGraph::adders() const {
  return std::count_if(sums.begin(), sums.end(), [](const GraphSum& sum) { return sum.overlap > 0; });
}

int AdderGraph::depth() const {
  int deepest = 0;
  for (const GraphOutput& output : outputs) {
    if (output.node < 0) continue;
    deepest = std::max(deepest, number(output.node).depth + (output.is_sum() ? 1 : 0));
  }
  return deepest;
}

std::vector<int64_t> AdderGraph::evaluate(const std::vector<int64_t>& values) const {
  std::vector<int64_t> numbers(inputs.size() + sums.size());
  const auto keep = [&](size_t node, int64_t value) {
    const GraphNumber& range = number(int(node));
    if (value < range.low || value > range.high || value > all_ones(range.width)) {
      throw Error(ErrorKind::kInternal, fmt::format("node {} is {}, outside [{}, {}] in {} bits", node, value,
                                                    range.low, range.high, range.width));
    }
    numbers[node] = value;
  };
  for (size_t i = 0; i < inputs.size(); ++i) keep(i, values[i] + inputs[i].bias);
  for (size_t i = 0; i < sums.size(); ++i) {
    const GraphSum& sum = sums[i];
    int64_t b = numbers[size_t(sum.b)];
    if (sum.subtract) b = all_ones(number(sum.b).width) - b + (sum.carry ? 1 : 0);
    keep(inputs.size() + i, (numbers[size_t(sum.a)] << sum.shift_a) + (b << sum.shift_b));
  }
  std::vector<int64_t> results;
  for (const GraphOutput& output : outputs) {
    const int64_t shifted = output.node < 0 ? 0 : numbers[size_t(output.node)] << output.shift;
    results.push_back(output.negated ? output.offset - shifted : output.offset + shifted);
  }
  return results;
}

}  // namespace tilewright::pipeline
