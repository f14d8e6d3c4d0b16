// A table gives each operator one of four forms and says which inputs are activations and weights; the
// builders of workload.h do the rest. Gemm swaps the ranks of a transposed operand afterwards.
#include "tilewright/nest/node_workload.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tilewright {
namespace {

enum class Form { kConvolution, kTransposed, kGemm, kMatMul };

struct Operator {
  const char* domain;
  const char* op;
  Form form;
  int input, weight;  // positions among the node's inputs
};

constexpr std::array<Operator, 13> kOperators = {
    {{"", "Conv", Form::kConvolution, 0, 1},
     {"", "ConvInteger", Form::kConvolution, 0, 1},
     {"", "QLinearConv", Form::kConvolution, 0, 3},
     {kTilewrightDomain, "QConv", Form::kConvolution, 0, 1},
     {"", "ConvTranspose", Form::kTransposed, 0, 1},
     {kTilewrightDomain, "QConvTranspose", Form::kTransposed, 0, 1},
     {"", "Gemm", Form::kGemm, 0, 1},
     {kTilewrightDomain, "QGemm", Form::kGemm, 0, 1},
     {kTilewrightDomain, "FixedConv", Form::kConvolution, 0, 1},
     {kTilewrightDomain, "FixedGemm", Form::kGemm, 0, 1},
     {"", "MatMul", Form::kMatMul, 0, 1},
     {"", "MatMulInteger", Form::kMatMul, 0, 1},
     {"", "QLinearMatMul", Form::kMatMul, 0, 3}}};

std::optional<Workload> convolution(const Node& node, const Shape& x, const Shape& w, Form form,
                                    const WorkloadBits& bits) {
  const bool transposed = form == Form::kTransposed;
  const Window window = transposed ? transposed_window(node, x, w) : convolution_window(node, x, w);
  if (window.rank() > 2) return {};
  ConvShape shape;
  shape.batch = x[0];
  shape.input_channels = x[1];
  shape.group = node.int_or("group", 1);
  shape.output_channels = transposed ? w[1] * shape.group : w[0];
  shape.width = window.axes.back();
  if (window.is_2d()) shape.height = window.height();
  return transposed ? conv2d_transpose_workload(node.name, shape, bits)
                    : conv2d_workload(node.name, shape, bits);
}

std::optional<Workload> gemm(const Node& node, const Shape& a, const Shape& b, const WorkloadBits& bits) {
  if (a.rank() != 2 || b.rank() != 2) return {};
  // QGemm keeps its weights as [O,K], which Gemm calls transB.
  const bool swap_a = node.int_or("transA", 0) != 0;
  const bool swap_b = node.domain.empty() && node.int_or("transB", 0) == 0;
  Workload workload =
      dense_workload(node.name, a[swap_a ? 1 : 0], a[swap_a ? 0 : 1], b[swap_b ? 1 : 0], bits);
  const auto swap_ranks = [&](int space) {
    std::vector<Rank>& ranks = workload.data_spaces[size_t(space)].ranks;
    std::swap(ranks[0], ranks[1]);
  };
  if (swap_a) swap_ranks(kInputSpace);
  if (swap_b) swap_ranks(kWeightSpace);
  return workload;
}

// Product of all sizes but the last two.
int64_t batch_of(const Shape& shape) { return shape.count(0, shape.rank() - 2); }

std::optional<Workload> matmul(const Node& node, Shape a, Shape b, const WorkloadBits& bits) {
  if (a.rank() == 0 || b.rank() == 0) return {};
  if (a.rank() == 1) a = {1, a[0]};
  if (b.rank() == 1) b = {b[0], 1};
  const int ra = a.rank(), rb = b.rank();
  const int64_t m = a[ra - 2], k = a[ra - 1], n = b[rb - 1];
  const int64_t batch_a = batch_of(a), batch_b = batch_of(b);
  if (batch_b == 1) return matmul_workload(node.name, batch_a * m, n, k, bits);
  const bool same_batch = std::equal(a.begin(), a.end() - 2, b.begin(), b.end() - 2);
  if (!same_batch && batch_a != 1) return {};
  Workload workload = batched_matmul_workload(node.name, batch_b, m, n, k, false, bits);
  if (batch_a == 1) {
    std::vector<Rank>& ranks = workload.data_spaces[kInputSpace].ranks;
    ranks.erase(ranks.begin());
  }
  return workload;
}

}  // namespace

std::optional<Workload> node_workload(const Graph& graph, const Node& node) {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& candidate) {
    return node.domain == candidate.domain && node.op == candidate.op;
  });
  if (found == kOperators.end() || !node.has_input(found->input) || !node.has_input(found->weight)) return {};
  const Value& x = graph.value(node.input(found->input));
  const Value& w = graph.value(node.input(found->weight));
  if (x.shape.element_count() == 0 || w.shape.element_count() == 0) return {};
  const int accumulator = node.op.starts_with("Fixed") ? 64 : 32;
  const WorkloadBits bits{bit_width(x.type), bit_width(w.type),
                          is_float(x.type) ? bit_width(x.type) : accumulator};
  switch (found->form) {
    case Form::kConvolution:
    case Form::kTransposed:
      return convolution(node, x.shape, w.shape, found->form, bits);
    case Form::kGemm:
      return gemm(node, x.shape, w.shape, bits);
    case Form::kMatMul:
      return matmul(node, x.shape, w.shape, bits);
  }
  return {};
}

}  // namespace tilewright
