// Networks of small convolutions, compiled for exploration, and the device that tests explore.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/flow/explore/exploration_network.h"
#include "tilewright/hardware/device.h"
#include "tilewright/overlay/program/program.h"

namespace tilewright {

inline ValueId add_convolution(Graph& graph, const std::string& name, ValueId x, int64_t outputs,
                               int64_t size) {
  Random random(7);
  const int64_t inputs = graph.value(x).shape[1];
  Tensor weights(ElementType::kI8, Shape{outputs, inputs, 3, 3});
  for (int64_t i = 0; i < weights.size(); ++i) weights.set_integer(i, random.between(-127, 127));
  const ValueId w = graph.add_constant(name + "_w", std::move(weights));
  const ValueId b = graph.add_constant(name + "_b", Tensor(ElementType::kI32, Shape{outputs}));
  const ValueId m = graph.add_constant(name + "_m", Tensor::of<int32_t>(Shape{1}, {1}));
  const ValueId s = graph.add_constant(name + "_s", Tensor::of<int32_t>(Shape{1}, {10}));
  const ValueId y = graph.add_value(name + "_y", ElementType::kI8, Shape{1, outputs, size, size});
  Node& node = graph.add_node(name, "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
  node.attributes["strides"] = std::vector<int64_t>{1, 1};
  node.attributes["pads"] = std::vector<int64_t>(4, 1);
  node.attributes["clip_low"] = int64_t{0};
  return y;
}

// Convolutions one after the other.
inline Bundle network_of(int64_t inputs, int64_t size,
                         const std::vector<std::pair<std::string, int64_t>>& layers) {
  Graph graph;
  ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, inputs, size, size});
  for (const auto& [name, outputs] : layers) x = add_convolution(graph, name, x, outputs, size);
  graph.outputs = {x};
  Bundle bundle;
  bundle.graph = std::move(graph);
  bundle.hardware = exploration_reference();
  for (size_t n = 0; n < bundle.graph.nodes.size(); ++n) bundle.nodes.push_back({kOverlay, ""});
  for (const Node& node : bundle.graph.nodes) {
    bundle.schedules[node.name] = overlay::default_schedule(
        overlay::extract_layer(bundle.graph, node, bundle.hardware), bundle.hardware);
  }
  return bundle;
}

// Four layers of three shapes.
inline Bundle small_network() {
  return network_of(16, 8, {{"first", 16}, {"second", 32}, {"third", 32}, {"fourth", 32}});
}

inline Bundle foldable_network() { return network_of(1, 16, {{"only", 16}}); }

inline Device zynq() {
  return find_device("xc7z020", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware/devices");
}

}  // namespace tilewright
