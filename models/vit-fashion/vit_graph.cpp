#include "vit_graph.h"

namespace vit {

using tilewright::Attributes;
using tilewright::Shape;
using tilewright::Tensor;
using tilewright::ValueId;

transformer::Form form() { return {kTokens, 96, 4, 3, 3, 192, false}; }

tilewright::Graph as_graph(const transformer::Weights& weights) {
  const transformer::Form form = vit::form();
  const int64_t width = form.width;
  transformer::GraphWriter writer("vit_fashion", weights);
  const ValueId image = writer.graph.add_input("image", tilewright::ElementType::kF32, {1, 1, kSide, kSide});
  const ValueId patches =
      writer.node("patches", "Conv", {image, writer.weight("patches.weight"), writer.weight("patches.bias")},
                  {1, width, kAcross, kAcross},
                  {{"kernel_shape", std::vector<int64_t>{kPatch, kPatch}},
                   {"strides", std::vector<int64_t>{kPatch, kPatch}}});
  const ValueId columns = writer.reshape("patches.columns", patches, {1, width, kTokens});
  const Shape all{1, kTokens, width};
  const ValueId rows =
      writer.node("patches.rows", "Transpose", {columns}, all, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  const ValueId placed = writer.node("placed", "Add", {rows, writer.weight("places")}, all);
  const ValueId mean = writer.node("mean", "ReduceMean", {writer.trunk(form, placed)}, {1, width},
                                   {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  const ValueId scores = writer.node(
      "scores", "Gemm", {mean, writer.weight("scores.weight"), writer.weight("scores.bias")}, {1, kClasses});
  writer.graph.outputs = {scores};
  return std::move(writer.graph);
}

}  // namespace vit
