// From an integer or fixed-point graph to a network. Values of the graph are elements of channel-major
// tensors: what only moves elements makes no layer (value_views.h), and a dense layer takes its weights in
// the order of the underlying tensor. Additions and lookups are fused into the layer before them where it has
// no other reader.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/value_range.h"
#include "tilewright/layers/fused_layer.h"
#include "tilewright/pipeline/network/borders.h"
#include "tilewright/pipeline/network/fit_tensors.h"
#include "tilewright/pipeline/network/narrow_scales.h"
#include "tilewright/pipeline/network/network.h"
#include "tilewright/pipeline/network/region.h"
#include "tilewright/pipeline/network/split_layers.h"
#include "tilewright/pipeline/network/tensor_parts.h"
#include "tilewright/pipeline/network/value_views.h"

namespace tilewright::pipeline {
namespace {

using Function = OperatorFunction;

class Extraction {
 public:
  Extraction(const Graph& graph, const Region& region)
      : graph_(graph),
        region_(region),
        consumers_(graph.consumers()),
        producers_(graph.producers()),
        assembly_(network_),
        views_(graph, network_, assembly_) {}

  // False: some nodes are not for hardware, see refused().
  bool run() {
    network_.name = graph_.name;
    find_number();
    for (const ValueId value : region_.inputs) begin_with(value);
    if (!problems_.ok()) return false;
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (region_.places[id] == Region::Place::kInside) take(NodeId(id));
    }
    for (const Node* node : rounds_twice_ ? round_once_ : std::vector<const Node*>{}) {
      refuse(*node, "it rounds once, with a shift of 32 or more, beside layers that round twice",
             "run it on the overlay (tilewright compile)");
    }
    if (problems_.ok()) finish_borders();
    return problems_.ok();
  }
  Network network() { return std::move(network_); }
  const std::map<NodeId, Diagnostic>& refused() const { return refused_; }

 private:
  void refuse(const Node& node, const std::string& reason, const std::string& hint = {}) {
    problems_.error(ErrorKind::kUnsupported, where(node), node.op, reason, hint);
    for (NodeId id = 0; id < NodeId(graph_.nodes.size()); ++id) {
      if (&graph_.nodes[size_t(id)] == &node) refused_.try_emplace(id, problems_.errors().back());
    }
  }

  void find_number() {
    bool fixed = false, integer = false, wide = false;
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      const OperatorNumbers numbers = operator_traits(node).numbers;
      if (region_.places[id] != Region::Place::kInside) continue;
      wide |= graph_.value(node.outputs[0]).type == ElementType::kI32;
      if (numbers == OperatorNumbers::kAny) continue;
      const bool is_fixed = numbers == OperatorNumbers::kFixed;
      (is_fixed ? fixed : integer) = true;
      if (is_fixed && node.has("fraction")) network_.fraction = int(node.int_or("fraction", 0));
    }
    if (fixed && integer) {
      throw Error(ErrorKind::kUnsupported, "the graph mixes integer and fixed-point operators",
                  "convert the whole model to one number type");
    }
    // Maxima alone have the numbers of their tensors.
    network_.number = fixed || (!integer && wide) ? NumberType::kFixed : NumberType::kInteger;
  }

  // A tensor for a value; of a value of more axes, or of several images, all as channels.
  int new_tensor(ValueId value, const TensorShape& shape) {
    const Value& v = graph_.value(value);
    NetworkTensor tensor;
    tensor.name = v.name;
    tensor.shape = shape;
    if (network_.number == NumberType::kFixed) {
      tensor.bits = 32;
    } else {
      const ValueRange range = value_range(graph_, value);
      tensor.bipolar = range.bipolar;
      tensor.bits = range.bipolar ? 1 : bits_for(range.low, range.high);
    }
    network_.tensors.push_back(tensor);
    return int(network_.tensors.size()) - 1;
  }

