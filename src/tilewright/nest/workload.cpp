// The rules of a workload and its builders, which verify what they return. A dense layer is a 1x1 convolution
// on a 1x1 image, a depthwise one a convolution with as many groups as input channels. verify() multiplies
// sizes with saturation, so a product that is too large is reported instead of overflowing.
#include "tilewright/nest/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace tilewright {
namespace {

constexpr int64_t kMaxOperations = int64_t{1} << 62;
constexpr int64_t kMaxIndex = int64_t{1} << 40;
// Mappings choose among the 2^n sets of data spaces at every level.
constexpr size_t kMaxDataSpaces = 8;

int64_t product_up_to(int64_t a, int64_t b, int64_t limit) { return b != 0 && a > limit / b ? limit : a * b; }

// Whether a mapping can print the name as it is: between blanks, as a part of M=16, in a line of YAML.
bool plain_name(const std::string& name) {
  return !name.starts_with('-') && std::none_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 127 ||
           std::string_view(",:#=\"'[]{}&*!|>%@`~?").find(c) != std::string_view::npos;
  });
}

constexpr const char* kPlainName =
    "a name has no blanks, quotes or brackets, none of ,:#=&*!|>%@`~? and no - in front";

// Positions in the dimension list of the convolution builders.
enum ConvDimension { kN, kG, kM, kC, kP, kQ, kR, kS };

void check_rank(const Workload& workload, const std::string& where, const Rank& rank, std::set<int>& used,
                Diagnostics& diagnostics) {
  const auto fail = [&](const std::string& message, const std::string& hint = {}) {
    diagnostics.error(ErrorKind::kInvalidInput, where, rank.name, message, hint);
  };
  if (rank.size < 1 || rank.size > kMaxIndex) fail(fmt::format("size {} is not in 1..2^40", rank.size));
  int64_t span = rank.offset < 0 ? -std::max(rank.offset, -kMaxIndex - 1) : rank.offset;
  for (const ProjectionTerm& term : rank.terms) {
    if (term.dimension < 0 || term.dimension >= workload.dimension_count()) {
      fail(fmt::format("refers to dimension {} of {}", term.dimension, workload.dimension_count()));
      continue;
    }
    const Dimension& dimension = workload.dimensions[size_t(term.dimension)];
    if (!used.insert(term.dimension).second) {
      fail(fmt::format("dimension {} appears twice in this data space", dimension.name),
           "a dimension may move only one rank of a data space");
    }
    if (term.coefficient == 0) fail(fmt::format("coefficient of {} is 0", dimension.name), "drop the term");
    const int64_t magnitude =
        term.coefficient < 0 ? -std::max(term.coefficient, -kMaxIndex - 1) : term.coefficient;
    span += product_up_to(magnitude, std::max<int64_t>(dimension.size, 0), kMaxIndex + 1);
    span = std::min(span, kMaxIndex + 1);
  }
  if (span > kMaxIndex) fail("its indices reach beyond 2^40");
}

void require(bool condition, const std::string& name, const std::string& message) {
  if (!condition) throw Error(ErrorKind::kInvalidInput, fmt::format("workload '{}': {}", name, message));
}

Rank rank_of(std::string name, int64_t size, std::vector<ProjectionTerm> terms, int64_t offset = 0) {
  return Rank{std::move(name), size, offset, std::move(terms)};
}

// The rank along one spatial axis of the tensor the window slides over.
Rank sliding_rank(std::string name, const WindowAxis& axis, int64_t size, int position, int tap) {
  return rank_of(std::move(name), size, {{position, axis.stride}, {tap, axis.dilation}}, -axis.pad_begin);
}

Workload verified(Workload workload) {
  Diagnostics diagnostics;
  workload.verify(diagnostics);
  diagnostics.raise_if_any();
  return workload;
}

std::vector<Dimension> conv_dimensions(const ConvShape& shape, int64_t rows, int64_t columns) {
  return {{"N", shape.batch},
          {"G", shape.group},
          {"M", shape.output_channels / shape.group},
          {"C", shape.input_channels / shape.group},
          {"P", rows},
          {"Q", columns},
          {"R", shape.height.kernel},
          {"S", shape.width.kernel}};
}

