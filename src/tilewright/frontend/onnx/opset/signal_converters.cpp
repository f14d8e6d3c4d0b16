// Fourier transforms as products with constant matrices, and the windows and filter banks around them, which
// are constants. Formulas: ONNX operator reference, opsets 17 and 20.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 26;  // of a tensor that is made here

// Input `index` as one known integer of low..high; reports otherwise.
std::optional<int64_t> known_integer(const Node& node, NodeConversion& conversion, int index,
                                     const char* what, int64_t low, int64_t high) {
  const auto tensor = conversion.constant_of(node.input(index));
  if (!tensor || tensor->size() != 1 || !is_integer(tensor->type())) {
    conversion.unsupported(fmt::format("its {} is not one constant integer", what),
                           "export the model with this input as a constant");
    return {};
  }
  const int64_t value = tensor->integer_at(0);
  if (value < low || value > high) {
    conversion.invalid(fmt::format("its {} is {}", what, value),
                       fmt::format("{} to {} are possible", low, high));
    return {};
  }
  return value;
}

void output_constant(Node& node, NodeConversion& conversion, Tensor tensor) {
  conversion.define(node.outputs[0], conversion.constant("constant", std::move(tensor)));
  node.outputs.clear();
}

std::optional<ElementType> output_type(const Node& node, NodeConversion& conversion) {
  const int64_t code = node.int_or("output_datatype", 1);
  const auto type = code < 0 || code > 1000 ? std::nullopt : element_type_from_onnx(int(code));
  if (!type)
    conversion.unsupported(fmt::format("gives {}", onnx_type_name(code < 0 || code > 1000 ? -1 : int(code))));
  return type;
}

struct Transform {
  int64_t taken = 0;   // elements of the input along the axis
  int64_t parts = 1;   // 2: complex
  int64_t length = 0;  // of the transform; what is beyond `taken` counts as 0
  int64_t given = 0;   // elements of the result
  bool inverse = false;
};

// [taken * parts, given * 2]: a row vector times it is the transform.
Tensor fourier_matrix(const Transform& t, ElementType type) {
  Tensor matrix(type, {t.taken * t.parts, t.given * 2});
  const double scale = t.inverse ? 1.0 / double(t.length) : 1.0;
  for (int64_t n = 0; n < t.taken; ++n) {
    for (int64_t k = 0; k < t.given; ++k) {
      const auto turn = double((__int128(n) * k) % t.length) / double(t.length);
      const double cosine = std::cos(2 * M_PI * turn) * scale;
      const double sine = std::sin(2 * M_PI * turn) * scale * (t.inverse ? -1 : 1);
      const int64_t row = n * t.parts * t.given * 2 + k * 2;
      matrix.set_number(row, cosine);
      matrix.set_number(row + 1, -sine);
      if (t.parts == 1) continue;
      matrix.set_number(row + t.given * 2, sine);
      matrix.set_number(row + t.given * 2 + 1, cosine);
    }
  }
  return matrix;
}

bool is_small_enough(const Transform& t, NodeConversion& conversion) {
  if (__int128(t.taken) * t.parts * t.given * 2 <= kMostElements) return true;
  conversion.unsupported(fmt::format("transforms {} elements to {}", t.taken, t.given),
                         "as a product with a matrix it has to stay below 2^26 elements: use shorter frames");
  return false;
}

// Real (1) or complex (2) numbers along the last axis; 0 after an error.
int64_t parts_of(const Shape& shape, NodeConversion& conversion) {
  const int64_t parts = shape.rank() < 2 ? 0 : shape[shape.rank() - 1];
  if (parts == 1 || parts == 2) return parts;
  conversion.invalid(
      fmt::format("transforms {}, whose last axis is neither 1 (real) nor 2 (complex)", to_string(shape)));
  return 0;
}

}  // namespace