  void begin_with(ValueId value) {
    const Value& v = graph_.value(value);
    const std::optional<TensorShape> shape = map_shape(v.shape);
    if (!shape) {
      for (const NodeId reader : consumers_[size_t(value)]) {
        const Node& node = graph_.nodes[size_t(reader)];
        if (region_.places[size_t(reader)] != Region::Place::kInside || !inputs(node)) continue;
        const bool tokens = v.shape.rank() == 2 && has_attention();
        refuse(
            node,
            fmt::format("value '{}' is {}{}; hardware takes one image [1, channels, rows, columns] or vector",
                        v.name, to_string(v.type, v.shape), tokens ? ", a row for each token" : ""),
            tokens ? "run transformers on an overlay (tilewright compile)"
                   : "bind the batch to 1 (--shape batch=1), or export the model with batch 1");
      }
      return;
    }
    const int tensor = new_tensor(value, *shape);
    network_.inputs.push_back(tensor);
    views_.bind(value, tensor);
  }

  bool has_attention() const {
    return std::ranges::any_of(graph_.nodes, [](const Node& node) { return node.is_tilewright("QMatMul"); });
  }

  // What is no data (weights, tables, bounds, axes) has to be constant; and data not.
  bool inputs(const Node& node) {
    const Function function = operator_function(node);
    const bool adds = function == Function::kAddition || function == Function::kMultiplication;
    bool ok = true;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId value = node.inputs[i];
      if (value == kNoValue) continue;
      const bool data = i == 0 || (adds && i == 1) || node.is("Concat");
      if (data && graph_.is_constant(value) && !node.is("Concat")) {
        refuse(node, fmt::format("its data '{}' are constant", graph_.value(value).name),
               "fold the constant, or run the model on the overlay (tilewright compile)");
        ok = false;
      } else if (!data && !graph_.is_constant(value)) {
        refuse(node, fmt::format("its input '{}' is not constant", graph_.value(value).name),
               "fix it when the model is exported");
        ok = false;
      }
    }
    return ok;
  }

  void take(NodeId id) {
    const Node& node = graph_.nodes[size_t(id)];
    // After a refusal, what needs its results is not looked at.
    for (const ValueId value : node.inputs) {
      const NodeId producer = value == kNoValue ? kNoNode : producers_[size_t(value)];
      if (producer != kNoNode && region_.places[size_t(producer)] == Region::Place::kInside &&
          !views_.known(value)) {
        return;
      }
    }
    if (!inputs(node)) return;
    if (!runs_in_hardware(graph_, node)) return move(node);
    const std::optional<FusedLayer> source = read(node);
    if (!source) return;
    if (source->function == Function::kAddition || source->function == Function::kMultiplication) {
      return take_addition(node, *source);
    }
    if (source->function == Function::kLookup) return take_lookup(node, *source);
    if (source->function == Function::kRequantize || source->function == Function::kClip) {
      return take_map(node, *source);
    }
    if (source->function == Function::kDense) return take_dense(node, *source);
    const int input = map(node, node.input(0));
    if (input >= 0) take_window(node, *source, input);
  }

  void move(const Node& node) {
    try {
      views_.move(node);
    } catch (const Error& error) {
      refuse(node, error.what());
    }
  }

  std::optional<FusedLayer> read(const Node& node) {
    Diagnostics refusals;
    std::optional<FusedLayer> source = read_layer(graph_, node, refusals);
    for (const Diagnostic& problem : refusals.errors()) refuse(node, problem.message, problem.hint);
    if (source && std::max(source->input_bits, source->output_bits) > 8) {
      refuse(node, "its activations have 16 bits, those of the components 8", "end the hardware before it");
      return std::nullopt;
    }
    if (source && network_.number == NumberType::kInteger) {
      const std::vector<Requantization>& scales = source->finish.scale;
      rounds_twice_ |= std::ranges::any_of(scales, [](const auto& s) { return s.shift >= kTwice; });
      const auto is_once = [](const Requantization& s) { return s.shift >= 32 && s.shift < kTwice; };
      if (std::ranges::any_of(scales, is_once)) round_once_.push_back(&node);
    }
    return source;
  }

  // A value as a tensor of its own; -1 after a refusal.
  int map(const Node& node, ValueId value) { return map(node, value, graph_.value(value).shape); }
  int map(const Node& node, ValueId value, const Shape& shape) {
    if (!map_shape(shape)) {
      refuse(node,
             fmt::format("its input '{}', {}, has more than four axes, several images or no elements",
                         graph_.value(value).name, to_string(shape)),
             "export the model with batch 1");
      return -1;
    }
    const int tensor = views_.map(value, node.name, shape);
    if (tensor < 0) {
      refuse(node,
             fmt::format("the elements of its input '{}', {}, lie in memory in too many pieces",
                         graph_.value(value).name, to_string(graph_.value(value).shape)),
             "move whole channels, rows or columns, or end the hardware before it");
    }
    return tensor;
  }

  Layer begin_layer(const Node& node, int input) {
    Layer layer;
    layer.name = node.name;
    layer.nodes = {node.name};
    layer.input = input;
    return layer;
  }

  // Constants for all channels of the result.
  void end_layer(Layer& layer, int output) {
    layer.output = output;
    const int64_t channels = network_.tensors[size_t(output)].shape.channels;
    LayerFinish& finish = layer.finish;
    finish.bias.resize(size_t(channels), finish.bias.empty() ? 0 : finish.bias[0]);
    if (network_.number == NumberType::kInteger) {
      finish.scale.resize(size_t(channels), finish.scale.empty() ? Requantization{} : finish.scale[0]);
    }
  }

  // A layer with windows; what no plain layer does becomes several.
  void take_window(const Node& node, const FusedLayer& source, int input) {
    Layer layer = begin_layer(node, input);
    WideWindow wide;
    if (!take_function(node, source, layer, wide)) return;
    set_table(source, layer);
    const std::optional<TensorShape> shape = map_shape(graph_.value(node.outputs[0]).shape);
    if (!shape) return refuse(node, "its result has more than four axes, or is of several images");
    end_layer(layer, new_tensor(node.outputs[0], *shape));
    if (!append_split(assembly_, network_, layer, wide)) {
      return refuse(node, "it has strides and dilations, which a maximum cannot have both", "drop one");
    }
    views_.bind(node.outputs[0], layer.output);
  }

  // Element by element: the result lies as the input does.
  void take_map(const Node& node, const FusedLayer& source) {
    const int input = elementwise_input(node);
    if (input < 0) return;
    Layer layer = begin_layer(node, input);
    layer.kind = LayerKind::kMap;
    if (source.function == Function::kRequantize) {
      set_scalar_finish(source, layer);
    } else {
      pass_through(layer);
      layer.finish.clip_low = source.finish.clip_low;
      layer.finish.clip_high = source.finish.clip_high;
    }
    set_table(source, layer);
    append_map(node, std::move(layer));
  }

  // The tensor of the first input, in whatever order its elements lie.
  int elementwise_input(const Node& node) {
    const int whole = views_.whole_tensor(node.input(0));
    return whole >= 0 ? whole : map(node, node.input(0));
  }
  void append_map(const Node& node, Layer layer) {
    const TensorShape shape = network_.tensors[size_t(layer.input)].shape;
    end_layer(layer, new_tensor(node.outputs[0], shape));
    views_.bind_like(node.outputs[0], layer.output, node.input(0));
    assembly_.append(std::move(layer));
  }

  // What is special about the layer's function; false after a refusal.
  bool take_function(const Node& node, const FusedLayer& source, Layer& layer, WideWindow& wide) {
    if (!set_window(node, source, layer, wide)) return false;
    switch (source.function) {
      case Function::kConvolution:
      case Function::kTransposedConvolution:
        wide.transposed = source.function == Function::kTransposedConvolution;
        take_weights(source, layer, wide);
        set_product_finish(source, layer);
        return true;
      case Function::kMaxPool:
        layer.kind = LayerKind::kMaxPool;
        pass_through(layer);
        return true;
      default:  // kAveragePool
        layer.kind = LayerKind::kAveragePool;
        set_scalar_finish(source, layer);
        return true;
    }
  }

  bool set_window(const Node& node, const FusedLayer& source, Layer& layer, WideWindow& wide) {
    const Window& window = source.geometry.window;
    if (!window.is_2d()) {
      refuse(node, "its window is not two-dimensional", "give it two spatial axes, one of length 1");
      return false;
    }
    const WindowAxis &y = window.height(), &x = window.width();
    layer.window = {y.kernel, x.kernel, y.stride, x.stride, y.pad_begin, x.pad_begin, source.pad_value};
    wide.dilation_y = y.dilation;
    wide.dilation_x = x.dilation;
    return true;
  }

  // [out][ky][kx][in of the group], whichever the operator has first.
  void take_weights(const FusedLayer& source, Layer& layer, WideWindow& wide) {
    const NodeGeometry& geometry = source.geometry;
    layer.kind = geometry.is_depthwise() ? LayerKind::kDepthwise : LayerKind::kConvolution;
    wide.groups = geometry.group;
    const Shape& w = source.weights->shape();
    const std::vector<int64_t> values = source.weights->to_integers();
    const int64_t taps = w[2] * w[3], outputs = geometry.output_channels;
    const int64_t inner = geometry.input_channels / geometry.group, outer = outputs / geometry.group;
    layer.weights.resize(values.size());
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t c = 0; c < inner; ++c) {
        for (int64_t t = 0; t < taps; ++t) {
          const int64_t row = wide.transposed ? o / outer * inner + c : o;
          const int64_t column = wide.transposed ? o % outer : c;
          layer.weights[size_t((o * taps + t) * inner + c)] =
              int32_t(values[size_t((row * w[1] + column) * taps + t)]);
        }
      }
    }
  }

  // Over the whole tensor whose elements the vector has.
  void take_dense(const Node& node, const FusedLayer& source) {
    if (!map_shape(graph_.value(node.input(0)).shape)) {
      return refuse(node, "its input is several vectors", "export the model with batch 1");
    }
    const int input = elementwise_input(node);
    if (input < 0) return;
    Layer layer = begin_layer(node, input);
    const TensorShape in = network_.tensors[size_t(input)].shape;
    layer.kind = LayerKind::kConvolution;
    layer.window.rows = in.rows;
    layer.window.columns = in.columns;
    const std::vector<int64_t> values = source.weights->to_integers(), places = views_.places(node.input(0));
    const int64_t inputs = in.elements();
    layer.weights.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t o = int64_t(i) / inputs, at = places[i % size_t(inputs)];
      layer.weights[size_t(o * inputs + at)] = int32_t(values[i]);
    }
    set_product_finish(source, layer);
    set_table(source, layer);
    end_layer(layer, new_tensor(node.outputs[0], *map_shape(graph_.value(node.outputs[0]).shape)));
    views_.bind(node.outputs[0], layer.output);
    assembly_.append(std::move(layer));
  }

  void set_product_finish(const FusedLayer& source, Layer& layer) {
    layer.finish = source.finish;
    if (network_.number == NumberType::kFixed) {
      layer.finish.scale.clear();
      layer.weight_bits = 32;
      return;
    }
    const auto [low, high] = std::minmax_element(layer.weights.begin(), layer.weights.end());
    layer.weight_bipolar =
        std::all_of(layer.weights.begin(), layer.weights.end(), [](int32_t w) { return w == 1 || w == -1; });
    layer.weight_bits = layer.weight_bipolar ? 1 : bits_for(*low, *high);
  }

  // Operators with one multiplier and shift for all channels; in fixed point the multiplier is a weight.
  void set_scalar_finish(const FusedLayer& source, Layer& layer) {
    layer.finish = source.finish;
    if (network_.number == NumberType::kInteger) return;
    const TensorShape& in = network_.tensors[size_t(layer.input)].shape;
    layer.weights.assign(size_t(in.channels * layer.window.rows * layer.window.columns),
                         source.finish.scale[0].multiplier);
    layer.weight_bits = 32;
    layer.finish.bias.clear();
    layer.finish.scale.clear();
  }

  // The result is the input: pools and clips.
  void pass_through(Layer& layer) {
    const bool fixed = network_.number == NumberType::kFixed;
    layer.finish.clip_low = fixed ? INT32_MIN : -128;
    layer.finish.clip_high = fixed ? INT32_MAX : 127;
    if (fixed && layer.kind != LayerKind::kMaxPool) {
      const TensorShape& in = network_.tensors[size_t(layer.input)].shape;
      layer.weights.assign(size_t(in.channels), int32_t{1} << network_.fraction);
      layer.weight_bits = 32;
    }
  }

  // The layer that makes `value` when this reader is its only one and nothing is fused after it yet that
  // has to come later. Nobody else may read what `value` is a view of either.
  Layer* fusable(ValueId value) {
    const int tensor = views_.known(value) ? views_.whole_tensor(value) : -1;
    if (tensor < 0 || network_.tensors[size_t(tensor)].part) return nullptr;
    for (ValueId own = value;;) {
      if (consumers_[size_t(own)].size() != 1 || graph_.is_output(own)) return nullptr;
      const NodeId producer = producers_[size_t(own)];
      if (producer == kNoNode || runs_in_hardware(graph_, graph_.nodes[size_t(producer)])) break;
      own = graph_.nodes[size_t(producer)].input(0);
    }
    for (Layer& layer : network_.layers) {
      if (layer.output == tensor)
        return layer.lookup || layer.finish.bipolar || layer.copy ? nullptr : &layer;
    }
    return nullptr;
  }

  // Whether the elements of two values lie in their tensors alike.
  bool alike(ValueId a, ValueId b) {
    const int one = views_.whole_tensor(a), other = views_.whole_tensor(b);
    return one >= 0 && other >= 0 && graph_.value(a).shape == graph_.value(b).shape &&
           network_.tensors[size_t(one)].shape == network_.tensors[size_t(other)].shape &&
           views_.places(a) == views_.places(b);
  }

  void take_addition(const Node& node, const FusedLayer& source) {
    if (source.finish.bipolar) {
      return refuse(node, "its results become signs", "put a QRequantize with the signs after it");
    }
    if (source.function == Function::kMultiplication && source.finish.scale[0].shift > 62) {
      return refuse(node, "its products round twice", "read the TFLite file without --tflite-kernels");
    }
    // Where they lie otherwise, each as the result does.
    const bool as_they_are = alike(node.input(0), node.input(1));
    const Shape& result = graph_.value(node.outputs[0]).shape;
    int operands[2];
    for (int side : {0, 1}) {
      const ValueId value = node.input(side);
      operands[side] = as_they_are ? views_.whole_tensor(value) : map(node, value, result);
      if (operands[side] < 0) return;
    }
    Layer* best = nullptr;
    int own = 0;
    for (int side : {0, 1}) {
      Layer* const layer = operands[0] == operands[1] ? nullptr : fusable(node.input(side));
      if (layer == nullptr || layer->output != operands[side] || layer->add ||
          (best != nullptr && layer < best)) {
        continue;
      }
      best = layer;
      own = side;
    }
    FusedAdd add;
    add.tensor = operands[1 - own];
    if (source.function == Function::kMultiplication) {
      add.product = true;
      add.zero_a = own == 0 ? source.zero_point_a : source.zero_point_b;
      add.zero_b = own == 0 ? source.zero_point_b : source.zero_point_a;
    }
    add.multiplier_a = own == 0 ? source.multiplier_a : source.multiplier_b;
    add.multiplier_b = own == 0 ? source.multiplier_b : source.multiplier_a;
    add.bias = source.finish.bias.empty() ? 0 : source.finish.bias[0];
    add.shift = source.finish.scale.empty() ? 0 : source.finish.scale[0].shift;
    add.zero_point = source.finish.zero_point;
    add.clip_low = source.finish.clip_low;
    add.clip_high = source.finish.clip_high;
    if (add.product) add.multiplier_a = source.finish.scale[0].multiplier;
    Layer alone = begin_layer(node, operands[own]);
    alone.kind = LayerKind::kMap;
    pass_through(alone);
    Layer& layer = best == nullptr ? alone : *best;
    layer.add = add;
    set_table(source, layer);
    if (best != nullptr) return fuse_result(node, layer, as_they_are);
    if (as_they_are) return append_map(node, std::move(alone));
    end_layer(alone, new_tensor(node.outputs[0], network_.tensors[size_t(operands[own])].shape));
    views_.bind(node.outputs[0], alone.output);
    assembly_.append(std::move(alone));
  }

  // A table that the operator itself looks its outputs up in.
  static void set_table(const FusedLayer& source, Layer& layer) {
    if (source.finish.table == nullptr) return;
    layer.lookup.emplace();
    for (int64_t value : source.finish.table->to_integers()) layer.lookup->table.push_back(int32_t(value));
  }

  void take_lookup(const Node& node, const FusedLayer& source) {
    FusedLookup lookup;
    for (int64_t value : source.table->to_integers()) lookup.table.push_back(int32_t(value));
    lookup.input_shift = source.input_shift;
    if (Layer* const fused = fusable(node.input(0))) {
      fused->lookup = std::move(lookup);
      return fuse_result(node, *fused, true);
    }
    const int input = elementwise_input(node);
    if (input < 0) return;
    Layer alone = begin_layer(node, input);
    alone.kind = LayerKind::kMap;
    pass_through(alone);
    alone.lookup = std::move(lookup);
    append_map(node, std::move(alone));
  }

  // `layer` now makes the result of `node`, in place of its own; `as_it_lies`: or by channels, rows, columns.
  void fuse_result(const Node& node, Layer& layer, bool as_it_lies) {
    layer.nodes.push_back(node.name);
    NetworkTensor& tensor = network_.tensors[size_t(layer.output)];
    tensor.name = graph_.value(node.outputs[0]).name;
    if (network_.number == NumberType::kInteger) {
      const ValueRange range = value_range(graph_, node.outputs[0]);
      tensor.bits = bits_for(range.low, range.high);
      tensor.bipolar = false;
    }
    const bool first = views_.whole_tensor(node.input(0)) == layer.output;
    if (as_it_lies) {
      views_.bind_like(node.outputs[0], layer.output, node.input(first ? 0 : 1));
    } else {
      views_.bind(node.outputs[0], layer.output);
    }
    // A layer moves after whatever makes the other operand.
    const size_t from = size_t(&layer - network_.layers.data());
    std::rotate(network_.layers.begin() + ptrdiff_t(from), network_.layers.begin() + ptrdiff_t(from) + 1,
                network_.layers.end());
  }

  // What crosses the borders, and what the host does on either side.
  void finish_borders() {
    for (const ValueId value : region_.outputs) {
      const Node& last = graph_.nodes[size_t(producers_[size_t(value)])];
      int tensor = views_.ordered_tensor(value);
      if (tensor < 0) tensor = map(last, value);
      if (tensor < 0) return;
      const bool taken = network_.tensors[size_t(tensor)].part ||
                         std::count(network_.inputs.begin(), network_.inputs.end(), tensor) > 0 ||
                         std::count(network_.outputs.begin(), network_.outputs.end(), tensor) > 0;
      if (taken) tensor = copied(assembly_, network_, tensor);
      network_.outputs.push_back(tensor);
    }
    close_borders(assembly_, network_);
    cut_graph(graph_, region_, network_);
  }

  const Graph& graph_;
  const Region& region_;
  const std::vector<std::vector<NodeId>> consumers_;
  const std::vector<NodeId> producers_;
  Network network_;
  TensorAssembly assembly_;
  ValueViews views_;
  Diagnostics problems_;
  std::map<NodeId, Diagnostic> refused_;
  bool rounds_twice_ = false;            // some layer
  std::vector<const Node*> round_once_;  // layers that do, with shifts that would round twice
};

