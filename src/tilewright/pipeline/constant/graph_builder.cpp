// Forms are kept for nodes that later sums may read.
#include "tilewright/pipeline/constant/graph_builder.h"

#include <algorithm>
#include <bit>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {

GraphBuilder::GraphBuilder(const std::vector<NumberRange>& ranges) {
  for (const NumberRange& range : ranges) {
    graph_.inputs.push_back(make_input(range));
    forms_.emplace_back(ranges.size(), 0);
    forms_.back()[graph_.inputs.size() - 1] = 1;
  }
}

int GraphBuilder::add(const PlannedSum& plan) {
  GraphSum sum = plan.sum;
  const std::vector<int64_t>& a = forms_[size_t(sum.a)];
  const std::vector<int64_t>& b = forms_[size_t(sum.b)];
  TILEWRIGHT_CHECK(!a.empty() && !b.empty(), "an operand without a form");
  std::vector<int64_t> form(a.size());
  int64_t low = sum.bias, high = sum.bias;
  for (size_t i = 0; i < form.size(); ++i) {
    const int64_t from_b = b[i] << sum.shift_b;
    const int64_t factor = (a[i] << sum.shift_a) + (sum.subtract ? -from_b : from_b);
    form[i] = factor;
    const NumberRange& range = graph_.inputs[i].range;
    low += factor * (factor > 0 ? range.low : range.high);
    high += factor * (factor > 0 ? range.high : range.low);
  }
  TILEWRIGHT_CHECK(low >= sum.low && high <= sum.high, "a sum beyond its operands");
  sum.low = low, sum.high = high;
  sum.width = std::bit_width(uint64_t(high));
  graph_.sums.push_back(sum);
  forms_.push_back(std::move(form));
  return nodes() - 1;
}

ShiftedNode GraphBuilder::join(const ShiftedNode& a, const ShiftedNode& b) {
  const PlannedSum planned = plan(a, b);
  return {add(planned), std::min(a.shift, b.shift), a.negative != planned.negated};
}

void GraphBuilder::forget_forms(int first, int kept) {
  for (int node = first; node < nodes(); ++node) {
    if (node != kept) std::vector<int64_t>().swap(forms_[size_t(node)]);
  }
}

}  // namespace tilewright::pipeline
