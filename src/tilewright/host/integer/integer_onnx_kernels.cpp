// The integer operators of ONNX: ConvInteger, QLinearConv, MatMulInteger, QLinearMatMul. Weights minus their
// zero points go through the same products as the tilewright operators; a matrix product A x B is a 1x1
// convolution with the weights A over an image with the channels and columns of B.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tilewright/host/integer/integer_finish.h"
#include "tilewright/host/integer/integer_node.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

bool is_byte(ElementType type) { return type == ElementType::kI8 || type == ElementType::kU8; }

void require_byte(const Tensor& tensor) {
  if (!is_byte(tensor.type())) throw_unsupported_type(tensor.type());
}

const Tensor* optional_input(KernelInputs inputs, size_t index) {
  return has_input(inputs, index) ? inputs[index] : nullptr;
}

// A scale or zero point: one number, or one for each of `count`.
int64_t pick_index(const Tensor& tensor, int64_t index, int64_t count, const char* what) {
  if (tensor.size() != 1 && tensor.size() != count) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} has {} numbers, 1 or {} are needed", what, tensor.size(), count));
  }
  return tensor.size() == 1 ? 0 : index;
}

int32_t zero_point_of(const Tensor* tensor, const char* what) {
  if (tensor == nullptr) return 0;
  return int32_t(tensor->integer_at(pick_index(*tensor, 0, 1, what)));
}

float scale_of(const Tensor& tensor, int64_t index, int64_t count, const char* what) {
  return float(tensor.number_at(pick_index(tensor, index, count, what)));
}

void accumulate_lanes(const int32_t* acc, uint32_t base, int64_t count, void* out) {
  auto* to = static_cast<int32_t*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = int32_t(uint32_t(acc[i]) + base);
}

struct PreparedOnnxConvolution {
  IntegerConvolution convolution;
  Shape out_shape;
};

PreparedOnnxConvolution prepare(const Node& node, const Shape& x, const Tensor& weights,
                                const Tensor* zero_point) {
  require_byte(weights);
  const int64_t group = checked_group(node, x, weights.shape());
  const Window window = convolution_window(node, x, weights.shape());
  const int64_t channels = weights.shape()[0];
  std::vector<int16_t> values = weight_values(weights);
  if (zero_point != nullptr) {
    const int64_t per_channel = weights.size() / channels;
    for (int64_t o = 0; o < channels; ++o) {
      const int64_t zero =
          zero_point->integer_at(pick_index(*zero_point, o, channels, "the weight zero point"));
      for (int64_t k = 0; k < per_channel; ++k) {
        int16_t& value = values[size_t(o * per_channel + k)];
        value = int16_t(value - zero);
      }
    }
  }
  return {IntegerConvolution::forward(conv_shape(window, x, channels, group), values),
          window.output_shape(x[0], channels)};
}

// Prepared when the graph is bound if the weights are constant; otherwise for each run.
class LazyConvolution {
 public:
  LazyConvolution(const Node& node, std::span<const KernelOperand> operands, size_t weights,
                  size_t zero_point)
      : node_(&node), weights_(weights), zero_point_(zero_point) {
    const bool has_zero_point = zero_point < operands.size() && operands[zero_point].present;
    if (weights >= operands.size() || !operands[0].present || operands[weights].constant == nullptr ||
        (has_zero_point && operands[zero_point].constant == nullptr)) {
      return;
    }
    prepared_ = std::make_shared<PreparedOnnxConvolution>(
        prepare(node, operands[0].shape, *operands[weights].constant,
                has_zero_point ? operands[zero_point].constant : nullptr));
  }

  std::shared_ptr<const PreparedOnnxConvolution> get(KernelInputs inputs) const {
    if (prepared_) return prepared_;
    return std::make_shared<PreparedOnnxConvolution>(prepare(*node_, required_input(inputs, 0).shape(),
                                                             required_input(inputs, weights_),
                                                             optional_input(inputs, zero_point_)));
  }

 private:
  const Node* node_;
  size_t weights_, zero_point_;
  std::shared_ptr<const PreparedOnnxConvolution> prepared_;
};

BoundKernel bind_conv_integer(const Node& node, std::span<const KernelOperand> operands, const HostOptions&) {
  return [lazy = LazyConvolution(node, operands, 1, 3)](KernelInputs inputs, const HostOptions& options) {
    const Tensor& x = required_input(inputs, 0);
    require_byte(x);
    const auto prepared = lazy.get(inputs);
    const int32_t zero = zero_point_of(optional_input(inputs, 2), "the input zero point");
    Tensor y(ElementType::kI32, prepared->out_shape);
    prepared->convolution.run(
        x, zero, zero,
        [](int64_t, const int32_t* acc, uint32_t base, int64_t count, void* out) {
          accumulate_lanes(acc, base, count, out);
        },
        y, options.threads);
    return std::vector<Tensor>{std::move(y)};
  };
}

// Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias.
std::vector<Tensor> run_qlinear_conv(const PreparedOnnxConvolution& prepared, KernelInputs inputs,
                                     const HostOptions& options) {
  const Tensor &x = required_input(inputs, 0), &y_zero = required_input(inputs, 7);
  require_byte(x);
  require_byte(y_zero);
  const int64_t channels = prepared.out_shape[1];
  const int32_t x_zero = zero_point_of(&required_input(inputs, 2), "the input zero point");
  const int32_t y_zero_point = zero_point_of(&y_zero, "the output zero point");
  const float x_scale = scale_of(required_input(inputs, 1), 0, 1, "the input scale");
  const float y_scale = scale_of(required_input(inputs, 6), 0, 1, "the output scale");
  const Tensor* bias = optional_input(inputs, 8);
  if (bias != nullptr && (bias->type() != ElementType::kI32 || bias->size() != channels)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("the bias must be i32[{}], is {}", channels,
                                                      to_string(bias->type(), bias->shape())));
  }
  std::vector<float> scales;
  std::vector<uint32_t> biases;
  for (int64_t o = 0; o < channels; ++o) {
    const float w_scale = scale_of(required_input(inputs, 4), o, channels, "the weight scale");
    scales.push_back(x_scale * w_scale / y_scale);
    biases.push_back(bias == nullptr ? 0 : uint32_t(bias->data<int32_t>()[size_t(o)]));
  }
  const bool is_signed_output = y_zero.type() == ElementType::kI8;
  Tensor y(y_zero.type(), prepared.out_shape);
  prepared.convolution.run(
      x, x_zero, x_zero,
      [&](int64_t channel, const int32_t* acc, uint32_t base, int64_t count, void* out) {
        const float scale = scales[size_t(channel)];
        base += biases[size_t(channel)];
        if (is_signed_output) {
          scale_lanes(acc, base, count, scale, y_zero_point, static_cast<int8_t*>(out));
        } else {
          scale_lanes(acc, base, count, scale, y_zero_point, static_cast<uint8_t*>(out));
        }
      },
      y, options.threads);
  return {std::move(y)};
}

BoundKernel bind_qlinear_conv(const Node& node, std::span<const KernelOperand> operands, const HostOptions&) {
  return [lazy = LazyConvolution(node, operands, 3, 5)](KernelInputs inputs, const HostOptions& options) {
    return run_qlinear_conv(*lazy.get(inputs), inputs, options);
  };
}

// The shapes of a product with the rules of numpy.matmul.
struct MatrixShapes {
  Shape a, b;  // of rank 2 and more
  Shape batch;
  Shape out;  // without the axes that one-dimensional operands do not have
  int64_t rows = 0, depth = 0, columns = 0;
};

MatrixShapes matrix_shapes(const Shape& a, const Shape& b) {
  MatrixShapes m{a, b, {}, {}};
  if (a.rank() == 0 || b.rank() == 0) throw Error(ErrorKind::kInvalidInput, "matrices must not be scalars");
  if (a.rank() == 1) m.a = {1, a[0]};
  if (b.rank() == 1) m.b = {b[0], 1};
  const int ra = m.a.rank(), rb = m.b.rank();
  m.rows = m.a[ra - 2];
  m.depth = m.a[ra - 1];
  m.columns = m.b[rb - 1];
  if (m.b[rb - 2] != m.depth) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("matrices {} and {} do not fit", to_string(a), to_string(b)));
  }
  m.batch = broadcast(Shape(std::vector<int64_t>(m.a.begin(), m.a.end() - 2)),
                      Shape(std::vector<int64_t>(m.b.begin(), m.b.end() - 2)));
  std::vector<int64_t> out = m.batch.dims();
  if (a.rank() > 1) out.push_back(m.rows);
  if (b.rank() > 1) out.push_back(m.columns);
  m.out = Shape(std::move(out));
  return m;
}

// Which matrix of an operand of shape `operand` batch element `index` of `batch` uses.
int64_t matrix_index(const Shape& operand, const Shape& batch, int64_t index) {
  const int own = operand.rank() - 2, skipped = batch.rank() - own;
  int64_t result = 0, scale = 1;
  for (int axis = batch.rank() - 1; axis >= skipped; --axis) {
    const int64_t size = operand[axis - skipped];
    if (size != 1) result += index % batch[axis] * scale;
    scale *= size;
    index /= batch[axis];
  }
  return result;
}

// One matrix of a larger tensor, as a tensor of the given number of elements.
Tensor slice_integers(const Tensor& tensor, int64_t index, int64_t elements) {
  Tensor part(tensor.type(), {elements});
  std::ranges::copy(tensor.bytes().subspan(size_t(index * elements), size_t(elements)),
                    part.mutable_bytes().begin());
  return part;
}

