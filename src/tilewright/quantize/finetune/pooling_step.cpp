// Windows over planes. A window's mean is a sum of shares, the maximum hands its gradient to the first
// element that has it.
#include <algorithm>
#include <optional>

#include "tilewright/graph/window.h"
#include "tilewright/quantize/finetune/training_pass.h"

namespace tilewright {
namespace {

struct PlaneWindows {
  int64_t planes = 1, inputs = 1;              // of a run; elements of one
  std::vector<std::vector<int32_t>> elements;  // of each window
  std::vector<float> shares;                   // of each element in the mean; empty: the maximum is wanted
};

PlaneWindows plane_windows(const Window& window, const Shape& x) {
  PlaneWindows result;
  result.planes = x[0] * x[1];
  result.inputs = x.count(2, x.rank());
  const WindowAxis one;
  const WindowAxis &height = window.is_2d() ? window.height() : one, &width = window.axes.back();
  for (int64_t y = 0; y < height.output; ++y) {
    for (int64_t column = 0; column < width.output; ++column) {
      std::vector<int32_t> own;
      for (int64_t ky = 0; ky < height.kernel; ++ky) {
        for (int64_t kx = 0; kx < width.kernel; ++kx) {
          const int64_t row = height.input_index(y, ky), place = width.input_index(column, kx);
          if (row < 0 || row >= height.input || place < 0 || place >= width.input) continue;
          own.push_back(int32_t(row * width.input + place));
        }
      }
      result.elements.push_back(std::move(own));
    }
  }
  return result;
}

class PoolingStep : public TrainingStep {
 public:
  PoolingStep(const StepOperands& operands, PlaneWindows windows)
      : x_(operands.inputs[0].place), y_(operands.output.place), windows_(std::move(windows)) {}

  void forwards(TrainingPass& pass) const override {
    Numbers& y = pass.values[y_];
    for_each_window(pass, [&](const float* plane, size_t result, size_t window, int64_t) {
      y[result] = windows_.shares.empty() ? plane[largest(plane, window)] : mean(plane, window);
    });
  }
  void backwards(TrainingPass& pass) const override {
    const Numbers& dy = pass.gradients[y_];
    Numbers& dx = pass.gradients[x_];
    for_each_window(pass, [&](const float* plane, size_t result, size_t window, int64_t first) {
      if (windows_.shares.empty()) {
        dx[size_t(first) + largest(plane, window)] += dy[result];
        return;
      }
      const float share = dy[result] * windows_.shares[window];
      for (const int32_t element : windows_.elements[window]) dx[size_t(first + element)] += share;
    });
  }

 private:
  template <typename Body>
  void for_each_window(const TrainingPass& pass, const Body& body) const {
    const Numbers& x = pass.values[x_];
    const size_t count = windows_.elements.size();
    for (int64_t plane = 0; plane < pass.runs * windows_.planes; ++plane) {
      const int64_t first = plane * windows_.inputs;
      for (size_t window = 0; window < count; ++window)
        body(x.data() + first, size_t(plane) * count + window, window, first);
    }
  }
  size_t largest(const float* plane, size_t window) const {
    const std::vector<int32_t>& own = windows_.elements[window];
    return size_t(
        *std::max_element(own.begin(), own.end(), [&](int32_t a, int32_t b) { return plane[a] < plane[b]; }));
  }
  float mean(const float* plane, size_t window) const {
    float sum = 0;
    for (const int32_t element : windows_.elements[window]) sum += plane[element];
    return sum * windows_.shares[window];
  }

  const size_t x_, y_;
  const PlaneWindows windows_;
};

bool averages_space(const Node& node, int rank) {
  if (node.is("GlobalAveragePool")) return true;
  if (!node.is("ReduceMean")) return false;
  std::vector<int64_t> axes = node.ints_or("axes", {}), space;
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  for (int axis = 2; axis < rank; ++axis) space.push_back(axis);
  return axes == space;
}

}  // namespace

std::unique_ptr<TrainingStep> pooling_step(const Graph&, const Node& node, const StepOperands& operands) {
  const Shape& x = operands.inputs[0].shape;
  if (x.rank() != 3 && x.rank() != 4) return nullptr;
  if (averages_space(node, x.rank())) {
    PlaneWindows windows = plane_windows(global_window(node, x), x);
    windows.shares.assign(1, 1 / float(windows.inputs));
    return std::make_unique<PoolingStep>(operands, std::move(windows));
  }
  if (!node.is("MaxPool") && !node.is("AveragePool")) return nullptr;
  const Window window = pool_window(node, x);
  PlaneWindows windows = plane_windows(window, x);
  const bool empty = std::any_of(windows.elements.begin(), windows.elements.end(),
                                 [](const auto& own) { return own.empty(); });
  if (empty) return nullptr;
  if (node.is("AveragePool")) {
    const bool whole = node.int_or("count_include_pad", 0) != 0;
    if (whole && node.int_or("ceil_mode", 0) != 0) return nullptr;
    for (const auto& own : windows.elements)
      windows.shares.push_back(1 / float(whole ? window.kernel_elements() : int64_t(own.size())));
  }
  return std::make_unique<PoolingStep>(operands, std::move(windows));
}

}  // namespace tilewright