void require_groups(const std::string& name, const ConvShape& shape) {
  require(
      shape.group >= 1 && shape.input_channels % shape.group == 0 && shape.output_channels % shape.group == 0,
      name,
      fmt::format("{} groups do not divide {} input and {} output channels", shape.group,
                  shape.input_channels, shape.output_channels));
}

}  // namespace

int64_t DataSpace::element_count() const {
  int64_t count = 1;
  for (const Rank& rank : ranks) count *= rank.size;
  return count;
}

int64_t Workload::operation_count() const {
  int64_t count = 1;
  for (const Dimension& dimension : dimensions) {
    count = product_up_to(count, dimension.size, kMaxOperations);
  }
  return count;
}

std::optional<int> Workload::find_dimension(std::string_view dimension_name) const {
  for (int i = 0; i < dimension_count(); ++i) {
    if (dimensions[size_t(i)].name == dimension_name) return i;
  }
  return {};
}

std::optional<int> Workload::find_data_space(std::string_view data_space_name) const {
  for (int i = 0; i < data_space_count(); ++i) {
    if (data_spaces[size_t(i)].name == data_space_name) return i;
  }
  return {};
}

bool Workload::depends_on(int data_space, int dimension) const {
  for (const Rank& rank : data_spaces[size_t(data_space)].ranks) {
    for (const ProjectionTerm& term : rank.terms) {
      if (term.dimension == dimension) return true;
    }
  }
  return false;
}

void Workload::verify(Diagnostics& diagnostics) const {
  const std::string where = fmt::format("workload '{}'", name);
  const auto fail = [&](const std::string& what, const std::string& message) {
    diagnostics.error(ErrorKind::kInvalidInput, where, what, message);
  };
  std::set<std::string> names;
  for (const Dimension& dimension : dimensions) {
    if (dimension.name.empty() || !names.insert(dimension.name).second) {
      fail(dimension.name, "a dimension needs a name of its own");
    }
    if (!plain_name(dimension.name)) fail(dimension.name, kPlainName);
    if (dimension.size < 1) fail(dimension.name, fmt::format("size {} is below 1", dimension.size));
  }
  if (operation_count() >= kMaxOperations) fail("", "more than 2^62 operations");
  if (data_spaces.size() > kMaxDataSpaces) {
    fail("", fmt::format("{} data spaces, there may be {} at most", data_spaces.size(), kMaxDataSpaces));
  }
  names.clear();
  int outputs = 0;
  for (const DataSpace& space : data_spaces) {
    if (space.name.empty() || !names.insert(space.name).second) {
      fail(space.name, "a data space needs a name of its own");
    }
    if (!plain_name(space.name)) fail(space.name, kPlainName);
    if (space.bits < 1 || space.bits > 64)
      fail(space.name, fmt::format("{} bits are not in 1..64", space.bits));
    outputs += space.is_output ? 1 : 0;
    std::set<int> used;
    int64_t elements = 1;
    for (const Rank& rank : space.ranks) {
      check_rank(*this, fmt::format("{}, data space '{}'", where, space.name), rank, used, diagnostics);
      elements = product_up_to(elements, std::max<int64_t>(rank.size, 1), kMaxIndex + 1);
    }
    if (elements > kMaxIndex) fail(space.name, "more than 2^40 elements");
  }
  if (outputs != 1) fail("", fmt::format("{} output data spaces, there must be one", outputs));
}

