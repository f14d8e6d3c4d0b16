// MatMul and Gemm: oneDNN for f32, plain loops for f64 and integers.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/execution_form.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/onednn.h"

namespace tilewright {
namespace {

using dnnl::memory;

// A batch of matrices as strided views: dims and strides of equal length, the last two being the matrix.
struct MatrixView {
  std::vector<int64_t> dims, strides;
};

MatrixView view(const Shape& shape, bool transposed) {
  MatrixView result{shape.dims(), shape.strides()};
  if (transposed) {
    std::swap(result.dims[result.dims.size() - 2], result.dims.back());
    std::swap(result.strides[result.strides.size() - 2], result.strides.back());
  }
  return result;
}

// Puts axes of size 1 in front, up to `rank` axes.
void widen(MatrixView& m, size_t rank) {
  while (m.dims.size() < rank) {
    m.strides.insert(m.strides.begin(), m.dims.front() * m.strides.front());
    m.dims.insert(m.dims.begin(), 1);
  }
}

struct Product {
  MatrixView a, b;
  Shape c;  // batch axes, M, N
};

Product make_product(MatrixView a, MatrixView b) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  widen(a, rank);
  widen(b, rank);
  const Shape batch = broadcast(Shape(std::vector<int64_t>(a.dims.begin(), a.dims.end() - 2)),
                                Shape(std::vector<int64_t>(b.dims.begin(), b.dims.end() - 2)));
  if (a.dims.back() != b.dims[rank - 2]) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("matrices {} and {} cannot be multiplied",
                                                      fmt::join(a.dims, "x"), fmt::join(b.dims, "x")));
  }
  std::vector<int64_t> dims = batch.dims();
  dims.insert(dims.end(), {a.dims[rank - 2], b.dims[rank - 1]});
  return {std::move(a), std::move(b), Shape(std::move(dims))};
}

// Plain loops, k outside columns, so that rows of b and c are walked in order when b is row-major.
template <typename T>
void multiply(const Product& p, const T* a, const T* b, T* c, int threads) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  const int rank = p.c.rank();
  const int64_t rows = p.c[rank - 2], columns = p.c[rank - 1], depth = p.a.dims.back();
  parallel_for(threads, p.c.count(0, rank - 1), [&](int64_t begin, int64_t end) {
    std::vector<Sum> sums(static_cast<size_t>(columns));
    for (int64_t line = begin; line < end; ++line) {
      int64_t batch = line / rows;
      const T* pa = a + line % rows * p.a.strides[size_t(rank - 2)];
      const T* pb = b;
      for (int axis = rank - 3; axis >= 0; --axis) {
        const int64_t at = batch % p.c[axis];
        batch /= p.c[axis];
        if (p.a.dims[size_t(axis)] != 1) pa += at * p.a.strides[size_t(axis)];
        if (p.b.dims[size_t(axis)] != 1) pb += at * p.b.strides[size_t(axis)];
      }
      std::fill(sums.begin(), sums.end(), Sum{});
      for (int64_t k = 0; k < depth; ++k) {
        const Sum value = Sum(pa[k * p.a.strides.back()]);
        const T* row = pb + k * p.b.strides[size_t(rank - 2)];
        for (int64_t j = 0; j < columns; ++j) sums[size_t(j)] += value * Sum(row[j * p.b.strides.back()]);
      }
      for (int64_t j = 0; j < columns; ++j) c[line * columns + j] = T(sums[size_t(j)]);
    }
  });
}

memory::desc desc(const MatrixView& m) { return memory::desc(m.dims, memory::data_type::f32, m.strides); }

// The product of the first two inputs, of a given shape. In f32, a bias (f32[N], input 2) and the
// post-operations of a node may be part of it.
using Multiply = std::function<Tensor(KernelInputs, int threads)>;

Multiply bind_f32(const Node& node, std::span<const KernelOperand> operands, const Product& p, bool with_bias,
                  int threads) {
  return onednn::guarded([&]() -> Multiply {
    const onednn::ThreadScope scope(threads);
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const memory::desc target = onednn::plain(p.c.dims());
    const onednn::PostOps post(node, operands, 3, target);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    attributes.set_post_ops(post.operations);
    std::vector<int64_t> bias_dims(size_t(p.c.rank()), 1);
    bias_dims.back() = p.c[p.c.rank() - 1];
    const bool repack = operands[1].constant != nullptr;
    const memory::desc weights =
        repack ? memory::desc(p.b.dims, memory::data_type::f32, memory::format_tag::any) : desc(p.b);
    const dnnl::matmul::desc operation =
        with_bias ? dnnl::matmul::desc(desc(p.a), weights, onednn::plain(bias_dims), target)
                  : dnnl::matmul::desc(desc(p.a), weights, target);
    const dnnl::matmul::primitive_desc primitive(operation, attributes, engine);
    const auto runner = std::make_shared<const onednn::Runner>(
        engine, primitive, dnnl::matmul(primitive), onednn::Runner::Layouts{desc(p.a), desc(p.b), target, {}},
        operands[1].constant, post.added);
    return [runner, shape = p.c](KernelInputs inputs, int run_threads) {
      Tensor c = Tensor::uninitialized(ElementType::kF32, shape);
      onednn::guarded([&] { runner->run(inputs, c, run_threads); });
      return c;
    };
  });
}

