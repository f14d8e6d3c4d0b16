// The workload of a graph node: the loop nest that mappers and cost models see of a convolution, a dense
// layer or a matrix product.
#pragma once

#include <optional>

#include "tilewright/nest/workload.h"

namespace tilewright {

// Conv, ConvTranspose, ConvInteger, QLinearConv, QConv, QConvTranspose, FixedConv with one or two spatial
// axes (a height of 1 is added to one), Gemm, QGemm, FixedGemm, MatMul, MatMulInteger, QLinearMatMul. Ranks
// stand in the order of the tensors' axes (transA and transB of Gemm swap theirs). Batch axes of matrix
// products are one dimension B, or folded into M when B is a plain matrix. Element widths are those of the
// values; outputs of integer operators count with the 32 bits of their accumulators, of fixed-point ones
// with 64. nullopt after adding the reason to `refusals` (unsupported, naming the node): another operator,
// more spatial axes, matrices whose batch axes broadcast only in part, an empty tensor. Errors (invalid
// input): shapes and attributes that contradict each other.
std::optional<Workload> node_workload(const Graph& graph, const Node& node, Diagnostics& refusals);

}  // namespace tilewright
