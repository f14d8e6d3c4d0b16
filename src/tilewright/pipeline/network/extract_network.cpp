// From an integer or fixed-point graph to a network. Values of the graph become views of channel-major
// tensors: reshapes and transposes that keep the elements in place only change the view, and a dense layer
// takes its weights in the order of the underlying tensor. Additions and lookups are fused into the layer
// before them where it has no other reader.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/value_range.h"
#include "tilewright/layers/fused_layer.h"
#include "tilewright/pipeline/network/fit_tensors.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {
namespace {

using Function = OperatorFunction;

enum class Order { kNchw, kNhwc, kVectorChw, kVectorHwc };

// A value of the graph as a tensor of the network.
struct View {
  int tensor = -1;
  Order order = Order::kNchw;
};

// What only shows its input in another way: a view, where no element moves.
bool is_view(const Node& node) {
  return operator_class(node) == OperatorClass::kReshape || node.is("Transpose") || node.is("Identity");
}

bool runs_in_hardware(const Graph& graph, const Node& node) {
  const Function function = operator_function(node);
  return layer_number(graph, node) && function != Function::kTransposedConvolution &&
         function != Function::kMultiplication;
}

bool begins_network(const Graph& graph, const Node& node) {
  const Function function = operator_function(node);
  return runs_in_hardware(graph, node) && (function == Function::kConvolution ||
                                           function == Function::kDense || function == Function::kMaxPool);
}

class Extraction {
 public:
  explicit Extraction(const Graph& graph)
      : graph_(graph), consumers_(graph.consumers()), producers_(graph.producers()) {}

  Network run() {
    find_region();
    for (NodeId id = first_; id <= last_; ++id) {
      if (member_[size_t(id)]) take(graph_.nodes[size_t(id)]);
    }
    if (rounds_twice_ && rounds_once_ != nullptr) {
      refuse(*rounds_once_, "it rounds once, with a shift of 32 or more, beside layers that round twice",
             "run it on the overlay (tilewright compile)");
    }
    problems_.raise_if_any();
    fit_tensors(network_);
    finish_borders();
    return std::move(network_);
  }

 private:
  void refuse(const Node& node, const std::string& reason, const std::string& hint = {}) {
    problems_.error(ErrorKind::kUnsupported, where(node), node.op, reason, hint);
  }

  // The nodes from the first layer with weights (or pool) to the last layer, and what hands data on between.
  void find_region() {
    const NodeId count = NodeId(graph_.nodes.size());
    first_ = count;
    for (NodeId id = 0; id < count; ++id) {
      const Node& node = graph_.nodes[size_t(id)];
      if (first_ == count && begins_network(graph_, node)) first_ = id;
      if (runs_in_hardware(graph_, node)) last_ = id;
    }
    if (first_ == count) {
      throw Error(ErrorKind::kUnsupported, "no integer layer with weights that hardware could run",
                  "quantise the model first (tilewright quantize), or give --calibration");
    }
    // Reachable from the region's input and reaching its output; the rest is the host's.
    member_.assign(size_t(count), false);
    std::set<ValueId> reached = {graph_.nodes[size_t(first_)].input(0)};
    for (NodeId id = first_; id <= last_; ++id) {
      const Node& node = graph_.nodes[size_t(id)];
      const bool from_region = std::any_of(node.inputs.begin(), node.inputs.end(),
                                           [&](ValueId v) { return reached.count(v) != 0; });
      if (!from_region) continue;
      member_[size_t(id)] = true;
      for (ValueId v : node.outputs) reached.insert(v);
    }
    std::vector<bool> wanted(size_t(count), false);
    wanted[size_t(last_)] = true;
    for (NodeId id = last_; id >= first_; --id) {
      if (!wanted[size_t(id)]) continue;
      for (ValueId v : graph_.nodes[size_t(id)].inputs) {
        if (v != kNoValue && producers_[size_t(v)] != kNoNode) wanted[size_t(producers_[size_t(v)])] = true;
      }
    }
    for (NodeId id = first_; id <= last_; ++id) {
      if (!member_[size_t(id)] || !wanted[size_t(id)]) {
        if (member_[size_t(id)] && runs_in_hardware(graph_, graph_.nodes[size_t(id)])) {
          refuse(graph_.nodes[size_t(id)], "its result is an output besides that of the last layer",
                 "cut the model to one output");
        }
        member_[size_t(id)] = false;
        continue;
      }
      const Node& node = graph_.nodes[size_t(id)];
      if (!runs_in_hardware(graph_, node) && !is_view(node)) {
        refuse(node, "hardware has no layer for it, and it lies between layers", "remove or replace it");
      }
    }
    problems_.raise_if_any();
    network_.name = graph_.name;
    bool fixed = false, integer = false;
    for (NodeId id = first_; id <= last_; ++id) {
      const Node& node = graph_.nodes[size_t(id)];
      const OperatorNumbers numbers = operator_traits(node).numbers;
      if (!member_[size_t(id)] || numbers == OperatorNumbers::kAny) continue;
      const bool is_fixed = numbers == OperatorNumbers::kFixed;
      (is_fixed ? fixed : integer) = true;
      if (is_fixed && node.has("fraction")) network_.fraction = int(node.int_or("fraction", 0));
    }
    if (fixed && integer) {
      throw Error(ErrorKind::kUnsupported, "the graph mixes integer and fixed-point operators",
                  "convert the whole model to one number type");
    }
    network_.number = fixed ? NumberType::kFixed : NumberType::kInteger;
    network_.input = tensor_of(graph_.nodes[size_t(first_)].input(0));
  }

