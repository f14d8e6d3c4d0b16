// Steps that work element by element or move elements.
#include <algorithm>
#include <utility>

#include "tilewright/host/broadcast_loop.h"
#include "tilewright/quantize/finetune/training_pass.h"
#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {
namespace {

class ClipStep : public TrainingStep {
 public:
  ClipStep(const StepOperands& operands, std::pair<float, float> interval)
      : x_(operands.inputs[0].place),
        y_(operands.output.place),
        low_(interval.first),
        high_(interval.second) {}

  void forwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[x_];
    Numbers& y = pass.values[y_];
    for (size_t i = 0; i < x.size(); ++i) y[i] = std::min(std::max(x[i], low_), high_);
  }
  void backwards(TrainingPass& pass) const override {
    const Numbers &x = pass.values[x_], &dy = pass.gradients[y_];
    Numbers& dx = pass.gradients[x_];
    for (size_t i = 0; i < x.size(); ++i) dx[i] += x[i] > low_ && x[i] < high_ ? dy[i] : 0.0f;
  }

 private:
  size_t x_, y_;
  float low_, high_;
};

class SumStep : public TrainingStep {
 public:
  explicit SumStep(const StepOperands& operands)
      : a_(operands.inputs[0].place), b_(operands.inputs[1].place), y_(operands.output.place) {}

  void forwards(TrainingPass& pass) const override {
    const Numbers &a = pass.values[a_], &b = pass.values[b_];
    Numbers& y = pass.values[y_];
    for (size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
  }
  void backwards(TrainingPass& pass) const override {
    const Numbers& dy = pass.gradients[y_];
    for (const size_t operand : {a_, b_}) {
      Numbers& dx = pass.gradients[operand];
      for (size_t i = 0; i < dy.size(); ++i) dx[i] += dy[i];
    }
  }

 private:
  size_t a_, b_, y_;
};

// A constant, given for each element of a run, is added.
class OffsetStep : public TrainingStep {
 public:
  OffsetStep(const StepOperands& operands, Numbers offsets)
      : x_(operands.inputs[0].place), y_(operands.output.place), offsets_(std::move(offsets)) {}

  void forwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[x_];
    Numbers& y = pass.values[y_];
    const size_t size = offsets_.size();
    for (size_t run = 0; run < size_t(pass.runs); ++run) {
      for (size_t i = 0; i < size; ++i) y[run * size + i] = x[run * size + i] + offsets_[i];
    }
  }
  void backwards(TrainingPass& pass) const override {
    const Numbers& dy = pass.gradients[y_];
    Numbers& dx = pass.gradients[x_];
    for (size_t i = 0; i < dy.size(); ++i) dx[i] += dy[i];
  }

 private:
  size_t x_, y_;
  Numbers offsets_;
};

// Element i of a run's result is element source[i] of its operand.
class OrderStep : public TrainingStep {
 public:
  OrderStep(const StepOperands& operands, std::vector<int64_t> source)
      : x_(operands.inputs[0].place), y_(operands.output.place), source_(std::move(source)) {}

  void forwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[x_];
    Numbers& y = pass.values[y_];
    const size_t size = source_.size();
    for (size_t run = 0; run < size_t(pass.runs); ++run) {
      for (size_t i = 0; i < size; ++i) y[run * size + i] = x[run * size + size_t(source_[i])];
    }
  }
  void backwards(TrainingPass& pass) const override {
    const Numbers& dy = pass.gradients[y_];
    Numbers& dx = pass.gradients[x_];
    const size_t size = source_.size();
    for (size_t run = 0; run < size_t(pass.runs); ++run) {
      for (size_t i = 0; i < size; ++i) dx[run * size + size_t(source_[i])] += dy[run * size + i];
    }
  }

 private:
  size_t x_, y_;
  std::vector<int64_t> source_;
};

std::vector<int64_t> transposed_order(const Node& node, const Shape& x, const Shape& y) {
  std::vector<int64_t> reversed;
  for (int axis = x.rank() - 1; axis >= 0; --axis) reversed.push_back(axis);
  const std::vector<int64_t> axes = node.ints_or("perm", reversed), strides = x.strides();
  std::vector<int64_t> source(size_t(y.element_count())), index(size_t(y.rank()), 0);
  for (int64_t& from : source) {
    from = 0;
    for (size_t a = 0; a < index.size(); ++a) from += index[a] * strides[size_t(axes[a])];
    for (size_t a = index.size(); a-- > 0;) {
      if (++index[a] < y[int(a)]) break;
      index[a] = 0;
    }
  }
  return source;
}

std::unique_ptr<TrainingStep> order_step(const Node& node, const StepOperands& operands) {
  if (node.is("Transpose")) {
    return std::make_unique<OrderStep>(
        operands, transposed_order(node, operands.inputs[0].shape, operands.output.shape));
  }
  for (const char* same : {"Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity"}) {
    if (!node.is(same)) continue;
    std::vector<int64_t> source(size_t(operands.output.size));
    for (size_t i = 0; i < source.size(); ++i) source[i] = int64_t(i);
    return std::make_unique<OrderStep>(operands, std::move(source));
  }
  return nullptr;
}

std::unique_ptr<TrainingStep> sum_step(const Graph& graph, const Node& node, const StepOperands& operands) {
  if (operands.inputs.size() == 2) {
    if (operands.inputs[0].shape != operands.inputs[1].shape) return nullptr;
    return std::make_unique<SumStep>(operands);
  }
  const Tensor* const constant = graph.constant_input(node, graph.is_constant(node.input(0)) ? 0 : 1);
  if (operands.inputs[0].shape != operands.output.shape) return nullptr;
  Numbers offsets;
  const Shape shapes[] = {constant->shape()};
  const BroadcastLoop loop(operands.output.shape, shapes);
  loop.for_each_row([&](int64_t, const auto& places) {
    for (int64_t i = 0; i < loop.row_length(); ++i)
      offsets.push_back(float(constant->number_at(places[0] + i * loop.step(0))));
  });
  return std::make_unique<OffsetStep>(operands, std::move(offsets));
}

}  // namespace

std::unique_ptr<TrainingStep> training_step(const Graph& graph, const Node& node,
                                            const StepOperands& operands) {
  if (operands.inputs.empty() || node.outputs.size() != 1) return nullptr;
  if (operands.weights >= 0) {
    return node.is("Conv") ? convolution_step(graph, node, operands) : product_step(graph, node, operands);
  }
  if (const auto interval = clip_interval(graph, node))
    return std::make_unique<ClipStep>(operands, *interval);
  if (node.is("Add")) return sum_step(graph, node, operands);
  if (auto step = order_step(node, operands)) return step;
  return pooling_step(graph, node, operands);
}

}  // namespace tilewright
