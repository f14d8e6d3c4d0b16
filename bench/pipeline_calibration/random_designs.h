// Random networks and allocations whose components stand for all that designs are made of: every kind of
// number, feeder, memory and multiplier, with few enough products that a component is synthesised in seconds.
// No network that designs are shown for is among them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {

enum class CalibrationNumbers { kBytes, kFewBits, kFixed };

inline CalibrationNumbers calibration_numbers(Random& random) {
  const double choice = random.uniform();
  return choice < 0.45  ? CalibrationNumbers::kBytes
         : choice < 0.8 ? CalibrationNumbers::kFewBits
                        : CalibrationNumbers::kFixed;
}

// One to six layers of up to 96 channels on maps of up to 30 x 30.
inline Network calibration_layers(uint64_t seed, Random& random) {
  const auto channels = [&] { return (int64_t{1} << random.between(1, 5)) * random.between(1, 3); };
  const int64_t side = random.between(6, 30);
  NetworkBuilder builder(fmt::format("calibration{}", seed), {side, side, channels()}, seed);
  int tensor = builder.convolution(0, channels(), random.chance(0.5) ? 3 : 1, random.between(1, 2));
  if (random.chance(0.5)) tensor = builder.depthwise(tensor, random.chance(0.8) ? 3 : 5);
  if (random.chance(0.4)) tensor = builder.max_pool(tensor, 2, 2);
  if (random.chance(0.6)) {
    const int branch = tensor;
    const int64_t width = builder.shape(branch).channels;
    tensor = builder.residual(builder.convolution(branch, width, 3), branch);
  }
  if (random.chance(0.4)) tensor = builder.convolution(tensor, channels(), 1);
  if (random.chance(0.3)) tensor = builder.average(tensor);
  if (random.chance(0.2) && builder.shape(tensor).elements() <= 512) {
    tensor = builder.dense(tensor, random.between(4, 40));
  }
  return builder.finish(tensor);
}

// Biases, factors and shifts of each channel as trained networks have them, or none to multiply with.
inline void random_finish(Layer& layer, Random& random) {
  const bool weighted = !layer.weights.empty();
  if (!weighted && layer.kind == LayerKind::kMaxPool) {
    layer.finish.scale.assign(layer.finish.scale.size(), Requantization{1, 0});
    return;
  }
  if (random.chance(0.1)) {
    layer.finish.scale.assign(layer.finish.scale.size(), Requantization{1, 7});
  } else {
    for (Requantization& scale : layer.finish.scale) {
      scale = {int32_t(random.between(1 << 30, INT32_MAX)), int(random.between(36, 42))};
    }
  }
  const int64_t most = int64_t{1} << random.between(8, 15);
  for (int32_t& bias : layer.finish.bias) bias = weighted ? random.between(-most, most) : 0;
  layer.finish.zero_point = random.between(-128, 127);
  if (random.chance(0.5)) layer.finish.clip_low = layer.finish.zero_point;
}

inline void use_bytes(Network& network, Random& random) {
  for (Layer& layer : network.layers) {
    random_finish(layer, random);
    if (random.chance(0.15)) layer.lookup = FusedLookup{std::vector<int32_t>(256, 3), 0};
    if (layer.lookup) {
      for (int32_t& entry : layer.lookup->table) entry = int32_t(random.between(-128, 127));
    }
    if (!layer.add) continue;
    layer.add->multiplier_a = random.between(1 << 18, 1 << 22);
    layer.add->multiplier_b = random.between(1 << 18, 1 << 22);
    layer.add->zero_point = random.between(-40, 40);
  }
}

// Elements and weights of one (a sign), two or four bits between the borders; of stages also of any two to
// six.
inline void use_few_bits(Network& network, bool signs, Random& random) {
  const int64_t least = signs ? 0 : 1;
  int element_bits = 1 << random.between(least, 2), weight_bits = 1 << random.between(least, 2);
  if (signs && random.chance(0.4)) element_bits = weight_bits = 1;
  if (signs && random.chance(0.6)) {
    element_bits = int(random.between(2, 6));
    weight_bits = int(random.between(2, 6));
  }
  for (size_t t = 1; t < network.tensors.size(); ++t) {
    if (int(t) == network.output) continue;
    network.tensors[t].bits = element_bits;
    network.tensors[t].bipolar = element_bits == 1;
  }
  for (Layer& layer : network.layers) {
    const NetworkTensor& out = network.tensors[size_t(layer.output)];
    random_finish(layer, random);
    layer.finish.zero_point = 0;
    layer.finish.clip_low = out.bipolar ? 0 : -(int64_t{1} << (out.bits - 1));
    layer.finish.clip_high = out.bipolar ? 1 : (int64_t{1} << (out.bits - 1)) - 1;
    layer.finish.bipolar = out.bipolar;
    if (layer.weights.empty()) continue;
    layer.weight_bits = weight_bits;
    layer.weight_bipolar = weight_bits == 1;
    const int64_t high = weight_bits == 1 ? 1 : (int64_t{1} << (weight_bits - 1)) - 1;
    for (int32_t& weight : layer.weights) {
      weight = weight_bits == 1 ? (weight < 0 ? -1 : 1) : int32_t(random.between(-high, high));
    }
  }
}

