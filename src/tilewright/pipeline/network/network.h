// The computation of a generated design: the integer part of a graph as fused layers over channel-major
// tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/layers/fused_layer.h"

namespace tilewright::pipeline {

// A map of rows x columns x channels; dense vectors are 1 x 1.
struct TensorShape {
  int64_t rows = 1, columns = 1, channels = 1;
  int64_t elements() const { return rows * columns * channels; }
  bool operator==(const TensorShape&) const = default;
};

// Where a tensor lies in another one: its element (y, x, c) is (row + y * row_step, column + x * column_step,
// channel + c) of `whole`. A step of 0, for tensors that are only read, gives one element many times.
struct TensorPart {
  int whole = -1;
  int64_t row = 0, column = 0, channel = 0;
  int64_t row_step = 1, column_step = 1;
  bool operator==(const TensorPart&) const = default;
};

struct NetworkTensor {
  std::string name;  // of the graph's value
  TensorShape shape;
  int bits = 8;          // of an element: 1 to 8, input and output 1, 2, 4 or 8; kFixed: 32
  bool bipolar = false;  // one bit, -1 and +1
  // A tensor that is no part is written by a layer, or comes from outside, or its parts are written and fill
  // it: what a Concat or a Resize makes. Parts that nobody writes are what a Slice or a Split reads.
  std::optional<TensorPart> part = std::nullopt;
  // Channels at which something begins that is read or written by itself, ascending: in memory, a word begins
  // there (tensor_parts.h).
  std::vector<int64_t> cuts = {};
};

enum class LayerKind {
  kConvolution,  // all channels with all; a dense layer has the input's rows and columns as its window
  kDepthwise,
  kMaxPool,
  kAveragePool,
  kMap,  // element by element: QRequantize, QAdd, QLookup that could not be fused
};
const char* kind_name(LayerKind kind);

struct LayerWindow {
  int64_t rows = 1, columns = 1;  // of the kernel
  int64_t stride_y = 1, stride_x = 1;
  int64_t top = 0, left = 0;  // padding; bottom and right follow from the output's shape
  int64_t pad_value = 0;
};

// An addition fused after a layer: QAdd or FixedAdd of its result (A) and another tensor (B); or their
// product, QMul: (A - zero_a) * (B - zero_b) * multiplier_a.
struct FusedAdd {
  int tensor = -1;  // B
  int64_t multiplier_a = 1, multiplier_b = 1, bias = 0;
  int shift = 0;
  int64_t zero_point = 0, clip_low = 0, clip_high = 0;
  bool product = false;
  int64_t zero_a = 0, zero_b = 0;
};

struct FusedLookup {
  std::vector<int32_t> table;  // 256 or 513 entries
  int input_shift = 0;         // FixedLookup
};

struct Layer {
  std::string name;  // of the node that does the products
  LayerKind kind = LayerKind::kConvolution;
  int input = 0, output = 0;  // tensors
  LayerWindow window;
  int weight_bits = 8;
  bool weight_bipolar = false;
  // [out][ky][kx][in] (depthwise: [channel][ky][kx]); empty for pools and maps.
  std::vector<int32_t> weights;
  LayerFinish finish;  // bias and scale per output channel; kFixed: no scale
  std::optional<FusedAdd> add;
  std::optional<FusedLookup> lookup;
  std::vector<std::string> nodes;  // of the graph, that it stands for
  bool copy = false;               // a kMap that hands its input on

  int64_t macs = 0;  // products with data or padding
};

// The hardware's part: layers in topological order. Several inputs, or outputs, are parts of one tensor.
struct Network {
  std::string name;
  NumberType number = NumberType::kInteger;
  int fraction = 0;  // kFixed
  std::vector<NetworkTensor> tensors;
  std::vector<Layer> layers;
  int input = 0, output = 0;
  // What `before` gives and what `behind` takes, in their order; empty: the one input or output itself.
  std::vector<int> inputs, outputs;

  // What the host does before and after: graphs whose outputs, and first inputs, are the border tensors, as
  // NCHW i8 or i32. Empty graphs (no nodes) hand them on. Further inputs of `behind` are inputs of the whole
  // graph, by name.
  Graph before, behind;
  // Layers of the graph that `behind` or `before` computes although hardware has their operators, and what
  // keeps them there: each with its reason.
  std::vector<Diagnostic> left_out;
  // Products of the graph, and of its nodes that are hardware; 0: made by hand.
  int64_t graph_products = 0, hardware_products = 0;

  std::vector<int> input_tensors() const { return inputs.empty() ? std::vector<int>{input} : inputs; }
  std::vector<int> output_tensors() const { return outputs.empty() ? std::vector<int>{output} : outputs; }
  int64_t macs() const;
  int64_t weight_bits() const;  // of all layers together
  const Layer* writer(int tensor) const;
  int64_t readers(int tensor) const;  // inputs and operands of layers, and the network's output
};

// A layer in words: its name, what it computes, its shapes.
std::string description(const Network& network, const Layer& layer);

// From an integer graph (quantize/integerize/integerize.h) or a fixed-point one: the region that
// network/region.h finds. What only moves elements (Concat, Slice, Pad, Resize, Transpose, ...) becomes parts
// of tensors, and copies where it has to; grouped, dilated and transposed convolutions become several layers
// on parts. Nodes that hardware cannot compute, and what needs them, stay on the host (left_out). Errors
// (unsupported): nothing is left for hardware, with every node's reason; integer and fixed-point operators.
Network extract_network(const Graph& graph);

// Evaluates the network as the hardware does, on its input tensor (row, column, channel order), one vector
// of integers per tensor of `tensors`. For tests; the host engine on the graph is the reference.
std::vector<std::vector<int32_t>> evaluate(const Network& network, const std::vector<int32_t>& input);

}  // namespace tilewright::pipeline
