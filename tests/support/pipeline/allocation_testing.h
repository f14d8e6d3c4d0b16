// Random legal allocations for tests.
#pragma once

#include <numeric>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/pipeline/design/layer_geometry.h"

namespace tilewright::pipeline {

inline int64_t random_divisor(int64_t n, Random& random) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) divisors.push_back(d);
  }
  return divisors[size_t(random.between(0, int64_t(divisors.size()) - 1))];
}

// A divisor, or the outputs at once that make a random number of blocks.
inline int64_t any_outputs(int64_t channels, Random& random) {
  if (random.chance(0.5)) return random_divisor(channels, random);
  const int64_t blocks = random.between(1, channels);
  return (channels + blocks - 1) / blocks;
}

// Of tables in one of four designs of integers.
inline Multiplier random_finish_multiplier(const Network& network, uint64_t seed) {
  Random random(seed + 77);
  return network.number == NumberType::kInteger && random.chance(0.25) ? Multiplier::kLut : Multiplier::kDsp;
}

// One array for the convolutions, lanes where the network needs them (channel-major), bands at random.
inline Allocation random_processors(const Network& network, uint64_t seed) {
  Random random(seed);
  Allocation a;
  a.finish_multiplier = random_finish_multiplier(network, seed);
  const int64_t pi = int64_t{1} << random.between(0, 3), po = pi << random.between(0, 2);
  const auto divisor = [&] { return random_divisor(pi, random); };
  a.engines.push_back({"mac", false, {pi, po, divisor()}});
  a.engines.push_back({"lanes", true, {pi, pi, divisor()}});
  a.units = random.between(1, 3);
  a.tight_memory = random.chance(0.5);
  for (size_t i = 0; i < network.tensors.size(); ++i)
    a.tensor_unit.push_back(int(random.between(0, a.units - 1)));
  for (const Layer& layer : network.layers) {
    LayerAllocation own;
    own.layer = layer.name;
    own.engine = works_in_lanes(layer.kind) ? 1 : 0;
    own.band_rows =
        random.chance(0.5) ? random.between(1, network.tensors[size_t(layer.output)].shape.rows) : 0;
    a.layers.push_back(own);
  }
  return a;
}

// Stages of random widths that go together; the outputs need not divide the channels.
inline Allocation random_stages(const Network& network, uint64_t seed) {
  Random random(seed);
  for (;;) {
    Allocation a;
    a.streaming = true;
    a.finish_multiplier = random_finish_multiplier(network, seed);
    for (const Layer& layer : network.layers) {
      const int64_t inputs = network.tensors[size_t(layer.input)].shape.channels;
      const int64_t outputs = network.tensors[size_t(layer.output)].shape.channels;
      LayerAllocation own;
      own.layer = layer.name;
      own.stage.pi = random_divisor(inputs, random);
      own.stage.po = works_in_lanes(layer.kind) ? own.stage.pi : any_outputs(outputs, random);
      own.stage.pf = random_divisor(std::gcd(own.stage.po, outputs), random);
      if (random.chance(0.3)) own.stage.feeder = Feeder::kRowMajor;
      if (random.chance(0.3))
        own.stage.multiplier = kMultipliers[size_t(random.between(0, std::ssize(kMultipliers) - 1))];
      a.layers.push_back(own);
    }
    Diagnostics diagnostics;
    a.verify(network, diagnostics);
    if (diagnostics.ok()) return a;
  }
}

// Weights from DRAM through one, two or four ports, and a memory as on a large board.
inline Allocation with_dram(const Network& network, Allocation allocation, uint64_t seed) {
  Random random(seed);
  allocation.weights_on_chip = false;
  allocation.weight_channels = int64_t{1} << random.between(0, 2);
  allocation.port_bytes = int64_t{8} << random.between(0, 2);
  allocation.max_burst_beats = int64_t{1} << random.between(2, 6);
  for (allocation.ring_words = 64; allocation.ring_words < 1 << 16; allocation.ring_words *= 2) {
    Diagnostics diagnostics;
    allocation.verify(network, diagnostics);
    if (diagnostics.ok()) break;
  }
  return allocation;
}

}  // namespace tilewright::pipeline
