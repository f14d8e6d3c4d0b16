// Random legal allocations for tests.
#pragma once

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

// One array for the convolutions, lanes where the network needs them (channel-major), bands at random.
inline Allocation random_processors(const Network& network, uint64_t seed) {
  Random random(seed);
  Allocation a;
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

// Stages of random widths that divide the channels and each other.
inline Allocation random_stages(const Network& network, uint64_t seed) {
  Random random(seed);
  for (;;) {
    Allocation a;
    a.streaming = true;
    for (const Layer& layer : network.layers) {
      const int64_t inputs = network.tensors[size_t(layer.input)].shape.channels;
      const int64_t outputs = network.tensors[size_t(layer.output)].shape.channels;
      LayerAllocation own;
      own.layer = layer.name;
      own.stage.pi = random_divisor(inputs, random);
      own.stage.po = works_in_lanes(layer.kind) ? own.stage.pi : random_divisor(outputs, random);
      own.stage.pf = random_divisor(own.stage.po, random);
      if (random.chance(0.3)) own.stage.feeder = Feeder::kRowMajor;
      a.layers.push_back(own);
    }
    Diagnostics diagnostics;
    a.verify(network, diagnostics);
    if (diagnostics.ok()) return a;
  }
}

}  // namespace tilewright::pipeline
