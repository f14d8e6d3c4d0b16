// A matrix of constants times a vector as a graph of sums that its rows share.
//
// Every node is an unsigned number: its value plus a bias, so that no operand is ever sign-extended. A
// subtracted operand enters as the complement of its own bits, which only moves the bias. What is left of the
// biases is one constant per output. So a sum costs a look-up table for each bit that both operands have, and
// none for bits that one of them has alone: docs/design/pipeline/constant_weights.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::pipeline {

// What a number may be, both ends included.
struct NumberRange {
  int64_t low = 0, high = 0;
  bool operator==(const NumberRange&) const = default;
};

// The bits of two's complement (low < 0) or of an unsigned number that hold the range; at least 1.
int range_bits(const NumberRange& range);

// outputs[r] = (sum over c of at(r, c) * inputs[c]) * factor(r) + offset(r).
struct ConstantMatrix {
  int rows = 0, columns = 0;
  std::vector<int32_t> weights;                     // row by row
  std::vector<int64_t> factors = {}, offsets = {};  // by row; empty: 1 and 0
  int64_t factor(int row) const { return factors.empty() ? 1 : factors[size_t(row)]; }
  int64_t offset(int row) const { return offsets.empty() ? 0 : offsets[size_t(row)]; }
  int32_t at(int row, int column) const { return weights[size_t(row) * size_t(columns) + size_t(column)]; }
};

// The product for a vector, by definition.
std::vector<int64_t> multiply(const ConstantMatrix& matrix, const std::vector<int64_t>& inputs);
// What row `row` may be.
NumberRange row_range(const ConstantMatrix& matrix, int row, const std::vector<NumberRange>& ranges);

// What all nodes have: number = value + bias, in [low, high], in `width` bits.
struct GraphNumber {
  int64_t low = 0, high = 0, bias = 0;
  int width = 0;
  int depth = 0;  // sums on the longest way from an input
};

// The low `width` bits of an input, the highest inverted where its sign is among them (`flipped`).
struct GraphInput : GraphNumber {
  NumberRange range;
  int port_bits = 1;  // of the port: range_bits
  bool flipped = false;
};

// (a << shift_a) + (b << shift_b) or, with `subtract`, (a << shift_a) + ((~b + carry) << shift_b), where ~b
// are b's own bits inverted. One of the shifts is 0. Nodes are inputs, then sums; operands stand before.
struct GraphSum : GraphNumber {
  int a = 0, b = 0;
  int shift_a = 0, shift_b = 0;
  bool subtract = false, carry = false;
  int overlap = 0;   // bits that both operands have; 0: nothing to add
  int inverted = 0;  // bits of b that a does not have, inverted by themselves
  int luts() const { return overlap + inverted; }
};

// (number << shift) + offset or, with `negated`, offset - (number << shift).
struct GraphOutput {
  int node = -1;  // -1: the offset alone
  int shift = 0;
  bool negated = false;
  int64_t offset = 0;
  NumberRange range;
  int bits() const { return range_bits(range); }
  bool is_sum() const { return node >= 0 && (negated || offset != 0); }
};

struct AdderGraph {
  std::vector<GraphInput> inputs;
  std::vector<GraphSum> sums;
  std::vector<GraphOutput> outputs;

  const GraphNumber& number(int node) const {
    return size_t(node) < inputs.size() ? static_cast<const GraphNumber&>(inputs[size_t(node)])
                                        : sums[size_t(node) - inputs.size()];
  }
  // Look-up tables of the sums and of the outputs' constants, as Yosys maps them to AMD's carry chains.
  int64_t luts() const;
  int64_t adders() const;  // sums that add
  // Sums on the longest way to an output, its constant included.
  int depth() const;
  // Every node's bits as the hardware has them. Errors (internal): a number leaves its range.
  std::vector<int64_t> evaluate(const std::vector<int64_t>& values) const;
};

// The node of an input.
GraphInput make_input(const NumberRange& range);
// The cheapest of a + (b << shift), or of a - (b << shift) and its negative (then `negated`); a negative
// shift is one of a. The range is that of the operands'.
struct PlannedSum {
  GraphSum sum;
  bool negated = false;
};
PlannedSum plan_sum(const GraphNumber& a, int node_a, const GraphNumber& b, int node_b, int shift,
                    bool subtract);
// Tables of the constant of an output.
int64_t offset_luts(const GraphOutput& output, const GraphNumber& number);

}  // namespace tilewright::pipeline
