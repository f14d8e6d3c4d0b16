// Shapes are inferred again for a first dimension of 1; every value has to come out as before but for it.
#include "tilewright/flow/model/single_image.h"

#include <algorithm>

#include "tilewright/graph/inference/shape_inference.h"

namespace tilewright {
namespace {

// Whether a node looks at the first dimension as anything but a list of images.
bool mixes_images(const Graph& graph, const Node& node) {
  const int rank = node.has_input(0) ? graph.value(node.input(0)).shape.rank() : 0;
  const auto first = [&](int64_t axis) { return axis == 0 || axis == -rank; };
  if (node.has("axis") && first(node.int_or("axis", 1))) return true;
  const std::vector<int64_t> axes = node.ints_or("axes", {1});
  if (std::any_of(axes.begin(), axes.end(), first)) return true;
  if (node.ints_or("perm", {0})[0] != 0) return true;
  if (!node.is("Slice")) return false;
  const Tensor* const sliced = graph.constant_input(node, 3);
  if (sliced == nullptr) return true;
  const std::vector<int64_t> list = sliced->to_integers();
  return std::any_of(list.begin(), list.end(), first);
}

// A constant shape that begins with the batch, for one image.
void shrink_target(Graph& graph, size_t id, int64_t batch) {
  const Node& node = graph.nodes[id];
  const Tensor* const old = graph.constant_input(node, 1);
  if ((!node.is("Reshape") && !node.is("Expand")) || old == nullptr || old->size() == 0) return;
  if (old->integer_at(0) != batch) return;
  Tensor target = *old;
  target.set_integer(0, 1);
  const ValueId value = graph.add_constant("one_image", std::move(target));
  graph.nodes[id].inputs[1] = value;
}

}  // namespace

std::optional<SingleImage> single_image(const Graph& model) {
  SingleImage result{model, 1};
  Graph& graph = result.graph;
  for (const ValueId input : model.inputs) {
    const Shape& shape = model.value(input).shape;
    if (shape.rank() < 2 || shape[0] < 2) return std::nullopt;
    if (result.batch > 1 && shape[0] != result.batch) return std::nullopt;
    result.batch = shape[0];
    std::vector<int64_t> sizes;
    for (int axis = 0; axis < shape.rank(); ++axis) sizes.push_back(axis == 0 ? 1 : shape[axis]);
    graph.value(input).shape = Shape(sizes);
  }
  if (result.batch < 2) return std::nullopt;
  for (size_t id = 0; id < graph.nodes.size(); ++id) shrink_target(graph, id, result.batch);
  Diagnostics problems;
  infer_shapes(graph, problems, Declared::kReplace);
  if (!problems.ok()) return std::nullopt;
  std::vector<bool> of_images(graph.values.size(), false);
  for (const ValueId input : graph.inputs) of_images[size_t(input)] = true;
  for (const Node& node : graph.nodes) {
    const bool data = std::any_of(node.inputs.begin(), node.inputs.end(),
                                  [&](ValueId v) { return v != kNoValue && of_images[size_t(v)]; });
    if (!data) continue;
    if (mixes_images(graph, node)) return std::nullopt;
    for (const ValueId value : node.outputs) {
      if (value == kNoValue) continue;
      of_images[size_t(value)] = true;
      const Shape &now = graph.value(value).shape, &before = model.value(value).shape;
      if (now.rank() != before.rank() || now.rank() == 0) return std::nullopt;
      if (now[0] != 1 || before[0] != result.batch) return std::nullopt;
      for (int axis = 1; axis < now.rank(); ++axis) {
        if (now[axis] != before[axis]) return std::nullopt;
      }
    }
  }
  return result;
}

}  // namespace tilewright
