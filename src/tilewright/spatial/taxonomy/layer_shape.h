// The layer as the row-stationary paper names it: the shape that the study cost model counts with.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/nest/workload.h"

namespace tilewright::study {

// One convolution; a dense layer is one whose filter covers its whole input. Counts of groups aggregate: a
// layer of two groups costs twice one group.
struct LayerShape {
  std::string name;
  int64_t G = 1;         // groups
  int64_t N = 1;         // images
  int64_t C = 1, M = 1;  // input channels and filters of one group
  int64_t H = 1, W = 1;  // input rows and columns that the filters reach, padding included
  int64_t R = 1, S = 1;  // filter rows and columns
  int64_t E = 1, F = 1;  // output rows and columns
  int64_t U = 1;         // stride

  int64_t input_words() const { return G * N * C * H * W; }
  int64_t weight_words() const { return G * M * C * R * S; }
  int64_t output_words() const { return G * N * M * E * F; }
  int64_t macs() const { return output_words() * C * R * S; }
  bool operator==(const LayerShape&) const = default;

  // Sizes of at least 1; H = (E-1) U + R and the same for W; a MAC count below 2^53, so that counts of whole
  // accesses are exact in double.
  void verify(Diagnostics& diagnostics) const;
};

// A square layer as papers list them: H x H input (padding included), R x R filter.
LayerShape square_layer(const std::string& name, int64_t groups, int64_t batch, int64_t input_size,
                        int64_t filter_size, int64_t channels, int64_t filters, int64_t stride);

// From a convolution (conv2d_workload, depthwise_workload, dense_workload) or a matrix product
// (batched_matmul_workload, matmul_workload: B products of M rows are B groups with M images each, one group
// when the weights are shared). Input rows and columns that no filter reaches are left out. Errors
// (unsupported): another kind of workload, dilation, two strides; (invalid input): what verify() finds.
LayerShape layer_shape(const Workload& workload);

}  // namespace tilewright::study