void convert_dft(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const Shape shape = s.shape(node.input(0));
  Transform t;
  t.parts = parts_of(shape, conversion);
  if (t.parts == 0) return;
  int64_t axis = node.int_or("axis", 1);
  if (conversion.opset() >= 20) {
    axis = -2;
    if (node.has_input(2)) {
      const auto given = known_integer(node, conversion, 2, "axis", -shape.rank(), shape.rank() - 1);
      if (!given) return;
      axis = *given;
    }
  }
  const auto axes = checked_axes(conversion, {axis}, shape.rank());
  if (!axes) return;
  const int at = axes->front();
  if (at == shape.rank() - 1) return conversion.invalid("transforms the axis of real and imaginary parts");
  t.length = shape[at];
  if (node.has_input(1)) {
    const auto length = known_integer(node, conversion, 1, "length", 1, kMostElements);
    if (!length) return;
    t.length = *length;
  }
  if (t.length < 1) return conversion.invalid("transforms an empty axis");
  t.inverse = node.int_or("inverse", 0) != 0;
  const bool onesided = node.int_or("onesided", 0) != 0;
  if (onesided && t.inverse) return conversion.unsupported("is inverse and one-sided");
  t.taken = std::min(shape[at], t.length);
  t.given = onesided ? t.length / 2 + 1 : t.length;
  if (!is_small_enough(t, conversion)) return;
  // The axis moves to the end, before the parts, and back.
  std::vector<int64_t> there, back(size_t(shape.rank())), dims;
  for (int64_t a = 0; a < shape.rank(); ++a) {
    if (a != at && a != shape.rank() - 1) there.push_back(a);
  }
  there.insert(there.end(), {int64_t(at), int64_t(shape.rank()) - 1});
  for (size_t i = 0; i < there.size(); ++i) back[size_t(there[i])] = int64_t(i);
  for (const int64_t a : there) dims.push_back(shape[int(a)]);
  dims[dims.size() - 2] = t.given;
  dims.back() = 2;
  const ValueId x = s.transpose(s.slice(node.input(0), at, 0, t.taken), there);
  const int64_t rows = shape.element_count() / std::max<int64_t>(1, shape[at] * t.parts);
  const ValueId product = s.op("MatMul", {s.reshape(x, {rows, t.taken * t.parts}),
                                          conversion.constant("fourier", fourier_matrix(t, s.type(x)))});
  conversion.define(node.outputs[0], s.transpose(s.reshape(product, Shape(dims)), back));
  node.outputs.clear();
}

// Signal [batch, length, 1 or 2], step, window, frame length: [batch, frames, given, 2].
void convert_stft(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const Shape shape = s.shape(node.input(0));
  Transform t;
  t.parts = parts_of(shape, conversion);
  if (t.parts == 0) return;
  if (shape.rank() != 3) return conversion.invalid(fmt::format("has a signal of {}", to_string(shape)));
  const auto step = known_integer(node, conversion, 1, "step", 1, kMostElements);
  if (!step) return;
  if (node.has_input(3)) {
    const auto length = known_integer(node, conversion, 3, "frame length", 1, shape[1]);
    if (!length) return;
    t.length = *length;
  } else if (node.has_input(2)) {
    t.length = s.shape(node.input(2)).element_count();
  }
  const bool window_fits = !node.has_input(2) || s.shape(node.input(2)) == Shape{t.length};
  if (t.length < 1 || t.length > shape[1] || !window_fits) {
    return conversion.invalid(fmt::format("has frames of {} for the signal {}, or a window of another length",
                                          t.length, to_string(shape)));
  }
  t.taken = t.length;
  t.given = node.int_or("onesided", 1) != 0 ? t.length / 2 + 1 : t.length;
  const int64_t frames = (shape[1] - t.length) / *step + 1;
  if (!is_small_enough(t, conversion)) return;
  if (__int128(frames) * t.length > kMostElements)
    return conversion.unsupported("has frames of more than 2^26 elements", "use a larger step");
  Tensor indices(ElementType::kI64, {frames, t.length});
  for (int64_t i = 0; i < indices.size(); ++i) indices.set_integer(i, i / t.length * *step + i % t.length);
  ValueId x = s.op("Gather", {node.input(0), conversion.constant("frames", std::move(indices))},
                   {{"axis", int64_t{1}}});
  if (node.has_input(2)) x = s.op("Mul", {x, s.reshape(node.input(2), {t.length, 1})});
  const ValueId product = s.op("MatMul", {s.reshape(x, {shape[0] * frames, t.length * t.parts}),
                                          conversion.constant("fourier", fourier_matrix(t, s.type(x)))});
  conversion.define(node.outputs[0], s.reshape(product, {shape[0], frames, t.given, 2}));
  node.outputs.clear();
}