  int tensor_of(ValueId value) {
    const auto it = views_.find(value);
    if (it != views_.end()) return it->second.tensor;
    const Value& v = graph_.value(value);
    NetworkTensor tensor;
    tensor.name = v.name;
    const Shape& shape = v.shape;
    const bool batch_one = shape.rank() >= 1 && shape[0] == 1;
    if (!batch_one || (shape.rank() != 2 && shape.rank() != 4)) {
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("value '{}' is {}; hardware takes one image [1, channels, rows, columns] or vector",
                      v.name, to_string(v.type, shape)),
          "bind the batch to 1, e.g. --shape batch=1");
    }
    tensor.shape.channels = shape[1];
    if (shape.rank() == 4) tensor.shape.rows = shape[2], tensor.shape.columns = shape[3];
    if (network_.number == NumberType::kFixed) {
      tensor.bits = 32;
    } else {
      const ValueRange range = value_range(graph_, value);
      tensor.bipolar = range.bipolar;
      tensor.bits = range.bipolar ? 1 : bits_for(range.low, range.high);
    }
    network_.tensors.push_back(tensor);
    const int id = int(network_.tensors.size()) - 1;
    views_[value] = {id, shape.rank() == 4 ? Order::kNchw : Order::kVectorChw};
    return id;
  }

  // Whether a node reads the network's data: its input, or what a node of it makes. Anything else would be a
  // second input.
  bool data(const Node& node, ValueId value) {
    const NodeId producer = producers_[size_t(value)];
    if (value == graph_.nodes[size_t(first_)].input(0)) return true;
    if (producer != kNoNode && member_[size_t(producer)]) return true;
    refuse(
        node,
        fmt::format("it reads '{}', which does not come from the network's input", graph_.value(value).name),
        "hardware takes one input and no constants as data; run the model on the overlay (tilewright "
        "compile)");
    return false;
  }

  // The same of all that it reads; weights, tables and bounds are constants.
  bool inputs(const Node& node) {
    const bool adds = operator_function(node) == Function::kAddition;
    bool ok = data(node, node.input(0)) && (!adds || data(node, node.input(1)));
    for (size_t i = 1; !adds && i < node.inputs.size(); ++i) {
      const ValueId value = node.inputs[i];
      if (value == kNoValue || graph_.is_constant(value)) continue;
      refuse(node, fmt::format("its input '{}' is not constant", graph_.value(value).name));
      ok = false;
    }
    return ok;
  }

  void take(const Node& node) {
    if (!inputs(node)) return;
    if (is_view(node)) return take_view(node);
    const std::optional<FusedLayer> source = read_layer(graph_, node, problems_);
    if (!source) return;
    if (source->finish.table != nullptr) {
      return refuse(node, "its output passes through a table of its own",
                    "write the table as a QLookup behind it");
    }
    if (source->function == Function::kAddition) return take_addition(node, *source);
    if (source->function == Function::kLookup) return take_lookup(node, *source);
    Layer layer = begin_layer(node);
    const bool windows = !source->geometry.window.axes.empty();
    if (windows && views_.at(node.input(0)).order != Order::kNchw) {
      return refuse(node, "the axes of its input are not in the order [1, channels, rows, columns]",
                    "remove the Transpose before it");
    }
    if (!take_function(node, *source, layer)) return;
    end_layer(node, std::move(layer));
  }

