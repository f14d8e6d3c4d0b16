// Evaluates small graphs in QDQ form in double precision, straight from the ONNX definitions and sharing no
// code with the host engine or the integer operators. Numbers of quantised networks are products of small
// integers and scales, so double precision is exact but for roughly 1e-15 relative.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/graph/window.h"

namespace tilewright {

class ExactEvaluator {
 public:
  struct Result {
    std::vector<double> numbers;    // quantised values: the integers
    std::vector<double> unrounded;  // of a QuantizeLinear: before rounding and saturation
  };

  explicit ExactEvaluator(const Graph& graph) : graph_(graph) {}

  const Result& run(ValueId wanted, const std::vector<Tensor>& inputs) {
    for (ValueId v = 0; v < ValueId(graph_.values.size()); ++v) {
      if (graph_.is_constant(v)) results_[v].numbers = numbers_of(*graph_.value(v).constant);
    }
    for (size_t i = 0; i < inputs.size(); ++i) results_[graph_.inputs[i]].numbers = numbers_of(inputs[i]);
    for (const Node& node : graph_.nodes) results_[node.outputs[0]] = evaluate(node);
    return results_.at(wanted);
  }

 private:
  static std::vector<double> numbers_of(const Tensor& tensor) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < tensor.size(); ++i) numbers.push_back(tensor.number_at(i));
    return numbers;
  }
  const Shape& shape(ValueId v) const { return graph_.value(v).shape; }
  const std::vector<double>& in(const Node& node, int i) { return results_.at(node.input(i)).numbers; }

  Result evaluate(const Node& node) {
    const Shape& y = shape(node.outputs[0]);
    const int64_t count = y.element_count();
    if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear") return convert(node, count);
    if (node.op == "Conv") return {convolution(node, y), {}};
    if (node.op == "ConvTranspose") return {transposed(node, y), {}};
    if (node.op == "Gemm" || node.op == "MatMul") return {dense(node, y), {}};
    if (node.op == "AveragePool" || node.op == "GlobalAveragePool" || node.op == "MaxPool")
      return {pool(node, y), {}};
    if (node.op == "Reshape" || node.op == "Flatten") return {in(node, 0), {}};
    if (node.op == "Concat") return {concat(node, y), {}};
    std::vector<double> result = in(node, 0);
    for (size_t i = 0; i < result.size(); ++i) {
      if (node.op == "Relu") {
        result[i] = std::max(result[i], 0.0);
      } else if (node.op == "Clip") {
        result[i] = std::clamp(result[i], in(node, 1)[0], in(node, 2)[0]);
      } else if (node.op == "Add") {
        result[i] += in(node, 1)[i];
      } else if (node.op == "Sub") {
        result[i] -= in(node, 1)[i];
      } else {
        throw Error(ErrorKind::kInternal, "the exact evaluator does not know " + node.op);
      }
    }
    return {result, {}};
  }

  Result convert(const Node& node, int64_t count) {
    const std::vector<double>&x = in(node, 0), &scales = in(node, 1), &zeros = in(node, 2);
    const Shape& x_shape = shape(node.input(0));
    const int64_t axis = scales.size() == 1 ? 0 : node.int_or("axis", 1);
    const int64_t inner = scales.size() == 1 ? 1 : x_shape.count(int(axis) + 1, x_shape.rank());
    const ElementType type = graph_.value(node.outputs[0]).type;
    Result result;
    for (int64_t i = 0; i < count; ++i) {
      const size_t c = scales.size() == 1 ? 0 : size_t(i / inner) % scales.size();
      if (node.op == "DequantizeLinear") {
        result.numbers.push_back((x[size_t(i)] - zeros[c]) * scales[c]);
        continue;
      }
      double quotient = x[size_t(i)] / scales[c];
      // What comes from outside is a float, and ONNX divides it by the scale as floats.
      if (is_graph_input(node.input(0))) quotient = float(x[size_t(i)]) / float(scales[c]);
      result.unrounded.push_back(quotient + zeros[c]);
      const double rounded = std::nearbyint(quotient) + zeros[c];
      result.numbers.push_back(std::clamp(rounded, double(lowest(type)), double(highest(type))));
    }
    return result;
  }

  bool is_graph_input(ValueId v) const {
    return std::find(graph_.inputs.begin(), graph_.inputs.end(), v) != graph_.inputs.end();
  }
  double bias(const Node& node, int64_t o) { return node.has_input(2) ? in(node, 2)[size_t(o)] : 0.0; }

  std::vector<double> convolution(const Node& node, const Shape& y) {
    const Shape &x = shape(node.input(0)), &w = shape(node.input(1));
    const Window window = convolution_window(node, x, w);
    const int64_t per_group = y[1] / node.int_or("group", 1);
    std::vector<double> result;
    for (int64_t i = 0; i < y.element_count(); ++i) {
      const int64_t column = i % y[3], row = i / y[3] % y[2], o = i / y.count(2, 4) % y[1],
                    n = i / y.count(1, 4);
      double sum = bias(node, o);
      for (int64_t k = 0; k < w.count(1, 4); ++k) {
        const int64_t kc = k % w[3], kr = k / w[3] % w[2], c = o / per_group * w[1] + k / w.count(2, 4);
        const int64_t r = window.height().input_index(row, kr), q = window.width().input_index(column, kc);
        if (r < 0 || r >= x[2] || q < 0 || q >= x[3]) continue;
        sum += in(node, 0)[size_t(((n * x[1] + c) * x[2] + r) * x[3] + q)] *
               in(node, 1)[size_t(o * w.count(1, 4) + k)];
      }
      result.push_back(sum);
    }
    return result;
  }

  std::vector<double> transposed(const Node& node, const Shape& y) {
    const Shape &x = shape(node.input(0)), &w = shape(node.input(1));
    const Window window = transposed_window(node, x, w);
    const int64_t groups = node.int_or("group", 1), per_group = x[1] / groups;
    std::vector<double> result;
    for (int64_t i = 0; i < y.element_count(); ++i) result.push_back(bias(node, i / y.count(2, 4) % y[1]));
    for (int64_t i = 0; i < x.element_count(); ++i) {
      const int64_t column = i % x[3], row = i / x[3] % x[2], c = i / x.count(2, 4) % x[1],
                    n = i / x.count(1, 4);
      for (int64_t k = 0; k < w.count(1, 4); ++k) {
        const int64_t kc = k % w[3], kr = k / w[3] % w[2], o = c / per_group * w[1] + k / w.count(2, 4);
        const int64_t r = window.height().output_index(row, kr), q = window.width().output_index(column, kc);
        if (r < 0 || r >= y[2] || q < 0 || q >= y[3]) continue;
        result[size_t(((n * y[1] + o) * y[2] + r) * y[3] + q)] +=
            in(node, 0)[size_t(i)] * in(node, 1)[size_t(c * w.count(1, 4) + k)];
      }
    }
    return result;
  }

  std::vector<double> dense(const Node& node, const Shape& y) {
    const bool turned = node.int_or("transB", 0) != 0;
    const Shape& w = shape(node.input(1));
    const int64_t outputs = y[y.rank() - 1], depth = w[turned ? 1 : 0];
    std::vector<double> result;
    for (int64_t i = 0; i < y.element_count(); ++i) {
      const int64_t o = i % outputs, n = i / outputs;
      double sum = node.op == "Gemm" ? bias(node, o) : 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += in(node, 0)[size_t(n * depth + k)] *
               in(node, 1)[size_t(turned ? o * depth + k : k * outputs + o)];
      }
      result.push_back(sum);
    }
    return result;
  }

  std::vector<double> pool(const Node& node, const Shape& y) {
    const Shape& x = shape(node.input(0));
    const Window window = node.op == "GlobalAveragePool" ? global_window(node, x) : pool_window(node, x);
    std::vector<double> result;
    for (int64_t i = 0; i < y.element_count(); ++i) {
      const int64_t column = i % y[3], row = i / y[3] % y[2], plane = i / y.count(2, 4);
      double sum = 0, largest = -1e300;
      for (int64_t k = 0; k < window.kernel_elements(); ++k) {
        const int64_t kc = k % window.width().kernel, kr = k / window.width().kernel;
        const int64_t r = window.height().input_index(row, kr), q = window.width().input_index(column, kc);
        if (r < 0 || r >= x[2] || q < 0 || q >= x[3]) continue;  // zero in an average that counts padding
        const double number = in(node, 0)[size_t((plane * x[2] + r) * x[3] + q)];
        sum += number;
        largest = std::max(largest, number);
      }
      result.push_back(node.op == "MaxPool" ? largest : sum / double(window.kernel_elements()));
    }
    return result;
  }

  std::vector<double> concat(const Node& node, const Shape& y) {
    const int axis = normalize_axis(node.int_or("axis", 0), y.rank());
    std::vector<double> result;
    for (int64_t outer = 0; outer < y.count(0, axis); ++outer) {
      for (ValueId v : node.inputs) {
        const int64_t run = shape(v).count(axis, y.rank());
        const auto from = results_.at(v).numbers.begin() + outer * run;
        result.insert(result.end(), from, from + run);
      }
    }
    return result;
  }

  const Graph& graph_;
  std::map<ValueId, Result> results_;
};

}  // namespace tilewright