inline void use_fixed(Network& network, Random& random) {
  network.number = NumberType::kFixed;
  network.fraction = int(random.between(12, 24));
  for (NetworkTensor& t : network.tensors) t.bits = 32;
  for (Layer& layer : network.layers) {
    layer.weight_bits = 32;
    layer.finish.scale.clear();
    for (int32_t& bias : layer.finish.bias) bias = random.between(-(1 << 22), 1 << 22);
    layer.finish.clip_low = random.chance(0.5) ? 0 : INT32_MIN;
    layer.finish.clip_high = INT32_MAX;
    if (layer.add) layer.add = FusedAdd{layer.add->tensor, 1, 1, 0, 0, 0, INT32_MIN, INT32_MAX};
    if (random.chance(0.5)) {
      layer.lookup = FusedLookup{std::vector<int32_t>(513), int(random.between(14, 22))};
      for (int32_t& entry : layer.lookup->table) entry = int32_t(random.next());
    }
    if (layer.kind == LayerKind::kAveragePool) {
      layer.weights.assign(size_t(layer.window.rows * layer.window.columns *
                                  network.tensors[size_t(layer.output)].shape.channels),
                           1 << 16);
    }
  }
}

// Even seeds: for stages, which alone have weights and elements of one bit.
inline Network calibration_network(uint64_t seed) {
  Random random(seed);
  Network network = calibration_layers(seed, random);
  switch (calibration_numbers(random)) {
    case CalibrationNumbers::kBytes:
      use_bytes(network, random);
      break;
    case CalibrationNumbers::kFewBits:
      use_few_bits(network, seed % 2 == 0, random);
      break;
    case CalibrationNumbers::kFixed:
      use_fixed(network, random);
      break;
  }
  return network;
}

inline Multiplier calibration_multiplier(const Network& network, const ArrayShape& shape, bool lanes,
                                         Random& random, const Layer* stage = nullptr) {
  if (network.number == NumberType::kFixed) return Multiplier::kDsp;
  if (stage != nullptr && !lanes && shape.po > 1 && random.chance(0.4)) {
    const NetworkTensor& input = network.tensors[size_t(stage->input)];
    const int block = random.chance(0.5) ? 25 : kWidestBlockBits;
    const auto packed = most_packed(input.bits, stage->weight_bits, block);
    if (packed && !input.bipolar && !stage->weight_bipolar && !has_lowest_weight(*stage)) return *packed;
  }
  if (!lanes && shape.po % 2 == 0 && random.chance(0.3)) return Multiplier::kPair;
  return random.chance(0.35) ? Multiplier::kLut : Multiplier::kDsp;
}

// The engine of a processor for lanes, row-major for the window of one of its layers.
inline void row_major_lanes(const Network& network, Allocation& a, Random& random) {
  for (const Layer& layer : network.layers) {
    if (layer.kind != LayerKind::kDepthwise || !random.chance(0.5)) continue;
    a.engines[1].shape.feeder = Feeder::kRowMajor;
    a.engines[1].taps_y = layer.window.rows;
    a.engines[1].taps_x = layer.window.columns;
  }
}

inline Allocation calibration_allocation(const Network& network, uint64_t seed) {
  Random random(seed);
  Allocation a = seed % 2 == 0 ? random_stages(network, seed) : random_processors(network, seed);
  a.port_bytes = int64_t{8} << random.between(0, 3);
  if (random.chance(0.3)) a.max_burst_beats = int64_t{16} << random.between(0, 1);
  for (size_t i = 0; a.streaming && i < a.layers.size(); ++i) {
    LayerAllocation& own = a.layers[i];
    own.stage.multiplier = calibration_multiplier(network, own.stage, works_in_lanes(network.layers[i].kind),
                                                  random, &network.layers[i]);
    if (network.layers[i].weight_bipolar && random.chance(0.6)) own.stage.multiplier = Multiplier::kLut;
    own.input_fifo = random.chance(0.6) ? random.between(2, random.chance(0.5) ? 60 : 700) : 0;
    own.residual_fifo = random.chance(0.5) ? random.between(2, 200) : 0;
  }
  for (EngineAllocation& engine : a.engines) {
    engine.shape.multiplier = calibration_multiplier(network, engine.shape, engine.lanes, random);
  }
  if (a.streaming) return a;
  row_major_lanes(network, a, random);
  if (random.chance(0.3)) {
    for (LayerAllocation& layer : a.layers) layer.band_rows = 1;  // hundreds of tasks
  }
  if (random.chance(0.4)) a.tensor_memory = netlist::MemoryKind::kUltraRam;
  if (random.chance(0.5)) {
    a.weights_on_chip = false;
    a.ring_words = int64_t{256} << random.between(0, 4);
    a.weight_channels = int64_t{1} << random.between(0, 2);
    if (random.chance(0.3)) a.weight_memory = netlist::MemoryKind::kUltraRam;
  }
  return a;
}

}  // namespace tilewright::pipeline