// a0 - a1 cos(turn) + a2 cos(2 turn), a turn being one period, or one element less where it is symmetric.
void convert_window(Node& node, NodeConversion& conversion) {
  const auto size = known_integer(node, conversion, 0, "size", 0, kMostElements);
  const auto type = output_type(node, conversion);
  if (!size || !type) return;
  const double a0 = node.op == "HannWindow" ? 0.5 : node.op == "HammingWindow" ? 25.0 / 46 : 0.42;
  const double a1 = node.op == "BlackmanWindow" ? 0.5 : 1 - a0, a2 = node.op == "BlackmanWindow" ? 0.08 : 0;
  const double period = double(*size - (node.int_or("periodic", 1) != 0 ? 0 : 1));
  Tensor window(*type, Shape{*size});
  for (int64_t i = 0; i < *size; ++i) {
    const double turn = period > 0 ? 2 * M_PI * double(i) / period : 0;
    window.set_number(i, a0 - a1 * std::cos(turn) + a2 * std::cos(2 * turn));
  }
  output_constant(node, conversion, std::move(window));
}

// Triangles over the bins of a spectrum, their corners equally spaced in mel: [bins, filters].
void convert_mel_weight_matrix(Node& node, NodeConversion& conversion) {
  const auto filters = known_integer(node, conversion, 0, "number of bins", 1, 1 << 16);
  const auto length = known_integer(node, conversion, 1, "length", 1, 1 << 16);
  const auto rate = known_integer(node, conversion, 2, "sample rate", 1, 1 << 30);
  const auto type = output_type(node, conversion);
  if (!filters || !length || !rate || !type) return;
  double edges[2] = {};
  for (const int i : {0, 1}) {
    const auto edge = conversion.constant_of(node.input(3 + i));
    if (!edge || edge->size() != 1)
      return conversion.unsupported("its edge frequencies are not constant numbers");
    edges[i] = 2595 * std::log10(1 + edge->number_at(0) / 700);
  }
  const int64_t bins = *length / 2 + 1;
  const auto corner = [&](int64_t i) {
    const double mel = edges[0] + double(i) * (edges[1] - edges[0]) / double(*filters + 2);
    const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    const double bin = std::floor(double(*length + 1) * hertz / double(*rate));
    return bin >= 0 && bin < double(bins) ? int64_t(bin) : int64_t{-1};
  };
  if (bins * *filters > kMostElements) return conversion.unsupported("has more than 2^26 weights");
  Tensor weights(*type, {bins, *filters});
  for (int64_t f = 0; f < *filters; ++f) {
    const int64_t low = corner(f), centre = corner(f + 1), high = corner(f + 2);
    if (low < 0 || centre < low || high < centre) {
      return conversion.invalid("its edge frequencies are beyond the spectrum",
                                "0 to half the sample rate are possible");
    }
    for (int64_t b = low; b < centre; ++b)
      weights.set_number(b * *filters + f, double(b - low) / double(centre - low));
    weights.set_number(centre * *filters + f, 1);
    for (int64_t b = centre + 1; b < high; ++b)
      weights.set_number(b * *filters + f, double(high - b) / double(high - centre));
  }
  output_constant(node, conversion, std::move(weights));
}

}  // namespace tilewright
