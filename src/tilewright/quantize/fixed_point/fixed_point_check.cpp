// Each layer is computed a second time from the inputs that the executor shows, with its sums recorded.
#include "tilewright/quantize/fixed_point/fixed_point_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "tilewright/host/executor.h"
#include "tilewright/host/integer/fixed_layers.h"
#include "tilewright/quantize/calibrate/calibration.h"

namespace tilewright {
namespace {

double largest_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (const int32_t value : tensor.data<int32_t>()) largest = std::max(largest, std::abs(double(value)));
  return largest;
}

// The largest sum of weight magnitudes of one output channel.
double largest_row(const Tensor& weights) {
  const int64_t rows = weights.shape()[0], depth = weights.size() / std::max<int64_t>(rows, 1);
  const auto data = weights.data<int32_t>();
  double largest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += std::abs(double(data[size_t(row * depth + k)]));
    largest = std::max(largest, sum);
  }
  return largest;
}

// A node under observation.
struct Watched {
  const Node* node = nullptr;
  size_t row = 0;  // in FixedPointCheck::nodes
  FixedFinish finish;
  std::shared_ptr<const FixedWeights> weights;
  double weight_sum = 0;
};

class Checker {
 public:
  Checker(const Graph& graph, int threads) : graph_(graph), threads_(threads) {
    for (const Node& node : graph.nodes) watch(node);
  }

  void observe(ValueId id, const Tensor& tensor) {
    live_[id] = tensor;
    const auto found = watched_.find(id);
    if (found == watched_.end()) return;
    const Watched& watched = found->second;
    FixedPointUse& use = check_.nodes[watched.row];
    use.outputs += tensor.size();
    if (watched.weights) {
      layer(watched, use);
    } else if (watched.node->op == "FixedAdd") {
      addition(watched, use);
    } else {
      encoding(watched, use);
    }
  }
  void end_of_run() { live_.clear(); }
  FixedPointCheck result() const { return check_; }

 private:
  void watch(const Node& node) {
    const bool layer = node.is_tilewright("FixedConv") || node.is_tilewright("FixedGemm");
    if (!layer && !node.is_tilewright("FixedAdd") && !node.is_tilewright("FixedEncode")) return;
    Watched watched;
    watched.node = &node;
    watched.row = check_.nodes.size();
    watched.finish = {
        int(node.int_or("fraction", 0)),
        {int32_t(node.int_or("clip_low", INT32_MIN)), int32_t(node.int_or("clip_high", INT32_MAX))}};
    if (layer && graph_.is_constant(node.input(1)) && graph_.is_constant(node.input(2))) {
      const Tensor& weights = *graph_.constant_input(node, 1);
      watched.weights = std::make_shared<FixedWeights>(weights, node.int_or("group", 1));
      watched.weight_sum = largest_row(weights);
    } else if (layer) {
      return;  // made by somebody else, with computed weights
    }
    check_.nodes.push_back({node.name, node.op});
    watched_.emplace(node.outputs[0], std::move(watched));
  }

  const Tensor& input(const Node& node, int index) const {
    const ValueId id = node.input(index);
    return graph_.is_constant(id) ? *graph_.value(id).constant : live_.at(id);
  }

  void layer(const Watched& watched, FixedPointUse& use) {
    const Node& node = *watched.node;
    const Tensor &x = input(node, 0), &bias = input(node, 2);
    FixedExtremes seen;
    if (node.op == "FixedConv") {
      const Window window = convolution_window(node, x.shape(), input(node, 1).shape());
      watched.weights->convolve(x, window, bias, watched.finish, threads_, &seen);
    } else {
      watched.weights->multiply(x, bias, watched.finish, threads_, &seen);
    }
    const int fraction = watched.finish.fraction;
    use.saturated += seen.saturated;
    use.largest_sum = std::max(use.largest_sum, std::ldexp(double(seen.largest_sum), -2 * fraction));
    const double bound = largest_magnitude(x) * watched.weight_sum +
                         std::ldexp(largest_magnitude(bias), fraction) + std::ldexp(1, fraction);
    use.may_wrap |= bound >= 0x1p63;
  }

  void addition(const Watched& watched, FixedPointUse& use) {
    const auto a = input(*watched.node, 0).data<int32_t>(), b = input(*watched.node, 1).data<int32_t>();
    const FixedClip& clip = watched.finish.clip;
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t sum = int64_t{a[i]} + b[i];
      use.saturated +=
          (sum > INT32_MAX && clip.high == INT32_MAX) || (sum < INT32_MIN && clip.low == INT32_MIN);
    }
  }

  void encoding(const Watched& watched, FixedPointUse& use) {
    const double high = std::ldexp(1, 31 - watched.finish.fraction);
    for (const float x : input(*watched.node, 0).data<float>()) {
      use.saturated += double(x) >= high || double(x) < -high;
    }
  }

  const Graph& graph_;
  const int threads_;
  FixedPointCheck check_;
  std::map<ValueId, Watched> watched_;  // by what they compute
  std::map<ValueId, Tensor> live_;
};

}  // namespace

int64_t FixedPointCheck::saturated() const {
  int64_t sum = 0;
  for (const FixedPointUse& use : nodes) sum += use.saturated;
  return sum;
}

bool FixedPointCheck::may_wrap() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const FixedPointUse& use) { return use.may_wrap; });
}

std::string to_string(const FixedPointCheck& check) {
  double largest = 0;
  int64_t outputs = 0;
  for (const FixedPointUse& use : check.nodes) {
    largest = std::max(largest, use.largest_sum);
    outputs += use.outputs;
  }
  std::string text =
      fmt::format("largest sum {:.6g}; {} of {} results saturate{}\n", largest, check.saturated(), outputs,
                  check.may_wrap() ? "; sums may wrap" : "; no sum wraps");
  for (const FixedPointUse& use : check.nodes) {
    if (use.saturated == 0 && !use.may_wrap) continue;
    text += fmt::format("node '{}' ({}): {} of {} results saturate, largest sum {:.6g}{}\n", use.node, use.op,
                        use.saturated, use.outputs, use.largest_sum, use.may_wrap ? ", may wrap" : "");
  }
  return text;
}

FixedPointCheck check_fixed_point(const Graph& fixed, const std::vector<Tensor>& samples, int threads) {
  const SampleInputs inputs(fixed, samples);
  const Executor executor(fixed, HostOptions{threads});
  Checker checker(executor.graph(), threads);
  for (int64_t run = 0; run < inputs.runs(); ++run) {
    executor.run(inputs.inputs(run), [&](ValueId id, const Tensor& tensor) { checker.observe(id, tensor); });
    checker.end_of_run();
  }
  return checker.result();
}

}  // namespace tilewright
