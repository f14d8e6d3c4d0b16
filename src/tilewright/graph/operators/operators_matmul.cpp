// Matrix products: Gemm, MatMul (numpy rules for any rank) and the integer forms.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

struct GemmSizes {
  int64_t m, n, k;
};

GemmSizes gemm_sizes(const OperatorContext& context) {
  require_rank(context, 0, 2);
  require_rank(context, 1, 2);
  const Shape &a = context.shape(0), &b = context.shape(1);
  const bool transpose_a = context.node().int_or("transA", 0) != 0;
  const bool transpose_b = context.node().int_or("transB", 0) != 0;
  const GemmSizes sizes{transpose_a ? a[1] : a[0], transpose_b ? b[0] : b[1], transpose_a ? a[0] : a[1]};
  if (sizes.k != (transpose_b ? b[1] : b[0])) {
    reject(context,
           fmt::format("{}{} times {}{}: the inner sizes differ", to_string(a),
                       transpose_a ? " (transposed)" : "", to_string(b), transpose_b ? " (transposed)" : ""));
  }
  return sizes;
}

std::vector<TypedShape> infer_gemm(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  require_same_type(context, 0, 1);
  const GemmSizes sizes = gemm_sizes(context);
  const Shape shape{sizes.m, sizes.n};
  if (context.has(2)) {
    require_same_type(context, 0, 2);
    require_broadcastable_to(context, 2, shape);
  }
  return only(context.type(0), shape);
}

Shape without_last(const Shape& shape, int count) { return Shape({shape.begin(), shape.end() - count}); }

// Numpy: a vector on the left is a row, on the right a column, and its axis disappears from the result.
Shape product_shape(const OperatorContext& context, int a_index, int b_index) {
  const Shape &a = context.shape(a_index), &b = context.shape(b_index);
  if (a.rank() == 0 || b.rank() == 0) reject(context, "a scalar is not a matrix");
  const int64_t k = a[a.rank() - 1];
  if (k != b[std::max(b.rank() - 2, 0)]) {
    reject(context, fmt::format("{} times {}: the inner sizes differ", to_string(a), to_string(b)));
  }
  const Shape batch = broadcast_inputs(context, without_last(a, std::min(a.rank(), 2)),
                                       without_last(b, std::min(b.rank(), 2)));
  std::vector<int64_t> dims = batch.dims();
  if (a.rank() > 1) dims.push_back(a[a.rank() - 2]);
  if (b.rank() > 1) dims.push_back(b[b.rank() - 1]);
  return Shape(std::move(dims));
}

std::vector<TypedShape> infer_matmul(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  require_same_type(context, 0, 1);
  return only(context.type(0), product_shape(context, 0, 1));
}

// A zero point or scale: one for all, or one per row of the left (column of the right) operand.
void require_scalar_or_per(const OperatorContext& context, int index, int64_t length) {
  if (saturating_count(context.shape(index)) == 1) return;
  require_vector(context, index, length);
}

int64_t rows(const Shape& a) { return a.rank() > 1 ? a[a.rank() - 2] : 1; }
int64_t columns(const Shape& b) { return b.rank() > 1 ? b[b.rank() - 1] : 1; }

std::vector<TypedShape> infer_matmul_integer(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kByte);
  require_class(context, 1, TypeClass::kByte);
  const Shape shape = product_shape(context, 0, 1);
  for (int i : {2, 3}) {
    if (!context.has(i)) continue;
    require_same_type(context, i - 2, i);
    require_scalar_or_per(context, i, i == 2 ? rows(context.shape(0)) : columns(context.shape(1)));
  }
  return only(ElementType::kI32, shape);
}

std::vector<TypedShape> infer_qlinear_matmul(const OperatorContext& context) {
  for (int i : {0, 3, 7}) require_class(context, i, TypeClass::kByte);
  for (int i : {1, 4, 6}) require_class(context, i, TypeClass::kFloat);
  require_same_type(context, 0, 2);
  require_same_type(context, 3, 5);
  const Shape shape = product_shape(context, 0, 3);
  for (int i : {1, 2, 6, 7}) require_scalar_or_per(context, i, rows(context.shape(0)));
  for (int i : {4, 5}) require_scalar_or_per(context, i, columns(context.shape(3)));
  return only(context.type(7), shape);
}

int64_t product_macs(const OperatorContext& context, std::span<const TypedShape> outputs) {
  const Shape& a = context.shape(0);
  return saturating_multiply(saturating_count(outputs[0].shape), a[a.rank() - 1]);
}

int64_t gemm_macs(const OperatorContext& context, std::span<const TypedShape> outputs) {
  return saturating_multiply(saturating_count(outputs[0].shape), gemm_sizes(context).k);
}

}  // namespace

void add_matmul_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kFloat = AttributeKind::kFloat;
  table.push_back({"",
                   "Gemm",
                   2,
                   3,
                   1,
                   1,
                   {{"alpha", kFloat}, {"beta", kFloat}, {"transA", kInt}, {"transB", kInt}},
                   infer_gemm,
                   gemm_macs});
  table.push_back({"", "MatMul", 2, 2, 1, 1, {}, infer_matmul, product_macs});
  table.push_back({"", "MatMulInteger", 2, 4, 1, 1, {}, infer_matmul_integer, product_macs});
  table.push_back({"", "QLinearMatMul", 8, 8, 1, 1, {}, infer_qlinear_matmul, product_macs});
}

}  // namespace tilewright