// sum over k of (A - a_zero) * (B - b_zero) as i32; zero points of A are one or one per row, those of B one
// or one per column.
Tensor integer_product(const Tensor& a, const Tensor* a_zero, const Tensor& b, const Tensor* b_zero,
                       const MatrixShapes& m, int threads) {
  require_byte(a);
  require_byte(b);
  Tensor y(ElementType::kI32, {m.batch.element_count(), m.rows, m.columns});
  const auto out = y.mutable_data<int32_t>();
  const bool b_zero_varies = b_zero != nullptr && b_zero->size() != 1;
  const int32_t zero = b_zero_varies ? 0 : zero_point_of(b_zero, "the zero point of B");
  for (int64_t n = 0; n < m.batch.element_count(); ++n) {
    const Tensor a_part = slice_integers(a, matrix_index(m.a, m.batch, n), m.rows * m.depth);
    const Tensor b_part = slice_integers(b, matrix_index(m.b, m.batch, n), m.depth * m.columns);
    std::vector<int16_t> values = weight_values(a_part);
    std::vector<uint32_t> row_sums(size_t(m.rows), 0);
    for (int64_t r = 0; r < m.rows; ++r) {
      const int64_t a_zero_point =
          a_zero == nullptr ? 0 : a_zero->integer_at(pick_index(*a_zero, r, m.rows, "the zero point of A"));
      for (int64_t k = 0; k < m.depth; ++k) {
        int16_t& value = values[size_t(r * m.depth + k)];
        value = int16_t(value - a_zero_point);
        row_sums[size_t(r)] += uint32_t(int32_t(value));
      }
    }
    IntegerConvShape shape{1, m.depth, m.rows, 1, {}, {}};
    shape.width.input = shape.width.output = m.columns;
    Tensor part(ElementType::kI32, {m.rows, m.columns});
    IntegerConvolution::forward(shape, values)
        .run(
            b_part, zero, zero,
            [](int64_t, const int32_t* acc, uint32_t base, int64_t count, void* to) {
              accumulate_lanes(acc, base, count, to);
            },
            part, threads);
    const auto sums = part.data<int32_t>();
    for (int64_t i = 0; i < m.rows * m.columns; ++i) {
      uint32_t sum = uint32_t(sums[size_t(i)]);
      if (b_zero_varies) {
        const int64_t column = pick_index(*b_zero, i % m.columns, m.columns, "the zero point of B");
        sum -= uint32_t(b_zero->integer_at(column)) * row_sums[size_t(i / m.columns)];
      }
      out[size_t(n * m.rows * m.columns + i)] = int32_t(sum);
    }
  }
  return y;
}

std::vector<Tensor> matmul_integer(const Node&, KernelInputs inputs, const HostOptions& options) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  const MatrixShapes m = matrix_shapes(a.shape(), b.shape());
  return {integer_product(a, optional_input(inputs, 2), b, optional_input(inputs, 3), m, options.threads)
              .reshaped(m.out)};
}

// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
std::vector<Tensor> qlinear_matmul(const Node&, KernelInputs inputs, const HostOptions& options) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 3);
  const Tensor &a_scale = required_input(inputs, 1), &b_scale = required_input(inputs, 4);
  const Tensor& y_zero = required_input(inputs, 7);
  require_byte(y_zero);
  const MatrixShapes m = matrix_shapes(a.shape(), b.shape());
  const Tensor sums =
      integer_product(a, &required_input(inputs, 2), b, &required_input(inputs, 5), m, options.threads);
  const float y_scale = scale_of(required_input(inputs, 6), 0, 1, "the output scale");
  const int32_t y_zero_point = zero_point_of(&y_zero, "the output zero point");
  Tensor y(y_zero.type(), m.out);
  const int32_t* from = sums.data<int32_t>().data();
  std::byte* to = y.mutable_bytes().data();
  // Runs of one scale: whole rows, unless B has a scale for each column.
  const int64_t run = b_scale.size() == 1 ? m.columns : 1;
  for (int64_t i = 0; i < y.size(); i += run) {
    const float sa = scale_of(a_scale, i / m.columns % m.rows, m.rows, "the scale of A");
    const float sb = scale_of(b_scale, i % m.columns, m.columns, "the scale of B");
    const float scale = sa * sb / y_scale;
    if (y_zero.type() == ElementType::kI8) {
      scale_lanes(from + i, 0, run, scale, y_zero_point, reinterpret_cast<int8_t*>(to + i));
    } else {
      scale_lanes(from + i, 0, run, scale, y_zero_point, reinterpret_cast<uint8_t*>(to + i));
    }
  }
  return {std::move(y)};
}

constexpr KernelEntry kIntegerOnnxKernels[] = {
    {"", "ConvInteger", nullptr, bind_conv_integer},
    {"", "MatMulInteger", matmul_integer},
    {"", "QLinearConv", nullptr, bind_qlinear_conv},
    {"", "QLinearMatMul", qlinear_matmul},
};

}  // namespace

std::span<const KernelEntry> integer_onnx_kernels() { return kIntegerOnnxKernels; }

}  // namespace tilewright
