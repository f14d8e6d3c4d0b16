// Cuts travel like widths do: from a tensor to its parts and back, and across layers that keep channels.
#include "tilewright/pipeline/network/tensor_parts.h"

#include <algorithm>
#include <iterator>

#include "tilewright/base/integer_math.h"

namespace tilewright::pipeline {
namespace {

// Adds the positions inside the tensor; whether there was a new one.
bool add_cuts(NetworkTensor& tensor, const std::vector<int64_t>& positions, int64_t offset) {
  bool changed = false;
  for (const int64_t position : positions) {
    const int64_t at = position + offset;
    if (at <= 0 || at >= tensor.shape.channels) continue;
    const auto place = std::lower_bound(tensor.cuts.begin(), tensor.cuts.end(), at);
    if (place != tensor.cuts.end() && *place == at) continue;
    tensor.cuts.insert(place, at);
    changed = true;
  }
  return changed;
}

// The slots of all channels of a tensor, and their number.
std::vector<int64_t> slots_of(const NetworkTensor& tensor, int64_t word) {
  std::vector<int64_t> slots;
  for (int64_t c = 0; c < tensor.shape.channels; ++c) slots.push_back(slot_of_channel(tensor, c, word));
  return slots;
}

}  // namespace

TensorPart place_in_whole(const Network& network, int tensor) {
  TensorPart place{tensor};
  while (const std::optional<TensorPart>& outer = network.tensors[size_t(place.whole)].part) {
    place = {outer->whole,
             outer->row + place.row * outer->row_step,
             outer->column + place.column * outer->column_step,
             outer->channel + place.channel,
             place.row_step * outer->row_step,
             place.column_step * outer->column_step};
  }
  return place;
}

bool is_written(const Network& network, int tensor) {
  return network.writer(tensor) != nullptr || !written_parts(network, tensor).empty();
}

std::vector<int> written_parts(const Network& network, int whole) {
  std::vector<int> parts;
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const std::optional<TensorPart>& part = network.tensors[t].part;
    if (part && part->whole == whole && is_written(network, int(t))) parts.push_back(int(t));
  }
  return parts;
}

void remove_unused(Network& network) {
  // Backwards: whoever reads a layer's result comes after it. A part is read where its whole is.
  std::vector<bool> used(network.tensors.size(), false);
  std::vector<bool> read(network.tensors.size(), false);  // by whole tensor
  const auto use = [&](int tensor) {
    read[size_t(place_in_whole(network, tensor).whole)] = true;
    for (int t = tensor; !used[size_t(t)]; t = network.tensors[size_t(t)].part->whole) {
      used[size_t(t)] = true;
      if (!network.tensors[size_t(t)].part) break;
    }
  };
  for (const int tensor : network.input_tensors()) use(tensor);
  for (const int tensor : network.output_tensors()) use(tensor);
  std::vector<Layer> kept;
  for (size_t l = network.layers.size(); l-- > 0;) {
    Layer& layer = network.layers[l];
    if (!read[size_t(place_in_whole(network, layer.output).whole)]) continue;
    use(layer.output);
    use(layer.input);
    if (layer.add) use(layer.add->tensor);
    kept.push_back(std::move(layer));
  }
  network.layers.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));

  std::vector<int> number(network.tensors.size(), -1);
  std::vector<NetworkTensor> tensors;
  for (size_t t = 0; t < number.size(); ++t) {
    if (!used[t]) continue;
    number[t] = int(tensors.size());
    tensors.push_back(std::move(network.tensors[t]));
  }
  const auto renumber = [&](int& tensor) { tensor = number[size_t(tensor)]; };
  for (NetworkTensor& tensor : tensors) {
    if (tensor.part) renumber(tensor.part->whole);
  }
  for (Layer& layer : network.layers) {
    renumber(layer.input);
    renumber(layer.output);
    if (layer.add) renumber(layer.add->tensor);
  }
  renumber(network.input);
  renumber(network.output);
  for (int& tensor : network.inputs) renumber(tensor);
  for (int& tensor : network.outputs) renumber(tensor);
  network.tensors = std::move(tensors);
}

void cut_channels(Network& network) {
  const auto alike = [&](int a, int b) {
    NetworkTensor &one = network.tensors[size_t(a)], &other = network.tensors[size_t(b)];
    return add_cuts(one, other.cuts, 0) | add_cuts(other, one.cuts, 0);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (NetworkTensor& tensor : network.tensors) {
      if (!tensor.part) continue;
      NetworkTensor& whole = network.tensors[size_t(tensor.part->whole)];
      const int64_t first = tensor.part->channel;
      changed |= add_cuts(whole, {first}, 0);
      changed |= add_cuts(whole, tensor.cuts, first);
      changed |= add_cuts(tensor, whole.cuts, -first);
    }
    for (const Layer& layer : network.layers) {
      if (layer.kind != LayerKind::kConvolution) changed |= alike(layer.input, layer.output);
      if (layer.add) changed |= alike(layer.output, layer.add->tensor);
    }
  }
}

int64_t slot_of_channel(const NetworkTensor& tensor, int64_t channel, int64_t word) {
  int64_t slot = 0, begin = 0;
  for (const int64_t cut : tensor.cuts) {
    if (cut > channel) break;
    slot += ceil_div(cut - begin, word) * word;
    begin = cut;
  }
  return slot + channel - begin;
}

int64_t channel_slots(const NetworkTensor& tensor, int64_t word) {
  return slot_of_channel(tensor, tensor.shape.channels - 1, word) + 1;
}

Layer with_slots(const Network& network, const Layer& layer, int64_t word) {
  const NetworkTensor &in = network.tensors[size_t(layer.input)],
                      &out = network.tensors[size_t(layer.output)];
  const std::vector<int64_t> from = slots_of(in, word), to = slots_of(out, word);
  const int64_t in_slots = from.back() + 1, out_slots = to.back() + 1;
  if (in_slots == in.shape.channels && out_slots == out.shape.channels) return layer;
  Layer wide = layer;
  const bool all = layer.kind == LayerKind::kConvolution;
  const int64_t taps = layer.window.rows * layer.window.columns;
  if (!layer.weights.empty()) {
    const int64_t own = all ? in.shape.channels : 1, slots = all ? in_slots : 1;
    wide.weights.assign(size_t(out_slots * taps * slots), 0);
    for (size_t i = 0; i < layer.weights.size(); ++i) {
      const int64_t o = int64_t(i) / (taps * own), tap = int64_t(i) / own % taps, c = int64_t(i) % own;
      wide.weights[size_t((to[size_t(o)] * taps + tap) * slots + (all ? from[size_t(c)] : 0))] =
          layer.weights[i];
    }
  }
  wide.finish.bias.assign(size_t(out_slots), 0);
  if (!layer.finish.scale.empty()) wide.finish.scale.assign(size_t(out_slots), Requantization{});
  for (size_t c = 0; c < to.size(); ++c) {
    wide.finish.bias[size_t(to[c])] = layer.finish.bias[c];
    if (!layer.finish.scale.empty()) wide.finish.scale[size_t(to[c])] = layer.finish.scale[c];
  }
  return wide;
}

}  // namespace tilewright::pipeline