Workload conv2d_workload(const std::string& name, const ConvShape& shape, const WorkloadBits& bits) {
  require_groups(name, shape);
  Workload workload;
  workload.name = name;
  workload.dimensions = conv_dimensions(shape, shape.height.output, shape.width.output);
  const int64_t c = shape.input_channels / shape.group, m = shape.output_channels / shape.group;
  workload.data_spaces = {
      {"input",
       {rank_of("N", shape.batch, {{kN, 1}}), rank_of("C", shape.input_channels, {{kG, c}, {kC, 1}}),
        sliding_rank("H", shape.height, shape.height.input, kP, kR),
        sliding_rank("W", shape.width, shape.width.input, kQ, kS)},
       bits.input},
      {"weight",
       {rank_of("M", shape.output_channels, {{kG, m}, {kM, 1}}), rank_of("C", c, {{kC, 1}}),
        rank_of("R", shape.height.kernel, {{kR, 1}}), rank_of("S", shape.width.kernel, {{kS, 1}})},
       bits.weight},
      {"output",
       {rank_of("N", shape.batch, {{kN, 1}}), rank_of("M", shape.output_channels, {{kG, m}, {kM, 1}}),
        rank_of("P", shape.height.output, {{kP, 1}}), rank_of("Q", shape.width.output, {{kQ, 1}})},
       bits.output,
       true}};
  return verified(std::move(workload));
}

Workload depthwise_workload(const std::string& name, ConvShape shape, int64_t multiplier,
                            const WorkloadBits& bits) {
  shape.group = shape.input_channels;
  require(!__builtin_mul_overflow(shape.input_channels, multiplier, &shape.output_channels), name,
          fmt::format("{} channels with a multiplier of {} have more than 2^40 output channels",
                      shape.input_channels, multiplier));
  return conv2d_workload(name, shape, bits);
}

Workload conv2d_transpose_workload(const std::string& name, const ConvShape& shape,
                                   const WorkloadBits& bits) {
  require_groups(name, shape);
  Workload workload;
  workload.name = name;
  workload.dimensions = conv_dimensions(shape, shape.height.input, shape.width.input);
  const int64_t c = shape.input_channels / shape.group, m = shape.output_channels / shape.group;
  workload.data_spaces = {
      {"input",
       {rank_of("N", shape.batch, {{kN, 1}}), rank_of("C", shape.input_channels, {{kG, c}, {kC, 1}}),
        rank_of("P", shape.height.input, {{kP, 1}}), rank_of("Q", shape.width.input, {{kQ, 1}})},
       bits.input},
      {"weight",
       {rank_of("C", shape.input_channels, {{kG, c}, {kC, 1}}), rank_of("M", m, {{kM, 1}}),
        rank_of("R", shape.height.kernel, {{kR, 1}}), rank_of("S", shape.width.kernel, {{kS, 1}})},
       bits.weight},
      {"output",
       {rank_of("N", shape.batch, {{kN, 1}}), rank_of("M", shape.output_channels, {{kG, m}, {kM, 1}}),
        sliding_rank("H", shape.height, shape.height.output, kP, kR),
        sliding_rank("W", shape.width, shape.width.output, kQ, kS)},
       bits.output,
       true}};
  return verified(std::move(workload));
}

Workload dense_workload(const std::string& name, int64_t batch, int64_t inputs, int64_t outputs,
                        const WorkloadBits& bits) {
  ConvShape shape;
  shape.batch = batch;
  shape.input_channels = inputs;
  shape.output_channels = outputs;
  return conv2d_workload(name, shape, bits);
}

Workload batched_matmul_workload(const std::string& name, int64_t batch, int64_t m, int64_t n, int64_t k,
                                 bool shared_weight, const WorkloadBits& bits) {
  Workload workload;
  workload.name = name;
  workload.dimensions = {{"B", batch}, {"M", m}, {"N", n}, {"K", k}};
  const Rank b = rank_of("B", batch, {{0, 1}}), rows = rank_of("M", m, {{1, 1}});
  const Rank columns = rank_of("N", n, {{2, 1}}), depth = rank_of("K", k, {{3, 1}});
  workload.data_spaces = {{"input", {b, rows, depth}, bits.input},
                          {"weight", {b, depth, columns}, bits.weight},
                          {"output", {b, rows, columns}, bits.output, true}};
  if (shared_weight) workload.data_spaces[1].ranks.erase(workload.data_spaces[1].ranks.begin());
  return verified(std::move(workload));
}

Workload matmul_workload(const std::string& name, int64_t m, int64_t n, int64_t k, const WorkloadBits& bits) {
  return batched_matmul_workload(name, 1, m, n, k, false, bits);
}

}  // namespace tilewright
