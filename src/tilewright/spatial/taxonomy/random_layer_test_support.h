// Random small layers, few enough mappings to enumerate, for the tests of this folder.
#pragma once

#include "tilewright/base/random.h"
#include "tilewright/spatial/taxonomy/layer_shape.h"

namespace tilewright::study {

// Not square, strides beyond the filter included.
inline LayerShape random_layer(Random& random) {
  LayerShape layer;
  layer.name = "random";
  layer.G = random.between(1, 2);
  layer.N = random.between(1, 3);
  layer.C = random.between(1, 5);
  layer.M = random.between(1, 6);
  layer.R = random.between(1, 3);
  layer.S = random.between(1, 3);
  layer.U = random.between(1, 4);
  layer.E = random.between(1, 4);
  layer.F = random.between(1, 4);
  layer.H = (layer.E - 1) * layer.U + layer.R;
  layer.W = (layer.F - 1) * layer.U + layer.S;
  return layer;
}

}  // namespace tilewright::study
