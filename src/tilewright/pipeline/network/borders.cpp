// Several inputs, or outputs, are parts of one tensor.
#include "tilewright/pipeline/network/borders.h"

#include <algorithm>

#include "tilewright/pipeline/network/fit_tensors.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {
namespace {

// Between two tensors of one shape, whose words may begin at different channels.
Layer identity(const TensorAssembly& assembly, const Network& network, int from, int to) {
  Layer layer = assembly.copy_layer(network.tensors[size_t(to)].name, from);
  const bool fixed = network.number == NumberType::kFixed;
  const int64_t channels = network.tensors[size_t(from)].shape.channels;
  layer.kind = LayerKind::kConvolution;
  layer.copy = false;
  layer.weight_bits = fixed ? 32 : 2;
  layer.weights.assign(size_t(channels * channels), 0);
  for (int64_t c = 0; c < channels; ++c)
    layer.weights[size_t(c * channels + c)] = fixed ? int32_t{1} << network.fraction : 1;
  layer.output = to;
  return layer;
}

void uncut_borders(TensorAssembly& assembly, Network& network) {
  bool changed = false;
  const auto uncut = [&](int& tensor, bool input) {
    const int inner = tensor;
    if (network.tensors[size_t(inner)].cuts.empty()) return;
    changed = true;
    tensor = assembly.tensor_like(inner, network.tensors[size_t(inner)].name,
                                  network.tensors[size_t(inner)].shape);
    if (!input) return assembly.append(identity(assembly, network, inner, tensor));
    network.layers.insert(network.layers.begin(), identity(assembly, network, tensor, inner));
  };
  for (int& tensor : network.inputs) uncut(tensor, true);
  for (int& tensor : network.outputs) uncut(tensor, false);
  if (!changed) return;
  for (NetworkTensor& tensor : network.tensors) tensor.cuts.clear();
  cut_channels(network);
}

int joined(TensorAssembly& assembly, Network& network, const std::string& name, std::vector<int>& tensors) {
  if (tensors.size() == 1) {
    const int only = tensors[0];
    tensors.clear();
    return only;
  }
  TensorShape shape{0, 1, 1};
  for (const int tensor : tensors) {
    const TensorShape& own = network.tensors[size_t(tensor)].shape;
    shape.rows += own.rows;
    shape.columns = std::max(shape.columns, own.columns);
    shape.channels = std::max(shape.channels, own.channels);
  }
  const int whole = assembly.tensor_like(tensors[0], name, shape);
  int64_t row = 0;
  for (const int tensor : tensors) {
    network.tensors[size_t(tensor)].part = TensorPart{whole, row};
    row += network.tensors[size_t(tensor)].shape.rows;
  }
  return whole;
}

// Calls visit(element of the host's tensor, element of the network's whole one).
template <typename Visit>
void each_element(const Network& network, int tensor, Visit&& visit) {
  const TensorPart place = place_in_whole(network, tensor);
  const TensorShape &shape = network.tensors[size_t(tensor)].shape,
                    &whole = network.tensors[size_t(place.whole)].shape;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t p = 0; p < shape.rows * shape.columns; ++p) {
      const int64_t y = place.row + p / shape.columns, x = place.column + p % shape.columns;
      visit(c * shape.rows * shape.columns + p, (y * whole.columns + x) * whole.channels + place.channel + c);
    }
  }
}

}  // namespace

int copied(TensorAssembly& assembly, Network& network, int tensor) {
  Layer layer = assembly.copy_layer(network.tensors[size_t(tensor)].name, tensor);
  const TensorShape shape = network.tensors[size_t(tensor)].shape;
  const int output = layer.output = assembly.tensor_like(tensor, layer.name, shape);
  assembly.append(std::move(layer));
  return output;
}

void close_borders(TensorAssembly& assembly, Network& network) {
  network.input = network.inputs[0];
  network.output = network.outputs[0];
  remove_unused(network);
  fit_tensors(network);
  cut_channels(network);
  uncut_borders(assembly, network);
  network.input = joined(assembly, network, "inputs", network.inputs);
  network.output = joined(assembly, network, "outputs", network.outputs);
  fit_tensors(network);
}

void cut_graph(const Graph& graph, const Region& region, Network& network) {
  network.before = graph;
  network.before.outputs = region.inputs;
  network.before.remove_dead();
  Graph& behind = network.behind = graph;
  std::vector<bool> inside;
  for (const Region::Place place : region.places) inside.push_back(place == Region::Place::kInside);
  behind.inputs = region.outputs;
  behind.inputs.insert(behind.inputs.end(), graph.inputs.begin(), graph.inputs.end());
  behind.erase_nodes(inside);
  behind.remove_dead();
  // Of the graph's own inputs only those that the host needs again.
  const std::vector<std::vector<NodeId>> consumers = behind.consumers();
  std::vector<ValueId> inputs(behind.inputs.begin(), behind.inputs.begin() + int64_t(region.outputs.size()));
  for (size_t i = inputs.size(); i < behind.inputs.size(); ++i) {
    const ValueId value = behind.inputs[i];
    if (!consumers[size_t(value)].empty() || behind.is_output(value)) inputs.push_back(value);
  }
  behind.inputs = std::move(inputs);
}

std::vector<int64_t> border_places(const Network& network, int tensor) {
  std::vector<int64_t> places(size_t(network.tensors[size_t(tensor)].shape.elements()));
  each_element(network, tensor, [&](int64_t own, int64_t whole) { places[size_t(own)] = whole; });
  return places;
}

std::vector<int32_t> border_image(const Network& network, const std::vector<Tensor>& borders) {
  std::vector<int32_t> image(size_t(network.tensors[size_t(network.input)].shape.elements()));
  const std::vector<int> tensors = network.input_tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    each_element(network, tensors[i],
                 [&](int64_t from, int64_t to) { image[size_t(to)] = int32_t(borders[i].integer_at(from)); });
  }
  return image;
}

std::vector<Tensor> border_results(const Network& network, const std::vector<int32_t>& result) {
  std::vector<Tensor> borders;
  const std::vector<int> tensors = network.output_tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Value& value = network.behind.value(network.behind.inputs[i]);
    Tensor& border = borders.emplace_back(value.type, value.shape);
    each_element(network, tensors[i],
                 [&](int64_t to, int64_t from) { border.set_integer(to, result[size_t(from)]); });
  }
  return borders;
}

}  // namespace tilewright::pipeline
