// Layer shapes from workloads.
#include "tilewright/spatial/taxonomy/layer_shape.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace tilewright::study {
namespace {

constexpr int64_t kMostMacs = int64_t{1} << 53;

int64_t bounded_product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (factor > 0 && product > kMostMacs / factor) return kMostMacs;
    product *= factor;
  }
  return product;
}

[[noreturn]] void refuse(const Workload& workload, const std::string& message) {
  throw Error(ErrorKind::kUnsupported,
              fmt::format("workload '{}': the study cost model {}", workload.name, message));
}

int64_t size_of(const Workload& workload, const char* dimension) {
  const std::optional<int> at = workload.find_dimension(dimension);
  return at ? workload.dimensions[size_t(*at)].size : 1;
}

// The coefficient with which a dimension moves the input; 0 when it does not.
int64_t input_coefficient(const Workload& workload, const char* dimension) {
  const std::optional<int> at = workload.find_dimension(dimension);
  if (!at) return 0;
  for (const Rank& rank : workload.data_spaces[kInputSpace].ranks) {
    for (const ProjectionTerm& term : rank.terms) {
      if (term.dimension == *at) return term.coefficient;
    }
  }
  return 0;
}

LayerShape convolution_shape(const Workload& workload) {
  for (const char* position : {"P", "Q"}) {
    const std::optional<int> at = workload.find_dimension(position);
    if (!workload.depends_on(kOutputSpace, *at) || workload.depends_on(kWeightSpace, *at)) {
      refuse(workload, "takes convolutions only");
    }
  }
  if (workload.depends_on(kOutputSpace, *workload.find_dimension("R"))) {
    refuse(workload, "takes no transposed convolution");
  }
  LayerShape shape;
  shape.name = workload.name;
  const std::array<std::pair<const char*, int64_t*>, 8> sizes = {{{"G", &shape.G},
                                                                  {"N", &shape.N},
                                                                  {"C", &shape.C},
                                                                  {"M", &shape.M},
                                                                  {"R", &shape.R},
                                                                  {"S", &shape.S},
                                                                  {"P", &shape.E},
                                                                  {"Q", &shape.F}}};
  for (const auto& entry : sizes) *entry.second = size_of(workload, entry.first);
  if ((shape.R > 1 && input_coefficient(workload, "R") != 1) ||
      (shape.S > 1 && input_coefficient(workload, "S") != 1)) {
    refuse(workload, "knows no dilation");
  }
  // With one output row the stride has no effect, and likewise with one column.
  const int64_t vertical = input_coefficient(workload, "P"), horizontal = input_coefficient(workload, "Q");
  if (shape.E > 1 && shape.F > 1 && vertical != horizontal) {
    refuse(workload, fmt::format("knows one stride, not {} and {}", vertical, horizontal));
  }
  shape.U = shape.E > 1 ? vertical : shape.F > 1 ? horizontal : 1;
  shape.H = (shape.E - 1) * shape.U + shape.R;
  shape.W = (shape.F - 1) * shape.U + shape.S;
  return shape;
}

LayerShape matrix_shape(const Workload& workload) {
  LayerShape shape;
  shape.name = workload.name;
  const std::optional<int> batch = workload.find_dimension("B");
  const int64_t products = size_of(workload, "B");
  const bool shared = batch && !workload.depends_on(kWeightSpace, *batch);
  shape.G = shared ? 1 : products;
  shape.N = size_of(workload, "M") * (shared ? products : 1);
  shape.C = size_of(workload, "K");
  shape.M = size_of(workload, "N");
  return shape;
}

}  // namespace

void LayerShape::verify(Diagnostics& diagnostics) const {
  const std::string where = fmt::format("layer '{}'", name);
  const auto fail = [&](const char* field, const std::string& message) {
    diagnostics.error(ErrorKind::kInvalidInput, where, field, message);
  };
  const std::array<std::pair<const char*, int64_t>, 11> sizes = {{{"G", G},
                                                                  {"N", N},
                                                                  {"C", C},
                                                                  {"M", M},
                                                                  {"H", H},
                                                                  {"W", W},
                                                                  {"R", R},
                                                                  {"S", S},
                                                                  {"E", E},
                                                                  {"F", F},
                                                                  {"U", U}}};
  bool sane = true;
  for (const auto& entry : sizes) {
    if (entry.second >= 1 && entry.second < kMostMacs) continue;
    fail(entry.first, fmt::format("{} is not in 1..2^53", entry.second));
    sane = false;
  }
  if (!sane) return;
  if (bounded_product({G, N, M, E, F, C, R, S}) >= kMostMacs ||
      bounded_product({G, N, C, H, W}) >= kMostMacs) {
    fail("", "more than 2^53 operations or words");
    return;
  }
  // Written without products: U and E may both be large.
  if (H < R || (H - R) % U != 0 || (H - R) / U + 1 != E) {
    fail("H", fmt::format("{} input rows are not ({} - 1) * {} + {}", H, E, U, R));
  }
  if (W < S || (W - S) % U != 0 || (W - S) / U + 1 != F) {
    fail("W", fmt::format("{} input columns are not ({} - 1) * {} + {}", W, F, U, S));
  }
}

LayerShape square_layer(const std::string& name, int64_t groups, int64_t batch, int64_t input_size,
                        int64_t filter_size, int64_t channels, int64_t filters, int64_t stride) {
  LayerShape shape;
  shape.name = name;
  shape.G = groups;
  shape.N = batch;
  shape.C = channels;
  shape.M = filters;
  shape.H = shape.W = input_size;
  shape.R = shape.S = filter_size;
  shape.U = stride;
  shape.E = shape.F = stride >= 1 ? (input_size - filter_size) / stride + 1 : 0;
  return shape;
}

LayerShape layer_shape(const Workload& workload) {
  if (workload.data_space_count() != 3 || !workload.data_spaces[kOutputSpace].is_output) {
    refuse(workload, "takes an input, a weight and an output");
  }
  const bool convolution = workload.find_dimension("P") && workload.find_dimension("Q") &&
                           workload.find_dimension("R") && workload.find_dimension("S");
  const bool matrix = workload.find_dimension("K") && workload.find_dimension("M") &&
                      workload.find_dimension("N") && !workload.find_dimension("C");
  if (!convolution && !matrix) refuse(workload, "takes convolutions and matrix products");
  const std::string known = convolution ? "NGMCPQRS" : "BMNK";
  for (const Dimension& dimension : workload.dimensions) {
    if (dimension.name.size() != 1 || known.find(dimension.name) == std::string::npos) {
      refuse(workload, fmt::format("knows no dimension {}", dimension.name));
    }
  }
  const LayerShape shape = convolution ? convolution_shape(workload) : matrix_shape(workload);
  Diagnostics diagnostics;
  shape.verify(diagnostics);
  diagnostics.raise_if_any();
  return shape;
}

}  // namespace tilewright::study