  // What is special about the layer's function; false after a refusal.
  bool take_function(const Node& node, const FusedLayer& source, Layer& layer) {
    switch (source.function) {
      case Function::kConvolution:
        if (!take_convolution(node, source, layer)) return false;
        set_product_finish(source, layer);
        return true;
      case Function::kDense:
        take_dense(source, layer);
        set_product_finish(source, layer);
        return true;
      case Function::kMaxPool:
        layer.kind = LayerKind::kMaxPool;
        if (!set_window(node, source, layer)) return false;
        pass_through(layer);
        return true;
      case Function::kAveragePool:
        layer.kind = LayerKind::kAveragePool;
        if (!set_window(node, source, layer)) return false;
        set_scalar_finish(source, layer);
        return true;
      case Function::kRequantize:
        layer.kind = LayerKind::kMap;
        set_scalar_finish(source, layer);
        return true;
      default:  // kClip
        layer.kind = LayerKind::kMap;
        pass_through(layer);
        layer.finish.clip_low = source.finish.clip_low;
        layer.finish.clip_high = source.finish.clip_high;
        return true;
    }
  }

  Layer begin_layer(const Node& node) {
    Layer layer;
    layer.name = node.name;
    layer.nodes = {node.name};
    layer.input = tensor_of(node.input(0));
    return layer;
  }

  void end_layer(const Node& node, Layer layer) {
    layer.output = tensor_of(node.outputs[0]);
    if (layer.kind == LayerKind::kMap) {  // element by element: the result lies as the input does
      network_.tensors[size_t(layer.output)].shape = network_.tensors[size_t(layer.input)].shape;
      views_[node.outputs[0]].order = views_.at(node.input(0)).order;
    }
    // Elements per channel of the result, for the constants of all channels.
    const int64_t channels = network_.tensors[size_t(layer.output)].shape.channels;
    LayerFinish& finish = layer.finish;
    finish.bias.resize(size_t(channels), finish.bias.empty() ? 0 : finish.bias[0]);
    if (network_.number == NumberType::kInteger) {
      finish.scale.resize(size_t(channels), finish.scale.empty() ? Requantization{} : finish.scale[0]);
      for (const Requantization& scale : finish.scale) {
        rounds_twice_ |= scale.shift >= kTwice;
        if (scale.shift >= 32 && scale.shift < kTwice) rounds_once_ = &node;
      }
    }
    const TensorShape& out = network_.tensors[size_t(layer.output)].shape;
    if (!layer.weights.empty()) {
      layer.macs = out.rows * out.columns * int64_t(layer.weights.size());
    }
    network_.layers.push_back(std::move(layer));
  }

  bool set_window(const Node& node, const FusedLayer& source, Layer& layer) {
    const Window& window = source.geometry.window;
    if (!window.is_2d()) {
      refuse(node, "its window is not two-dimensional");
      return false;
    }
    if (window.has_dilation()) {
      refuse(node, "its window is dilated", "run it on the overlay (tilewright compile)");
      return false;
    }
    const WindowAxis &y = window.height(), &x = window.width();
    layer.window = {y.kernel, x.kernel, y.stride, x.stride, y.pad_begin, x.pad_begin, source.pad_value};
    return true;
  }

  bool take_convolution(const Node& node, const FusedLayer& source, Layer& layer) {
    const NodeGeometry& geometry = source.geometry;
    if (geometry.group > 1 && !geometry.is_depthwise()) {
      refuse(node, fmt::format("it has {} groups of several channels", geometry.group),
             "only 1 group or one per channel is possible; run it on the overlay (tilewright compile)");
      return false;
    }
    if (!set_window(node, source, layer)) return false;
    layer.kind = geometry.is_depthwise() ? LayerKind::kDepthwise : LayerKind::kConvolution;
    const Shape& w = source.weights->shape();
    const std::vector<int64_t> values = source.weights->to_integers();
    const int64_t taps = w[2] * w[3];
    layer.weights.resize(values.size());
    for (int64_t o = 0; o < w[0]; ++o) {
      for (int64_t c = 0; c < w[1]; ++c) {
        for (int64_t t = 0; t < taps; ++t) {
          layer.weights[size_t((o * taps + t) * w[1] + c)] =
              int32_t(values[size_t((o * w[1] + c) * taps + t)]);
        }
      }
    }
    return true;
  }

