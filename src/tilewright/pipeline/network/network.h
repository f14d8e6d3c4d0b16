// The computation of a generated design: the integer part of a graph as fused layers over channel-major
// tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/layers/fused_layer.h"

namespace tilewright::pipeline {

// A map of rows x columns x channels; dense vectors are 1 x 1.
struct TensorShape {
  int64_t rows = 1, columns = 1, channels = 1;
  int64_t elements() const { return rows * columns * channels; }
  bool operator==(const TensorShape&) const = default;
};

struct NetworkTensor {
  std::string name;  // of the graph's value
  TensorShape shape;
  int bits = 8;          // of an element: 1, 2, 4, 8; kFixed: 32
  bool bipolar = false;  // one bit, -1 and +1
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

// An addition fused after a layer: QAdd or FixedAdd of its result (A) and another tensor (B).
struct FusedAdd {
  int tensor = -1;  // B
  int64_t multiplier_a = 1, multiplier_b = 1, bias = 0;
  int shift = 0;
  int64_t zero_point = 0, clip_low = 0, clip_high = 0;
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

  int64_t macs = 0;  // products with data or padding
};

// The hardware's part: one input, one output, layers in topological order.
struct Network {
  std::string name;
  NumberType number = NumberType::kInteger;
  int fraction = 0;  // kFixed
  std::vector<NetworkTensor> tensors;
  std::vector<Layer> layers;
  int input = 0, output = 0;

  // What the host does before and after: graphs whose last output and first input is the border tensor, as
  // NCHW i8 or i32. Empty graphs (no nodes) hand it on.
  Graph before, behind;

  int64_t macs() const;
  int64_t weight_bits() const;  // of all layers together
  const Layer* writer(int tensor) const;
};

// From an integer graph (quantize/integerize/integerize.h) or a fixed-point one. Everything between the first
// and the last operator with weights must be integer; Softmax, casts and borders stay on the host. Errors
// (unsupported, all at once): operators inside that hardware has no layer for, each named with the reason;
// several inputs or outputs; batch other than 1.
Network extract_network(const Graph& graph);

// Evaluates the network as the hardware does, on its input tensor (row, column, channel order), one vector
// of integers per tensor of `tensors`. For tests; the host engine on the graph is the reference.
std::vector<std::vector<int32_t>> evaluate(const Network& network, const std::vector<int32_t>& input);

}  // namespace tilewright::pipeline