Multiply bind_plain(const Product& p, ElementType type) {
  return [p, type](KernelInputs inputs, int threads) {
    const Tensor &a = *inputs[0], &b = *inputs[1];
    Tensor c(type, p.c);
    visit_number(type, [&](auto tag) {
      using T = decltype(tag);
      multiply(p, storage<T>(a), storage<T>(b), mutable_storage<T>(c), threads);
    });
    return c;
  };
}

void check_pair(std::span<const KernelOperand> operands) {
  if (operands.size() < 2 || !operands[0].present || !operands[1].present) {
    throw Error(ErrorKind::kInvalidInput, "two matrices are needed");
  }
  if (operands[0].type != operands[1].type) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("matrices of {} and {} cannot be multiplied",
                                                      name(operands[0].type), name(operands[1].type)));
  }
}

bool product_fits_onednn(const Product& p, ElementType type) {
  return type == ElementType::kF32 && p.c.element_count() > 0 && p.a.dims.back() > 0 && p.c.rank() <= 6;
}

BoundKernel bind_matmul(const Node& node, std::span<const KernelOperand> operands,
                        const HostOptions& options) {
  check_pair(operands);
  Shape a = operands[0].shape, b = operands[1].shape;
  if (a.rank() == 0 || b.rank() == 0) throw Error(ErrorKind::kInvalidInput, "a scalar is not a matrix");
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = Shape{1, a[0]};
  if (column) b = Shape{b[0], 1};
  const Product p = make_product(view(a, false), view(b, false));
  std::vector<int64_t> dims = p.c.dims();  // a vector operand's axis of size 1 goes away
  if (column) dims.pop_back();
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  const Multiply multiply = product_fits_onednn(p, operands[0].type)
                                ? bind_f32(node, operands, p, false, options.threads)
                                : bind_plain(p, operands[0].type);
  return [multiply, shape = Shape(dims)](KernelInputs inputs, const HostOptions& run_options) {
    return std::vector<Tensor>{multiply(inputs, run_options.threads).reshaped(shape)};
  };
}

// c = alpha * c + beta * addend, the addend broadcast to c.
Tensor scale_and_add(Tensor c, double alpha, double beta, const Tensor* addend) {
  visit_number(c.type(), [&](auto tag) {
    using T = decltype(tag);
    T* out = mutable_storage<T>(c);
    if (alpha != 1) {
      for (int64_t i = 0; i < c.size(); ++i) out[i] = T(T(alpha) * out[i]);
    }
    if (addend == nullptr || beta == 0) return;
    const Shape shapes[] = {addend->shape()};
    const BroadcastLoop loop(c.shape(), shapes);
    loop.for_each_row([&](int64_t offset, const auto& offsets) {
      const T* in = storage<T>(*addend) + offsets[0];
      for (int64_t i = 0; i < loop.row_length(); ++i) {
        out[offset + i] = T(out[offset + i] + T(beta) * in[i * loop.step(0)]);
      }
    });
  });
  return c;
}

BoundKernel bind_gemm(const Node& node, std::span<const KernelOperand> operands, const HostOptions& options) {
  check_pair(operands);
  const KernelOperand &a = operands[0], &b = operands[1];
  if (a.shape.rank() != 2 || b.shape.rank() != 2) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("inputs {} and {} are not matrices", to_string(a.shape), to_string(b.shape)));
  }
  const Product p = make_product(view(a.shape, node.int_or("transA", 0) != 0),
                                 view(b.shape, node.int_or("transB", 0) != 0));
  const double alpha = double(node.float_or("alpha", 1)), beta = double(node.float_or("beta", 1));
  const bool has_addend = operands.size() > 2 && operands[2].present;
  if (has_addend && (operands[2].type != a.type || operands[2].shape.rank() > 2 ||
                     !broadcasts_to(operands[2].shape, p.c))) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("input 2, {}, does not broadcast to the result {}",
                            to_string(operands[2].type, operands[2].shape), to_string(a.type, p.c)));
  }
  const bool onednn = product_fits_onednn(p, a.type);
  const bool bias = onednn && has_addend && alpha == 1 && beta == 1 &&
                    operands[2].shape.element_count() == p.c[1] && operands[2].shape.rank() > 0 &&
                    operands[2].shape[operands[2].shape.rank() - 1] == p.c[1];
  const Multiply multiply =
      onednn ? bind_f32(node, operands, p, bias, options.threads) : bind_plain(p, a.type);
  return [=](KernelInputs inputs, const HostOptions& run_options) {
    Tensor c = multiply(inputs, run_options.threads);
    if (bias) return std::vector<Tensor>{c};
    return std::vector<Tensor>{scale_and_add(std::move(c), alpha, beta, has_addend ? inputs[2] : nullptr)};
  };
}

constexpr KernelEntry kMatrixKernels[] = {
    {"", "Gemm", nullptr, bind_gemm},
    {"", "MatMul", nullptr, bind_matmul},
    {kHostDomain, "Gemm", nullptr, bind_gemm},
    {kHostDomain, "MatMul", nullptr, bind_matmul},
};

}  // namespace

std::span<const KernelEntry> matrix_kernels() { return kMatrixKernels; }

}  // namespace tilewright
