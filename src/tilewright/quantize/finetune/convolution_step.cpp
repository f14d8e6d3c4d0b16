// A product of the weights with the columns of a picture's windows for each group; a group of one channel
// goes tap by tap. Columns are made again on the way back, which costs less than keeping them.
#include <algorithm>

#include "tilewright/graph/window.h"
#include "tilewright/host/matrix_product.h"
#include "tilewright/quantize/finetune/training_pass.h"

namespace tilewright {
namespace {

struct ConvolutionSizes {
  WindowAxis height, width;
  int64_t images = 1, groups = 1, channels = 0, outputs = 0;  // the last two of a group
  int64_t taps() const { return height.kernel * width.kernel; }
  int64_t places() const { return height.output * width.output; }
  int64_t plane() const { return height.input * width.input; }
  int64_t depth() const { return channels * taps(); }
  bool pointwise() const {
    const auto whole = [](const WindowAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.input == axis.output && axis.pad_begin == 0;
    };
    return whole(height) && whole(width);
  }
};

// Outputs [first, last) of an axis read within the input at tap k.
std::pair<int64_t, int64_t> outputs_inside(const WindowAxis& axis, int64_t k) {
  int64_t first = 0, last = axis.output;
  while (first < last && axis.input_index(first, k) < 0) ++first;
  while (last > first && axis.input_index(last - 1, k) >= axis.input) --last;
  return {first, last};
}

// Calls body(tap, output place, input place, number) for rows of places, input places `stride` apart.
template <typename Body>
void for_each_tap_row(const ConvolutionSizes& s, const Body& body) {
  for (int64_t ky = 0; ky < s.height.kernel; ++ky) {
    const auto [top, bottom] = outputs_inside(s.height, ky);
    for (int64_t kx = 0; kx < s.width.kernel; ++kx) {
      const auto [left, right] = outputs_inside(s.width, kx);
      if (left >= right) continue;
      for (int64_t y = top; y < bottom; ++y) {
        body(ky * s.width.kernel + kx, y * s.width.output + left,
             s.height.input_index(y, ky) * s.width.input + s.width.input_index(left, kx), right - left);
      }
    }
  }
}

void gather_columns(const ConvolutionSizes& s, const float* image, float* columns) {
  std::fill(columns, columns + s.depth() * s.places(), 0.0f);
  for (int64_t c = 0; c < s.channels; ++c) {
    const float* const plane = image + c * s.plane();
    float* const own = columns + c * s.taps() * s.places();
    for_each_tap_row(s, [&](int64_t tap, int64_t to, int64_t from, int64_t count) {
      float* const row = own + tap * s.places() + to;
      for (int64_t i = 0; i < count; ++i) row[i] = plane[from + i * s.width.stride];
    });
  }
}

void scatter_columns(const ConvolutionSizes& s, const float* columns, float* image) {
  for (int64_t c = 0; c < s.channels; ++c) {
    float* const plane = image + c * s.plane();
    const float* const own = columns + c * s.taps() * s.places();
    for_each_tap_row(s, [&](int64_t tap, int64_t to, int64_t from, int64_t count) {
      const float* const row = own + tap * s.places() + to;
      for (int64_t i = 0; i < count; ++i) plane[from + i * s.width.stride] += row[i];
    });
  }
}

void depthwise_forwards(const ConvolutionSizes& s, const float* x, const float* weights, float* y) {
  const int64_t stride = s.width.stride;
  for_each_tap_row(s, [&](int64_t tap, int64_t to, int64_t from, int64_t count) {
    const float weight = weights[tap];
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) y[to + i] += weight * x[from + i];
    } else {
      for (int64_t i = 0; i < count; ++i) y[to + i] += weight * x[from + i * stride];
    }
  });
}

void depthwise_backwards(const ConvolutionSizes& s, const float* x, const float* weights, const float* dy,
                         float* dx, float* dweights) {
  const int64_t stride = s.width.stride;
  for_each_tap_row(s, [&](int64_t tap, int64_t to, int64_t from, int64_t count) {
    const float weight = weights[tap];
    float sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum += dy[to + i] * x[from + i * stride];
      dx[from + i * stride] += weight * dy[to + i];
    }
    dweights[tap] += sum;
  });
}

class ConvolutionStep : public TrainingStep {
 public:
  ConvolutionStep(const StepOperands& operands, const ConvolutionSizes& sizes)
      : operands_(operands), s_(sizes) {}

