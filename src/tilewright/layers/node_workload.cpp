// Convolutions and dense layers are what node_geometry says; the builders of nest/workload.h do the rest.
// Gemm swaps the ranks of a transposed operand afterwards.
#include "tilewright/layers/node_workload.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tilewright/graph/operator_class.h"
#include "tilewright/layers/node_geometry.h"

namespace tilewright {
namespace {

Workload convolution_nest(const Node& node, const NodeGeometry& geometry, const WorkloadBits& bits) {
  ConvShape shape;
  shape.batch = geometry.batch;
  shape.input_channels = geometry.input_channels;
  shape.group = geometry.group;
  shape.output_channels = geometry.output_channels;
  shape.width = geometry.window.axes.back();
  if (geometry.window.is_2d()) shape.height = geometry.window.height();
  return operator_function(node) == OperatorFunction::kTransposedConvolution
             ? conv2d_transpose_workload(node.name, shape, bits)
             : conv2d_workload(node.name, shape, bits);
}

Workload dense_nest(const Node& node, const NodeGeometry& geometry, const WorkloadBits& bits) {
  Workload workload =
      dense_workload(node.name, geometry.batch, geometry.input_channels, geometry.output_channels, bits);
  const auto swap_ranks = [&](int space) {
    std::vector<Rank>& ranks = workload.data_spaces[size_t(space)].ranks;
    std::swap(ranks[0], ranks[1]);
  };
  if (node.int_or("transA", 0) != 0) swap_ranks(kInputSpace);
  if (node.domain.empty() && node.int_or("transB", 0) == 0) swap_ranks(kWeightSpace);
  return workload;
}

// Product of all sizes but the last two.
int64_t leading_size(const Shape& shape) { return shape.count(0, shape.rank() - 2); }

// nullopt where the batch axes broadcast only in part. Ranks of at least 1.
std::optional<Workload> matrix_nest(const Node& node, Shape a, Shape b, const WorkloadBits& bits) {
  if (a.rank() == 1) a = {1, a[0]};
  if (b.rank() == 1) b = {b[0], 1};
  const int ra = a.rank(), rb = b.rank();
  const int64_t m = a[ra - 2], k = a[ra - 1], n = b[rb - 1];
  const int64_t batch_a = leading_size(a), batch_b = leading_size(b);
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

std::optional<Workload> node_workload(const Graph& graph, const Node& node, Diagnostics& refusals) {
  const auto refuse = [&](const std::string& reason) -> std::optional<Workload> {
    refusals.error(ErrorKind::kUnsupported, where(node), node.op, reason);
    return std::nullopt;
  };
  const OperatorTraits& traits = operator_traits(node);
  const int weights = weight_input(node);
  if (traits.kind != OperatorClass::kProduct || !node.has_input(0) || !node.has_input(weights))
    return refuse("no loop nest for this operator");
  const Value &x = graph.value(node.input(0)), &w = graph.value(node.input(weights));
  if (x.shape.element_count() == 0 || w.shape.element_count() == 0)
    return refuse("no loop nest over an empty tensor");
  const int accumulator = traits.numbers == OperatorNumbers::kFixed ? 64 : 32;
  const WorkloadBits bits{bit_width(x.type), bit_width(w.type),
                          is_float(x.type) ? bit_width(x.type) : accumulator};
  if (traits.function == OperatorFunction::kMatrixProduct) {
    if (x.shape.rank() == 0 || w.shape.rank() == 0) return refuse("no loop nest over a scalar");
    Shape right = w.shape;
    if (node.int_or("transpose_b", 0) != 0) std::swap(right[right.rank() - 1], right[right.rank() - 2]);
    std::optional<Workload> product = matrix_nest(node, x.shape, right, bits);
    return product ? std::move(product) : refuse("no loop nest for batch axes that broadcast in part");
  }
  const std::optional<NodeGeometry> geometry = node_geometry(graph, node);
  if (!geometry) return refuse("no loop nest for a dense layer of other ranks than 2");
  if (traits.function == OperatorFunction::kDense) return dense_nest(node, *geometry, bits);
  if (geometry->window.rank() > 2)
    return refuse("no loop nest for " + std::to_string(geometry->window.rank()) + " spatial axes");
  return convolution_nest(node, *geometry, bits);
}

}  // namespace tilewright
