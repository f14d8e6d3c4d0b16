// The ten layers on which Timeloop was measured: AlexNet at batch 16 and two of ResNet-18 at
// batch 1. Groups of AlexNet are left out, as there.
#pragma once

#include "tilewright/nest/workload.h"
#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright {

// Images, output and input channels, rows and columns of the output, rows and columns of the kernel, stride.
// No padding: the input is as large as the windows need.
struct ReferenceLayer {
  const char* name;
  int64_t n, m, c, pq, rs, stride;
};

inline constexpr ReferenceLayer kReferenceLayers[] = {
    {"CONV1", 16, 96, 3, 55, 11, 4},   {"CONV2", 16, 256, 48, 27, 5, 1},  {"CONV3", 16, 384, 256, 13, 3, 1},
    {"CONV4", 16, 384, 192, 13, 3, 1}, {"CONV5", 16, 256, 192, 13, 3, 1}, {"FC1", 16, 4096, 256, 1, 6, 1},
    {"FC2", 16, 4096, 4096, 1, 1, 1},  {"FC3", 16, 1000, 4096, 1, 1, 1},  {"R18_56", 1, 64, 64, 56, 3, 1},
    {"R18_14", 1, 256, 256, 14, 3, 1}};

inline Workload workload_of(const ReferenceLayer& layer) {
  ConvShape shape;
  shape.batch = layer.n, shape.input_channels = layer.c, shape.output_channels = layer.m;
  shape.height = {.input = (layer.pq - 1) * layer.stride + layer.rs,
                  .kernel = layer.rs,
                  .stride = layer.stride,
                  .output = layer.pq};
  shape.width = shape.height;
  return conv2d_workload(layer.name, shape);
}

// The machine of these measurements, hardware/arch-unified.yaml, and what is kept there: register files keep
// all tensors, each dimension lies on one axis of the array. The workload is the caller's.
inline Mapspace reference_mapspace() {
  Mapspace mapspace;
  mapspace.hardware = read_array_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/arch-unified.yaml");
  mapspace.constraints.resize(mapspace.hardware.levels.size());
  mapspace.constraints.back().must_keep = 7;
  mapspace.constraints[mapspace.constraints.size() - 2].one_axis_per_dimension = true;
  return mapspace;
}

}  // namespace tilewright
