// A workload: one operator as a perfect loop nest over named dimensions. Every point of the iteration space
// performs one operation (a MAC) on one element of each data space; which one is an affine function per rank:
//   index(rank) = offset + sum coefficient * dimension.
// Stride, dilation, groups, transposed convolution and matrix products are all of this form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/window.h"

namespace tilewright {

struct Dimension {
  std::string name;  // "P"
  int64_t size = 1;  // iterations
  bool operator==(const Dimension&) const = default;
};

struct ProjectionTerm {
  int dimension = 0;  // index into Workload::dimensions
  int64_t coefficient = 1;
  bool operator==(const ProjectionTerm&) const = default;
};

// One rank of a data space. Indices outside of [0, size) are padding: they are touched, but not stored.
struct Rank {
  std::string name;
  int64_t size = 1;
  int64_t offset = 0;
  std::vector<ProjectionTerm> terms;
  bool operator==(const Rank&) const = default;
};

struct DataSpace {
  std::string name;
  std::vector<Rank> ranks;  // outermost first
  int bits = 8;             // of one element
  bool is_output = false;   // accumulated into (read-modify-write); exactly one per workload
  // Product of the rank sizes.
  int64_t element_count() const;
  bool operator==(const DataSpace&) const = default;
};

struct Workload {
  std::string name;
  std::vector<Dimension> dimensions;
  std::vector<DataSpace> data_spaces;

  int dimension_count() const { return int(dimensions.size()); }
  int data_space_count() const { return int(data_spaces.size()); }
  // Points of the iteration space: the product of the dimension sizes, those whose operand is padding
  // included.
  int64_t operation_count() const;
  std::optional<int> find_dimension(std::string_view dimension_name) const;
  std::optional<int> find_data_space(std::string_view data_space_name) const;
  // Whether any rank of the data space depends on the dimension: if not, the data is reused along it.
  bool depends_on(int data_space, int dimension) const;
  bool operator==(const Workload&) const = default;

  // The rules everything else relies on: names present and unique, sizes >= 1, terms that exist with non-zero
  // coefficients, a dimension in at most one rank of a data space (so that footprints are products over
  // ranks), one output, an operation count below 2^62 and index ranges below 2^40.
  void verify(Diagnostics& diagnostics) const;
};

// Data spaces of all builders, in this order.
inline constexpr int kInputSpace = 0, kWeightSpace = 1, kOutputSpace = 2;

// The shape of a 2-D convolution. Channel counts are those of the whole tensor.
struct ConvShape {
  int64_t batch = 1, input_channels = 1, output_channels = 1, group = 1;
  WindowAxis height, width;
};

// Element widths of the three data spaces of a workload.
struct WorkloadBits {
  int input = 8, weight = 8, output = 32;
};

// Dimensions N (batch), G (group), M (output channel in its group), C (input channel in its group), P, Q
// (output row and column), R, S (kernel row and column).
//   input  [N, G*C' + C, P*stride + R*dilation - pad, ...], weight [G*M' + M, C, R, S], output [N, G*M' + M,
//   P, Q]
// Errors (invalid input): sizes below 1, groups that do not divide the channels.
Workload conv2d_workload(const std::string& name, const ConvShape& shape, const WorkloadBits& bits = {});
// One group per input channel and `multiplier` output channels in each; the channel counts of `shape` other
// than input_channels, and its group, are ignored.
Workload depthwise_workload(const std::string& name, ConvShape shape, int64_t multiplier = 1,
                            const WorkloadBits& bits = {});
// Same dimensions, but P, Q run over the input and the output is scattered into:
//   input [N, G*C' + C, P, Q], weight [G*C' + C, M, R, S], output [N, G*M' + M, P*stride + R*dilation - pad,
//   ...]
Workload conv2d_transpose_workload(const std::string& name, const ConvShape& shape,
                                   const WorkloadBits& bits = {});
// A 1x1 convolution on a 1x1 image: input [N, C], weight [M, C], output [N, M].
Workload dense_workload(const std::string& name, int64_t batch, int64_t inputs, int64_t outputs,
                        const WorkloadBits& bits = {});
// Dimensions B, M, N, K: input [B, M, K] x weight [B, K, N] -> output [B, M, N]. With shared_weight the
// weight is [K, N].
Workload batched_matmul_workload(const std::string& name, int64_t batch, int64_t m, int64_t n, int64_t k,
                                 bool shared_weight, const WorkloadBits& bits = {});
Workload matmul_workload(const std::string& name, int64_t m, int64_t n, int64_t k,
                         const WorkloadBits& bits = {});

}  // namespace tilewright
