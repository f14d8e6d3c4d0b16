// A fixed point: additions pass widths from one operand to the other, tensors to their parts and back, and on
// to whatever made those.
#include "tilewright/pipeline/network/fit_tensors.h"

#include <algorithm>
#include <bit>

namespace tilewright::pipeline {
namespace {

bool has_padding(const Layer& layer, const TensorShape& in, const TensorShape& out) {
  const LayerWindow& w = layer.window;
  return w.top > 0 || w.left > 0 || (out.rows - 1) * w.stride_y - w.top + w.rows > in.rows ||
         (out.columns - 1) * w.stride_x - w.left + w.columns > in.columns;
}

}  // namespace

int bits_for(int64_t low, int64_t high) {
  int bits = 2;
  while (low < -(int64_t{1} << (bits - 1)) || high >= (int64_t{1} << (bits - 1))) ++bits;
  return bits;
}

int addressed_bits(int bits) { return int(std::bit_ceil(unsigned(bits))); }

void fit_tensors(Network& network) {
  if (network.number == NumberType::kFixed) {
    for (Layer& layer : network.layers) {
      if (layer.kind == LayerKind::kMaxPool) layer.window.pad_value = INT32_MIN;
    }
    return;
  }
  for (bool changed = true; changed;) {
    changed = false;
    const auto widen = [&](NetworkTensor& tensor, int bits) {
      if (!tensor.bipolar && tensor.bits >= bits) return;
      tensor.bits = std::max(tensor.bits, bits);
      tensor.bipolar = false;
      changed = true;
    };
    for (const int border : {network.input, network.output}) {
      NetworkTensor& tensor = network.tensors[size_t(border)];
      if (!tensor.bipolar) widen(tensor, addressed_bits(tensor.bits));
    }
    for (NetworkTensor& tensor : network.tensors) {
      if (!tensor.part) continue;
      NetworkTensor& whole = network.tensors[size_t(tensor.part->whole)];
      if (tensor.bits == whole.bits && tensor.bipolar == whole.bipolar) continue;
      const int bits = std::max({2, tensor.bits, whole.bits});
      widen(tensor, bits);
      widen(whole, bits);
    }
    for (const Layer& layer : network.layers) {
      NetworkTensor &in = network.tensors[size_t(layer.input)], &out = network.tensors[size_t(layer.output)];
      const int64_t pad = layer.window.pad_value;
      const bool sign = in.bipolar && (pad == 1 || pad == -1);
      if (layer.kind != LayerKind::kMaxPool && !sign && has_padding(layer, in.shape, out.shape)) {
        widen(in, bits_for(pad, pad));
        if (layer.copy) widen(out, bits_for(pad, pad));  // it holds the padding itself
      }
      if (layer.lookup) widen(out, 2);
      if (!layer.add) continue;
      NetworkTensor& other = network.tensors[size_t(layer.add->tensor)];
      widen(out, std::max(2, other.bits));
      widen(other, out.bits);
    }
  }
  for (Layer& layer : network.layers) {
    const NetworkTensor &in = network.tensors[size_t(layer.input)],
                        &out = network.tensors[size_t(layer.output)];
    if (layer.kind == LayerKind::kMaxPool) {
      layer.window.pad_value = in.bipolar ? -1 : -(int64_t{1} << (in.bits - 1));
    }
    // Signs that are handed on, or chosen from, are thresholds of themselves.
    if (out.bipolar && !layer.finish.bipolar) {
      layer.finish.clip_low = 0, layer.finish.clip_high = 1;
      layer.finish.bipolar = true;
    }
  }
}

}  // namespace tilewright::pipeline
