// What the tests of this folder share: random small layers, few enough mappings to enumerate; a layer as a
// workload; the dataflows that come with the source.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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

inline Workload workload_of(const LayerShape& layer) {
  ConvShape shape;
  shape.batch = layer.N;
  shape.group = layer.G;
  shape.input_channels = layer.G * layer.C;
  shape.output_channels = layer.G * layer.M;
  shape.height = {layer.H, layer.R, layer.U, 1, 0, 0, layer.E};
  shape.width = {layer.W, layer.S, layer.U, 1, 0, 0, layer.F};
  return conv2d_workload(layer.name, shape);
}

// For INSTANTIATE_TEST_SUITE_P: dataflows/NAME.yaml, and NAME as that of a test.
inline auto every_dataflow() {
  return ::testing::Values("rs", "ws", "osa", "osb", "osc", "nlr", "rs-chip", "example-output-rows");
}
inline std::string dataflow_test_name(const ::testing::TestParamInfo<const char*>& flow) {
  std::string name = flow.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace tilewright::study
