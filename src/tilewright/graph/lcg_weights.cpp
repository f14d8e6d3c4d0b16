// A tensor's role is what its first reader uses it for (a table by operator), followed through reshapes.
// Every candidate takes the next stream number, filled or not, so no stream depends on the roles.
#include "tilewright/graph/lcg_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tilewright/graph/operator_class.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxWeightBytes = int64_t{1} << 32;

using Role = LcgRole;
using Use = LcgUse;

bool passes_through(const Node& node, int input) {
  return input == 0 && (operator_class(node) == OperatorClass::kReshape || node.is("Identity"));
}

Use use_of(const Node& node, int input) {
  if (node.is("Conv") || node.is("ConvTranspose")) {
    return {input == 1 ? Role::kWeight : input == 2 ? Role::kShift : Role::kNone, false};
  }
  if (node.is("Gemm")) {
    const bool transposed = node.int_or("transB", 0) != 0;
    return {input == 1 ? Role::kWeight : input == 2 ? Role::kShift : Role::kNone, !transposed};
  }
  if (node.is("MatMul")) return {input == 1 ? Role::kWeight : Role::kNone, true};
  if (node.is("BatchNormalization")) {
    static constexpr std::array<Role, 5> kRoles = {Role::kNone, Role::kScale, Role::kShift, Role::kShift,
                                                   Role::kScale};
    return {kRoles[size_t(std::min(input, 4))], false};
  }
  if (node.is("InstanceNormalization")) {
    return {input == 1 ? Role::kScale : input == 2 ? Role::kShift : Role::kNone, false};
  }
  if (node.is("Mul")) return {Role::kScale, false};
  if (node.is("Add")) return {Role::kShift, false};
  return {};
}

// What a tensor is for: by its first reader that says so, reshapes followed.
class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph), readers_(graph.consumers()) {}

  Use find(ValueId id) const {
    for (int depth = 0; depth < 16; ++depth) {  // chains of reshapes are short
      ValueId next = kNoValue;
      for (const NodeId reader : readers_[size_t(id)]) {
        const Node& node = graph_.nodes[size_t(reader)];
        for (int input = 0; input < int(node.inputs.size()); ++input) {
          if (node.inputs[size_t(input)] != id) continue;
          const Use use = use_of(node, input);
          if (use.role != Role::kNone) return use;
          if (passes_through(node, input) && !node.outputs.empty()) next = node.outputs[0];
        }
      }
      if (next == kNoValue) return {};
      id = next;
    }
    return {};
  }

  std::string first_reader(ValueId id) const {
    const auto& readers = readers_[size_t(id)];
    if (readers.empty()) return "nothing";
    const Node& node = graph_.nodes[size_t(readers[0])];
    return fmt::format("{} ({})", where(node), node.op);
  }

 private:
  const Graph& graph_;
  std::vector<std::vector<NodeId>> readers_;
};

void take_from_budget(int64_t& budget, const Shape& shape) {
  const int64_t count = shape.element_count();
  if (count > budget / 4) {
    throw Error(ErrorKind::kInvalidInput, "has more than 4 GiB of weights to fill");
  }
  budget -= count * 4;
}

void fill_constants(Graph& graph, const Uses& uses, double gain) {
  int64_t budget = kMaxWeightBytes;
  uint64_t k = 0;
  for (ValueId id = 0; id < ValueId(graph.values.size()); ++id) {
    Value& value = graph.value(id);
    if (!value.constant) continue;
    const uint64_t seed = 1000 + k++;
    const Use use = uses.find(id);
    if (use.role == Role::kNone || value.type != ElementType::kF32) continue;
    take_from_budget(budget, value.shape);
    value.constant = lcg_weight(value.shape, use, gain, seed);
  }
}

void fill_constant_of_shape(Graph& graph, const Uses& uses, double gain) {
  int64_t budget = kMaxWeightBytes;
  uint64_t k = 0;
  std::vector<bool> dead(graph.nodes.size(), false);
  Diagnostics diagnostics;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!node.is("ConstantOfShape")) continue;
    const uint64_t seed = 1000 + k++;
    const ValueId output = node.outputs.at(0);
    const Use use = uses.find(output);
    Value& value = graph.value(output);
    if (use.role == Role::kNone || value.type != ElementType::kF32) {
      diagnostics.error(ErrorKind::kUnsupported, where(node), node.op,
                        fmt::format("cannot be filled: it is read by {}, not as a float weight",
                                    uses.first_reader(output)));
      continue;
    }
    take_from_budget(budget, value.shape);
    value.constant = lcg_weight(value.shape, use, gain, seed);
    dead[n] = true;
  }
  diagnostics.raise_if_any();
  graph.erase_nodes(dead);
}

}  // namespace

Tensor lcg_weight(const Shape& shape, const LcgUse& use, double gain, uint64_t seed) {
  LcgStream stream(seed);
  Tensor tensor(ElementType::kF32, shape);
  if (tensor.size() == 0) return tensor;
  const auto data = tensor.mutable_data<float>();
  if (use.role == LcgRole::kScale) {
    for (float& value : data) value = 0.75f + 0.5f * stream.next();
    return tensor;
  }
  float amplitude = 0.1f;
  if (use.role == LcgRole::kWeight) {
    const int rank = shape.rank();
    const int64_t outputs = rank == 0 ? 1 : use.output_channels_last ? shape[rank - 1] : shape[0];
    amplitude = float(std::sqrt(gain / (double(tensor.size()) / double(outputs))));
  }
  for (float& value : data) value = (2.0f * stream.next() - 1.0f) * amplitude;
  return tensor;
}

Graph fill_lcg_weights(Graph graph, const LcgFill& fill) {
  const Uses uses(graph);
  if (fill.order == LcgOrder::kConstants) {
    fill_constants(graph, uses, fill.gain);
  } else {
    fill_constant_of_shape(graph, uses, fill.gain);
  }
  return graph;
}

std::optional<double> lcg_gain_of(std::string_view network) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kGains = {{
      {"resnet50", 3},
      {"resnet18", 3},
      {"densenet121", 3},
      {"shufflenet", 3},
      {"squeezenet", 6},
      {"inception", 6},
  }};
  for (const auto& [part, gain] : kGains) {
    if (network.find(part) != std::string_view::npos) return gain;
  }
  return std::nullopt;
}

Tensor lcg_input(ElementType type, const Shape& shape, LcgStream& stream) {
  Tensor tensor(type, shape);
  const bool is_narrow = type == ElementType::kU8 || type == ElementType::kI8 || type == ElementType::kI16;
  if (!is_float(type) && !is_narrow) {
    throw Error(ErrorKind::kUnsupported, fmt::format("no reference input of type {}", name(type)));
  }
  const float steps = float(1 << bit_width(is_narrow ? type : ElementType::kU8));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const float u = stream.next();
    if (is_narrow) {
      tensor.set_integer(i, int64_t(std::floor(steps * u)) + lowest(type));
    } else {
      tensor.set_number(i, double(u));
    }
  }
  return tensor;
}

}  // namespace tilewright
