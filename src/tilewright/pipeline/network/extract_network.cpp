// From an integer or fixed-point graph to a network. Values of the graph become views of channel-major
// tensors: reshapes and transposes that keep the elements in place only change the view, and a dense layer
// takes its weights in the order of the tensor behind it. Additions and lookups are fused into the layer
// before them where it has no other reader.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/graph/value_range.h"
#include "tilewright/graph/window.h"
#include "tilewright/pipeline/network/fit_tensors.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {
namespace {

enum class Order { kNchw, kNhwc, kVectorChw, kVectorHwc };

// A value of the graph as a tensor of the network.
struct View {
  int tensor = -1;
  Order order = Order::kNchw;
};

bool is_layer(const Node& node) {
  static const std::set<std::string> kNames = {
      "QConv",     "QGemm",     "QAdd",     "QAveragePool",     "QRequantize", "QLookup",
      "FixedConv", "FixedGemm", "FixedAdd", "FixedAveragePool", "FixedLookup"};
  return node.domain == kTilewrightDomain && kNames.count(node.op) != 0;
}

bool has_weights(const Node& node) {
  return node.is_tilewright("QConv") || node.is_tilewright("QGemm") || node.is_tilewright("FixedConv") ||
         node.is_tilewright("FixedGemm");
}

bool is_view(const Node& node) {
  return node.is("Flatten") || node.is("Reshape") || node.is("Transpose") || node.is("Squeeze") ||
         node.is("Unsqueeze") || node.is("Identity");
}

bool is_integer_type(ElementType type) { return type == ElementType::kI8 || type == ElementType::kI32; }

bool is_integer_pool(const Graph& graph, const Node& node) {
  return (node.is("MaxPool") || node.is("GlobalMaxPool")) &&
         is_integer_type(graph.value(node.outputs[0]).type);
}
bool is_integer_clip(const Graph& graph, const Node& node) {
  return (node.is("Clip") || node.is("Relu")) && is_integer_type(graph.value(node.outputs[0]).type);
}
bool runs_in_hardware(const Graph& graph, const Node& node) {
  return is_layer(node) || is_integer_pool(graph, node) || is_integer_clip(graph, node);
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
      if (first_ == count && (has_weights(node) || is_integer_pool(graph_, node))) first_ = id;
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
          refuse(graph_.nodes[size_t(id)], "its result leaves the network beside the last layer's",
                 "cut the model to one output");
        }
        member_[size_t(id)] = false;
        continue;
      }
      const Node& node = graph_.nodes[size_t(id)];
      if (!runs_in_hardware(graph_, node) && !is_view(node)) {
        refuse(node, "hardware has no layer for it, and it stands between layers", "remove or replace it");
      }
    }
    problems_.raise_if_any();
    network_.name = graph_.name;
    bool fixed = false, integer = false;
    for (NodeId id = first_; id <= last_; ++id) {
      if (!member_[size_t(id)] || !is_layer(graph_.nodes[size_t(id)])) continue;
      const Node& node = graph_.nodes[size_t(id)];
      const bool is_fixed = node.op.rfind("Fixed", 0) == 0;
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
    const bool adds = node.op == "QAdd" || node.op == "FixedAdd";
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
    if (node.op == "QAdd" || node.op == "FixedAdd") return take_addition(node);
    if (node.op == "QLookup" || node.op == "FixedLookup") return take_lookup(node);
    Layer layer = begin_layer(node);
    const bool windows =
        node.op == "QConv" || node.op == "FixedConv" || node.op.find("Pool") != std::string::npos;
    if (windows && views_.at(node.input(0)).order != Order::kNchw) {
      return refuse(node, "the axes of what it reads are in another order than [1, channels, rows, columns]",
                    "remove the Transpose in front of it");
    }
    const Shape& x = graph_.value(node.input(0)).shape;
    if (node.op == "QConv" || node.op == "FixedConv") {
      if (!take_convolution(node, x, layer)) return;
    } else if (node.op == "QGemm" || node.op == "FixedGemm") {
      take_dense(node, layer);
    } else if (is_integer_pool(graph_, node)) {
      layer.kind = LayerKind::kMaxPool;
      const Window window = node.is("MaxPool") ? pool_window(node, x) : global_window(node, x);
      if (!set_window(node, window, layer)) return;
      pass_through(layer);
    } else if (node.op == "QAveragePool" || node.op == "FixedAveragePool") {
      layer.kind = LayerKind::kAveragePool;
      if (!set_window(node, pool_window(node, x), layer)) return;
      set_scalar_finish(node, layer);
    } else if (node.op == "QRequantize") {
      layer.kind = LayerKind::kMap;
      set_scalar_finish(node, layer);
    } else {  // Clip, Relu
      layer.kind = LayerKind::kMap;
      pass_through(layer);
      set_clip(node, layer);
    }
    end_layer(node, std::move(layer));
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
    layer.bias.resize(size_t(channels), layer.bias.empty() ? 0 : layer.bias[0]);
    if (network_.number == NumberType::kInteger) {
      layer.scale.resize(size_t(channels), layer.scale.empty() ? Requantization{} : layer.scale[0]);
    }
    const TensorShape& out = network_.tensors[size_t(layer.output)].shape;
    if (!layer.weights.empty()) {
      layer.macs = out.rows * out.columns * int64_t(layer.weights.size());
    }
    network_.layers.push_back(std::move(layer));
  }

  bool set_window(const Node& node, const Window& window, Layer& layer) {
    if (!window.is_2d()) {
      refuse(node, "its window is not two-dimensional");
      return false;
    }
    if (window.has_dilation()) {
      refuse(node, "its window is dilated", "run it on the overlay (tilewright compile)");
      return false;
    }
    const WindowAxis &y = window.height(), &x = window.width();
    layer.window = {
        y.kernel, x.kernel, y.stride, x.stride, y.pad_begin, x.pad_begin, node.int_or("pad_value", 0)};
    return true;
  }

  bool take_convolution(const Node& node, const Shape& x, Layer& layer) {
    const Tensor* const weights = graph_.constant_input(node, 1);
    const int64_t groups = node.int_or("group", 1);
    const Shape& w = weights->shape();
    const bool depthwise = groups > 1 && groups == x[1] && w[0] == x[1];
    if (groups > 1 && !depthwise) {
      refuse(node, fmt::format("it has {} groups of several channels", groups),
             "only 1 group or one per channel is possible; run it on the overlay (tilewright compile)");
      return false;
    }
    if (!set_window(node, convolution_window(node, x, w), layer)) return false;
    layer.kind = depthwise ? LayerKind::kDepthwise : LayerKind::kConvolution;
    const std::vector<int64_t> values = weights->to_integers();
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
    set_layer_finish(node, layer);
    return true;
  }

  void take_dense(const Node& node, Layer& layer) {
    const View view = views_.at(node.input(0));
    const TensorShape in = network_.tensors[size_t(view.tensor)].shape;
    layer.kind = LayerKind::kConvolution;
    layer.window.rows = in.rows;
    layer.window.columns = in.columns;
    const std::vector<int64_t> values = graph_.constant_input(node, 1)->to_integers();
    const int64_t inputs = in.elements(), pixels = in.rows * in.columns;
    layer.weights.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t o = int64_t(i) / inputs, k = int64_t(i) % inputs;
      const int64_t at = view.order == Order::kVectorHwc ? k : k % pixels * in.channels + k / pixels;
      layer.weights[size_t(o * inputs + at)] = int32_t(values[i]);
    }
    set_layer_finish(node, layer);
  }

  // Bias, multiplier and shift of QConv and QGemm; bias and clips of their fixed-point forms.
  void set_layer_finish(const Node& node, Layer& layer) {
    if (const Tensor* const bias = graph_.constant_input(node, 2)) layer.bias = bias->to_integers();
    if (network_.number == NumberType::kFixed) {
      layer.weight_bits = 32;
      layer.clip_low = node.int_or("clip_low", INT32_MIN);
      layer.clip_high = node.int_or("clip_high", INT32_MAX);
      return;
    }
    const std::vector<int64_t> multipliers = graph_.constant_input(node, 3)->to_integers();
    const std::vector<int64_t> shifts = graph_.constant_input(node, 4)->to_integers();
    layer.scale.resize(std::max(multipliers.size(), shifts.size()));
    for (size_t i = 0; i < layer.scale.size(); ++i) {
      layer.scale[i] = {int32_t(multipliers[multipliers.size() == 1 ? 0 : i]),
                        int32_t(shifts[shifts.size() == 1 ? 0 : i])};
    }
    if (layer.scale.size() == 1) layer.scale.resize(layer.bias.size(), layer.scale[0]);
    set_output_attributes(node, layer);
    const auto [low, high] = std::minmax_element(layer.weights.begin(), layer.weights.end());
    layer.weight_bipolar =
        std::all_of(layer.weights.begin(), layer.weights.end(), [](int32_t w) { return w == 1 || w == -1; });
    layer.weight_bits = layer.weight_bipolar ? 1 : bits_for(*low, *high);
  }

  void set_output_attributes(const Node& node, Layer& layer) {
    layer.zero_point = node.int_or("y_zero_point", 0);
    layer.clip_low = node.int_or("clip_low", -128);
    layer.clip_high = node.int_or("clip_high", 127);
    layer.bipolar = node.int_or("bipolar", 0) != 0;
  }

  // Operators with one multiplier and shift for all channels.
  void set_scalar_finish(const Node& node, Layer& layer) {
    if (network_.number == NumberType::kFixed) {
      const TensorShape& in = network_.tensors[size_t(layer.input)].shape;
      layer.weights.assign(size_t(in.channels * layer.window.rows * layer.window.columns),
                           int32_t(node.int_or("multiplier", 1)));
      layer.weight_bits = 32;
      layer.clip_low = node.int_or("clip_low", INT32_MIN);
      layer.clip_high = node.int_or("clip_high", INT32_MAX);
      return;
    }
    layer.bias = {node.int_or("bias", 0)};
    layer.scale = {{int32_t(node.int_or("multiplier", 1)), int32_t(node.int_or("shift", 0))}};
    set_output_attributes(node, layer);
  }

  // The result is the input: pools and clips.
  void pass_through(Layer& layer) {
    const bool fixed = network_.number == NumberType::kFixed;
    layer.clip_low = fixed ? INT32_MIN : -128;
    layer.clip_high = fixed ? INT32_MAX : 127;
    if (fixed && layer.kind != LayerKind::kMaxPool) {
      const TensorShape& in = network_.tensors[size_t(layer.input)].shape;
      layer.weights.assign(size_t(in.channels), int32_t{1} << network_.fraction);
      layer.weight_bits = 32;
    }
  }

  void set_clip(const Node& node, Layer& layer) {
    if (node.is("Relu")) {
      layer.clip_low = 0;
      return;
    }
    if (const Tensor* const low = graph_.constant_input(node, 1)) layer.clip_low = low->integer_at(0);
    if (const Tensor* const high = graph_.constant_input(node, 2)) layer.clip_high = high->integer_at(0);
  }

  // The layer that makes `value` when this reader is its only one and nothing is fused behind it yet that
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
      if (layer.output == it->second.tensor) return layer.lookup || layer.bipolar ? nullptr : &layer;
    }
    return nullptr;
  }

  // Whether the elements of two values lie one beside the other.
  bool alike(ValueId a, ValueId b) {
    const TensorShape shape = network_.tensors[size_t(tensor_of(a))].shape;
    if (shape != network_.tensors[size_t(tensor_of(b))].shape) return false;
    return views_.at(a).order == views_.at(b).order || shape.rows * shape.columns == 1;
  }

  void take_addition(const Node& node) {
    if (node.int_or("bipolar", 0) != 0) {
      return refuse(node, "its sums become signs", "put a QRequantize with the signs behind it");
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
    const bool fixed = network_.number == NumberType::kFixed;
    add.multiplier_a = node.int_or(own == 0 ? "multiplier_a" : "multiplier_b", 1);
    add.multiplier_b = node.int_or(own == 0 ? "multiplier_b" : "multiplier_a", 1);
    add.bias = node.int_or("bias", 0);
    add.shift = int(node.int_or("shift", 0));
    add.zero_point = node.int_or("y_zero_point", 0);
    add.clip_low = node.int_or("clip_low", fixed ? INT32_MIN : -128);
    add.clip_high = node.int_or("clip_high", fixed ? INT32_MAX : 127);
    layer.add = add;
    if (best == nullptr) {
      end_layer(node, std::move(alone));
    } else {
      fuse_result(node, layer);
    }
  }

  void take_lookup(const Node& node) {
    Layer* fused = fusable(node.input(0));
    Layer alone;
    if (fused == nullptr) {
      alone = begin_layer(node);
      alone.kind = LayerKind::kMap;
      pass_through(alone);
    }
    Layer& layer = fused == nullptr ? alone : *fused;
    FusedLookup lookup;
    for (int64_t value : graph_.constant_input(node, 1)->to_integers())
      lookup.table.push_back(int32_t(value));
    lookup.input_shift = int(node.int_or("input_shift", 0));
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
    // A layer moves behind whatever makes the other operand.
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
          "only flattening is possible inside hardware, and a vector as the channels of one pixel");
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
      refuse(last, "the network would end behind a Transpose", "end it in front of the Transpose");
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
  Network network_;
  Diagnostics problems_;
  std::vector<bool> member_;
  NodeId first_ = 0, last_ = 0;
  std::map<ValueId, View> views_;
};

}  // namespace

Network extract_network(const Graph& graph) { return Extraction(graph).run(); }

}  // namespace tilewright::pipeline