constexpr int kMostAttempts = 50;

}  // namespace

Network extract_network(const Graph& graph) {
  std::map<NodeId, std::string> refused;
  std::vector<Diagnostic> reasons;
  for (int attempt = 0;; ++attempt) {
    const Region region = find_region(graph, refused);
    if (region.empty || attempt == kMostAttempts) {
      if (!reasons.empty()) throw Error(reasons);
      throw Error(ErrorKind::kUnsupported, "no integer layer with weights that hardware could run",
                  "quantise the model first (tilewright quantize), or give --calibration");
    }
    Extraction extraction(graph, region);
    if (extraction.run()) {
      Network network = extraction.network();
      network.left_out = std::move(reasons);
      for (const NodeId id : obstacles(graph, region)) {
        const Node& node = graph.nodes[size_t(id)];
        network.left_out.push_back(
            {ErrorKind::kUnsupported, where(node), node.op,
             "hardware has no layer for it, and layers need its result",
             "replace it by an operator that has integers (docs/reference/arithmetic.md), or run the "
             "model on the overlay (tilewright compile)"});
      }
      network.hardware_products = region.products;
      for (const Node& node : graph.nodes) network.graph_products += node_products(graph, node);
      narrow_scales(network);
      return network;
    }
    for (const auto& [id, problem] : extraction.refused()) {
      refused[id] = problem.message;
      reasons.push_back(problem);
    }
  }
}

}  // namespace tilewright::pipeline