  void forwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[operands_.inputs[0].place];
    Numbers& y = pass.values[operands_.output.place];
    const Numbers& weights = (*pass.trained)[size_t(operands_.weights)];
    pass.scratch.resize(std::max(pass.scratch.size(), size_t(s_.depth() * s_.places())));
    const int64_t outputs = s_.groups * s_.outputs;
    for (int64_t image = 0; image < pass.runs * s_.images; ++image) {
      float* const to = y.data() + image * outputs * s_.places();
      for (int64_t o = 0; o < outputs; ++o) {
        const float bias = operands_.bias < 0 ? 0 : (*pass.trained)[size_t(operands_.bias)][size_t(o)];
        std::fill(to + o * s_.places(), to + (o + 1) * s_.places(), bias);
      }
      for (int64_t g = 0; g < s_.groups; ++g) {
        const float* const from = x.data() + (image * s_.groups + g) * s_.channels * s_.plane();
        const float* const own = weights.data() + g * s_.outputs * s_.depth();
        float* const result = to + g * s_.outputs * s_.places();
        if (s_.channels == 1) {
          for (int64_t o = 0; o < s_.outputs; ++o)
            depthwise_forwards(s_, from, own + o * s_.taps(), result + o * s_.places());
          continue;
        }
        multiply_matrices(s_.outputs, s_.places(), s_.depth(), {own, s_.depth(), false},
                          {columns_of(pass, from), s_.places(), false}, result, s_.places(), true);
      }
    }
  }

  void backwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[operands_.inputs[0].place];
    Numbers& dx = pass.gradients[operands_.inputs[0].place];
    const Numbers& dy = pass.gradients[operands_.output.place];
    const Numbers& weights = (*pass.trained)[size_t(operands_.weights)];
    Numbers& dweights = (*pass.trained_gradients)[size_t(operands_.weights)];
    const int64_t outputs = s_.groups * s_.outputs;
    for (int64_t image = 0; image < pass.runs * s_.images; ++image) {
      if (operands_.bias >= 0) add_to_bias(pass, dy.data() + image * outputs * s_.places());
      for (int64_t g = 0; g < s_.groups; ++g) {
        const int64_t first = (image * s_.groups + g) * s_.channels * s_.plane();
        const float* const given = dy.data() + (image * outputs + g * s_.outputs) * s_.places();
        const float* const own = weights.data() + g * s_.outputs * s_.depth();
        float* const down = dweights.data() + g * s_.outputs * s_.depth();
        if (s_.channels == 1) {
          for (int64_t o = 0; o < s_.outputs; ++o) {
            depthwise_backwards(s_, x.data() + first, own + o * s_.taps(), given + o * s_.places(),
                                dx.data() + first, down + o * s_.taps());
          }
          continue;
        }
        multiply_matrices(s_.outputs, s_.depth(), s_.places(), {given, s_.places(), false},
                          {columns_of(pass, x.data() + first), s_.places(), true}, down, s_.depth(), true);
        if (s_.pointwise()) {
          multiply_matrices(s_.depth(), s_.places(), s_.outputs, {own, s_.depth(), true},
                            {given, s_.places(), false}, dx.data() + first, s_.places(), true);
          continue;
        }
        multiply_matrices(s_.depth(), s_.places(), s_.outputs, {own, s_.depth(), true},
                          {given, s_.places(), false}, pass.scratch.data(), s_.places(), false);
        scatter_columns(s_, pass.scratch.data(), dx.data() + first);
      }
    }
  }

 private:
  const float* columns_of(TrainingPass& pass, const float* image) const {
    if (s_.pointwise()) return image;
    gather_columns(s_, image, pass.scratch.data());
    return pass.scratch.data();
  }
  void add_to_bias(TrainingPass& pass, const float* given) const {
    Numbers& bias = (*pass.trained_gradients)[size_t(operands_.bias)];
    for (size_t o = 0; o < bias.size(); ++o) {
      float sum = 0;
      for (int64_t i = 0; i < s_.places(); ++i) sum += given[int64_t(o) * s_.places() + i];
      bias[o] += sum;
    }
  }

  const StepOperands operands_;
  const ConvolutionSizes s_;
};

}  // namespace

std::unique_ptr<TrainingStep> convolution_step(const Graph& graph, const Node& node,
                                               const StepOperands& operands) {
  const Shape& x = operands.inputs[0].shape;
  const Shape& weights = graph.constant_input(node, 1)->shape();
  if (x.rank() != 3 && x.rank() != 4) return nullptr;
  const Window window = convolution_window(node, x, weights);
  ConvolutionSizes sizes;
  sizes.width = window.axes.back();
  if (window.is_2d()) sizes.height = window.height();
  sizes.images = x[0];
  sizes.groups = node.int_or("group", 1);
  sizes.channels = weights[1];
  sizes.outputs = weights[0] / sizes.groups;
  return std::make_unique<ConvolutionStep>(operands, sizes);
}

}  // namespace tilewright