  void take_dense(const FusedLayer& source, Layer& layer) {
    const View view = views_.at(source.input);
    const TensorShape in = network_.tensors[size_t(view.tensor)].shape;
    layer.kind = LayerKind::kConvolution;
    layer.window.rows = in.rows;
    layer.window.columns = in.columns;
    const std::vector<int64_t> values = source.weights->to_integers();
    const int64_t inputs = in.elements(), pixels = in.rows * in.columns;
    layer.weights.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t o = int64_t(i) / inputs, k = int64_t(i) % inputs;
      const int64_t at = view.order == Order::kVectorHwc ? k : k % pixels * in.channels + k / pixels;
      layer.weights[size_t(o * inputs + at)] = int32_t(values[i]);
    }
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
    const auto it = views_.find(value);
    if (it == views_.end()) return nullptr;
    for (ValueId own = value;;) {
      if (consumers_[size_t(own)].size() != 1 || graph_.is_output(own)) return nullptr;
      const NodeId producer = producers_[size_t(own)];
      if (producer == kNoNode || !is_view(graph_.nodes[size_t(producer)])) break;
      own = graph_.nodes[size_t(producer)].input(0);
    }
    for (Layer& layer : network_.layers) {
      if (layer.output == it->second.tensor) return layer.lookup || layer.finish.bipolar ? nullptr : &layer;
    }
    return nullptr;
  }

  // Whether the elements of two values lie one beside the other.
  bool alike(ValueId a, ValueId b) {
    const TensorShape shape = network_.tensors[size_t(tensor_of(a))].shape;
    if (shape != network_.tensors[size_t(tensor_of(b))].shape) return false;
    return views_.at(a).order == views_.at(b).order || shape.rows * shape.columns == 1;
  }

  void take_addition(const Node& node, const FusedLayer& source) {
    if (source.finish.bipolar) {
      return refuse(node, "its sums become signs", "put a QRequantize with the signs after it");
    }
    if (!alike(node.input(0), node.input(1))) {
      return refuse(node, "its operands lie in memory in different orders",
                    "transpose and flatten both alike");
    }
    if (tensor_of(node.input(0)) == tensor_of(node.input(1)))
      return refuse(node, "it adds a value to itself");
    Layer* best = nullptr;
    int own = 0;
    for (int side : {0, 1}) {
      Layer* const layer = fusable(node.input(side));
      if (layer == nullptr || layer->add || (best != nullptr && layer < best)) continue;
      best = layer;
      own = side;
    }
    Layer alone;
    if (best == nullptr) {
      alone = begin_layer(node);
      alone.kind = LayerKind::kMap;
      pass_through(alone);
    }
    Layer& layer = best == nullptr ? alone : *best;
    FusedAdd add;
    add.tensor = tensor_of(node.input(1 - own));
    add.multiplier_a = own == 0 ? source.multiplier_a : source.multiplier_b;
    add.multiplier_b = own == 0 ? source.multiplier_b : source.multiplier_a;
    add.bias = source.finish.bias.empty() ? 0 : source.finish.bias[0];
    add.shift = source.finish.scale.empty() ? 0 : source.finish.scale[0].shift;
    add.zero_point = source.finish.zero_point;
    add.clip_low = source.finish.clip_low;
    add.clip_high = source.finish.clip_high;
    layer.add = add;
    if (best == nullptr) {
      end_layer(node, std::move(alone));
    } else {
      fuse_result(node, layer);
    }
  }

  void take_lookup(const Node& node, const FusedLayer& source) {
    Layer* fused = fusable(node.input(0));
    Layer alone;
    if (fused == nullptr) {
      alone = begin_layer(node);
      alone.kind = LayerKind::kMap;
      pass_through(alone);
    }
    Layer& layer = fused == nullptr ? alone : *fused;
    FusedLookup lookup;
    for (int64_t value : source.table->to_integers()) lookup.table.push_back(int32_t(value));
    lookup.input_shift = source.input_shift;
    layer.lookup = std::move(lookup);
    if (fused == nullptr) {
      end_layer(node, std::move(alone));
    } else {
      fuse_result(node, layer);
    }
  }

  // `layer` now makes the result of `node`, in place of its own.
  void fuse_result(const Node& node, Layer& layer) {
    layer.nodes.push_back(node.name);
    const View old =
        views_.at(node.input(0)).tensor == layer.output ? views_.at(node.input(0)) : views_.at(node.input(1));
    NetworkTensor& tensor = network_.tensors[size_t(layer.output)];
    tensor.name = graph_.value(node.outputs[0]).name;
    if (network_.number == NumberType::kInteger) {
      const ValueRange range = value_range(graph_, node.outputs[0]);
      tensor.bits = bits_for(range.low, range.high);
    }
    views_[node.outputs[0]] = old;
    // A layer moves after whatever makes the other operand.
    const size_t from = size_t(&layer - network_.layers.data());
    std::rotate(network_.layers.begin() + ptrdiff_t(from), network_.layers.begin() + ptrdiff_t(from) + 1,
                network_.layers.end());
  }

  void take_view(const Node& node) {
    tensor_of(node.input(0));
    const View view = views_.at(node.input(0));
    const TensorShape& shape = network_.tensors[size_t(view.tensor)].shape;
    const Shape& out = graph_.value(node.outputs[0]).shape;
    const bool one_pixel = shape.rows * shape.columns == 1;
    View result = view;
    if (node.is("Transpose")) {
      const std::vector<int64_t> order = node.ints_or("perm", {});
      const bool to_nhwc = order == std::vector<int64_t>{0, 2, 3, 1} && view.order == Order::kNchw;
      const bool to_nchw = order == std::vector<int64_t>{0, 3, 1, 2} && view.order == Order::kNhwc;
      if (!to_nhwc && !to_nchw) return refuse(node, "this order of axes moves data");
      result.order = to_nhwc ? Order::kNhwc : Order::kNchw;
    } else if (out.rank() == 2 && out[0] == 1) {
      result.order = view.order == Order::kNchw || view.order == Order::kVectorChw ? Order::kVectorChw
                                                                                   : Order::kVectorHwc;
    } else if (out == Shape{1, shape.channels, 1, 1} && one_pixel) {
      result.order = Order::kNchw;
    } else if (out == Shape{1, 1, 1, shape.channels} && one_pixel) {
      result.order = Order::kNhwc;
    } else if (!node.is("Identity") && out != graph_.value(node.input(0)).shape) {
      return refuse(
          node,
          fmt::format("it turns {} into {}", to_string(graph_.value(node.input(0)).shape), to_string(out)),
          "hardware can only flatten, or take a vector as the channels of one pixel");
    }
    views_[node.outputs[0]] = result;
  }

  // Splits what the host does from the rest.
  void finish_borders() {
    const ValueId in = graph_.nodes[size_t(first_)].input(0);
    const Node& last = graph_.nodes[size_t(last_)];
    const ValueId out = last.outputs[0];
    network_.output = views_.at(out).tensor;
    // The host takes results by channels, as their values lie in the graph unless they end in channels.
    const TensorShape& result = network_.tensors[size_t(network_.output)].shape;
    const Order order = views_.at(out).order;
    if ((order == Order::kNhwc || order == Order::kVectorHwc) && result.rows * result.columns > 1) {
      refuse(last, "the network would end after a Transpose", "end it before the Transpose");
      problems_.raise_if_any();
    }
    network_.before = graph_;
    network_.before.outputs = {in};
    network_.before.remove_dead();
    network_.behind = graph_;
    std::vector<bool> dead(graph_.nodes.size(), false);
    for (size_t id = 0; id <= size_t(last_); ++id) dead[id] = true;
    for (size_t id = size_t(first_); id <= size_t(last_); ++id) {
      if (member_[id]) continue;
      const Node& node = graph_.nodes[id];
      const bool of_host = std::all_of(node.inputs.begin(), node.inputs.end(),
                                       [&](ValueId v) { return v == kNoValue || graph_.is_constant(v); });
      if (of_host) dead[id] = false;
    }
    network_.behind.inputs = {out};
    network_.behind.erase_nodes(dead);
    check_behind(out);
  }

  // Nothing but the hardware's result may cross the border.
  void check_behind(ValueId out) {
    const std::string name = graph_.value(out).name;
    const Graph& behind = network_.behind;
    const std::vector<NodeId> producers = behind.producers();
    const auto known = [&](ValueId v) {
      return v == kNoValue || behind.is_constant(v) || producers[size_t(v)] != kNoNode ||
             behind.value(v).name == name;
    };
    for (const Node& node : behind.nodes) {
      for (ValueId v : node.inputs) {
        if (!known(v))
          refuse(node, fmt::format("it reads '{}' from before or inside the hardware's part",
                                   behind.value(v).name));
      }
    }
    for (ValueId v : behind.outputs) {
      if (!known(v)) {
        problems_.error(ErrorKind::kUnsupported, fmt::format("output '{}'", behind.value(v).name), "",
                        "it comes from before or inside the hardware's part", "cut the model to one output");
      }
    }
    problems_.raise_if_any();
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>> consumers_;
  const std::vector<NodeId> producers_;
  bool rounds_twice_ = false;          // some layer
  const Node* rounds_once_ = nullptr;  // a layer that does, with a shift that would round twice
  Network network_;
  Diagnostics problems_;
  std::vector<bool> member_;
  NodeId first_ = 0, last_ = 0;
  std::map<ValueId, View> views_;
};

}  // namespace

Network extract_network(const Graph& graph) { return Extraction(graph).run(); }

}  // namespace tilewright::pipeline
