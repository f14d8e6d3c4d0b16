// A formula is recognised by what it computes, not by its spelling: the smallest set of element-wise nodes
// that closes over one value is evaluated at sample points and compared with the functions that oneDNN has.
#include "tilewright/host/post_operations.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

constexpr const char* kNames = "post";
constexpr const char* kNumbers = "post_numbers";  // two per operation

// Those whose attributes are their numbers. Empty: another operator, or bounds that are not constant.
std::vector<PostOperation> of_operator(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return {};
  const std::string& op = node.op;
  if (op == "Relu") return {{"relu", 0, 0}};
  if (op == "LeakyRelu") return {{"relu", node.float_or("alpha", 0.01f), 0}};
  if (op == "Sigmoid") return {{"logistic", 0, 0}};
  if (op == "Tanh") return {{"tanh", 0, 0}};
  if (op == "Elu") return {{"elu", node.float_or("alpha", 1), 0}};
  if (op == "HardSwish") return {{"hardswish", 0, 0}};
  if (op == "Softplus") return {{"soft_relu", 0, 0}};
  if (op == "HardSigmoid") {
    return {{"linear", node.float_or("alpha", 0.2f), node.float_or("beta", 0.5f)}, {"clip", 0, 1}};
  }
  if (op != "Clip") return {};
  constexpr float kMost = std::numeric_limits<float>::max();
  float bounds[] = {-kMost, kMost};
  for (const int i : {1, 2}) {
    if (!node.has_input(i)) continue;
    const Tensor* bound = graph.constant_input(node, i);
    if (bound == nullptr || bound->type() != ElementType::kF32 || bound->size() != 1) return {};
    bounds[i - 1] = bound->data<float>()[0];
  }
  if (!(bounds[0] <= bounds[1])) return {};
  return {{"clip", bounds[0], bounds[1]}};
}

struct Formula {
  PostOperation operation;
  double (*value)(double);
};

constexpr double kRoot2 = 1.4142135623730951, kRoot2OverPi = 0.7978845608028654;

const Formula kFormulas[] = {
    {{"swish", 1, 0}, [](double x) { return x / (1 + std::exp(-x)); }},
    {{"swish", 1.702f, 0}, [](double x) { return x / (1 + std::exp(-1.702 * x)); }},  // for GELU
    {{"hardswish", 0, 0}, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {{"mish", 0, 0}, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {{"gelu_erf", 0, 0}, [](double x) { return 0.5 * x * (1 + std::erf(x / kRoot2)); }},
    {{"gelu_tanh", 0, 0},
     [](double x) { return 0.5 * x * (1 + std::tanh(kRoot2OverPi * (x + 0.044715 * x * x * x))); }},
    {{"logistic", 0, 0}, [](double x) { return 1 / (1 + std::exp(-x)); }},
};

bool is_formula_operator(const Node& node) {
  static constexpr const char* kOps[] = {
      "Add", "Sub", "Mul", "Div", "Sigmoid", "HardSigmoid", "Relu", "Clip", "Softplus", "Tanh",
      "Exp", "Log", "Erf", "Pow", "Neg",     "Reciprocal",  "Sqrt", "Min",  "Max"};
  return node.domain.empty() && node.outputs.size() == 1 &&
         std::ranges::find(kOps, node.op) != std::end(kOps);
}

Tensor samples() {
  Tensor x(ElementType::kF32, Shape{97});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[size_t(i)] = float(i - 48) / 6.1f;
  return x;
}

// The known function that `nodes` compute of `value`, or nullptr.
const Formula* recognized(const Graph& graph, const std::vector<NodeId>& nodes, ValueId value) {
  std::map<ValueId, Tensor> values{{value, samples()}};
  const Tensor* result = nullptr;
  for (const NodeId id : nodes) {
    const Node& node = graph.nodes[size_t(id)];
    std::vector<const Tensor*> inputs;
    for (const ValueId input : node.inputs) {
      inputs.push_back(input == kNoValue          ? nullptr
                       : graph.is_constant(input) ? &*graph.value(input).constant
                                                  : &values.at(input));
    }
    const KernelEntry* entry = find_kernel(node.domain, node.op);
    if (entry == nullptr || entry->kernel == nullptr) return nullptr;
    result = &(values[node.outputs[0]] = entry->kernel(node, inputs, {})[0]);
  }
  const Tensor& x = values.at(value);
  if (result == nullptr || result->size() != x.size()) return nullptr;
  for (const Formula& formula : kFormulas) {
    bool equal = true;
    for (int64_t i = 0; i < x.size() && equal; ++i) {
      const double expected = formula.value(x.number_at(i));
      equal = std::abs(result->number_at(i) - expected) <= 2e-6 * (1 + std::abs(expected));
    }
    if (equal) return &formula;
  }
  return nullptr;
}

bool all_in(const std::vector<NodeId>& readers, const std::vector<NodeId>& nodes) {
  return std::ranges::all_of(readers, [&](NodeId r) { return std::ranges::find(nodes, r) != nodes.end(); });
}

// Whether `node` computes an element from the elements of `values` at the same place and scalars alone.
bool depends_on_elements(const Graph& graph, const Node& node, const std::vector<ValueId>& values) {
  return is_formula_operator(node) && std::ranges::all_of(node.inputs, [&](ValueId id) {
           if (id == kNoValue || std::ranges::find(values, id) != values.end()) return true;
           return graph.is_constant(id) && graph.value(id).constant->size() == 1 &&
                  graph.value(id).shape.rank() <= 4;
         });
}

}  // namespace

std::vector<PostOperation> post_operations(const Node& node) {
  const auto found = node.attributes.find(kNames);
  if (found == node.attributes.end()) return {};
  const auto& names = std::get<std::vector<std::string>>(found->second);
  const std::vector<float> numbers = node.floats_or(kNumbers, {});
  std::vector<PostOperation> result;
  for (size_t i = 0; i < names.size(); ++i) {
    result.push_back({names[i], numbers.at(2 * i), numbers.at(2 * i + 1)});
  }
  return result;
}

void set_post_operations(Node& node, const std::vector<PostOperation>& operations) {
  std::vector<std::string> names;
  std::vector<float> numbers;
  for (const PostOperation& operation : operations) {
    names.push_back(operation.name);
    numbers.insert(numbers.end(), {operation.alpha, operation.beta});
  }
  node.attributes[kNames] = names;
  node.attributes[kNumbers] = numbers;
}

Activation find_activation(const Graph& graph, const std::vector<std::vector<NodeId>>& readers,
                           ValueId value) {
  constexpr size_t kMostNodes = 9;
  const Shape& shape = graph.value(value).shape;
  if (graph.is_output(value) || graph.value(value).type != ElementType::kF32) return {};
  std::vector<NodeId> nodes;
  std::vector<ValueId> values{value};
  while (nodes.size() < kMostNodes) {
    // The next node, in graph order, that all of its inputs are known for.
    NodeId next = kNoNode;
    for (const ValueId id : values) {
      for (const NodeId reader : readers[size_t(id)]) {
        const bool taken = std::ranges::find(nodes, reader) != nodes.end();
        if (!taken && (next == kNoNode || reader < next) &&
            depends_on_elements(graph, graph.nodes[size_t(reader)], values)) {
          next = reader;
        }
      }
    }
    if (next == kNoNode) {
      // An operator that is no part of a formula.
      if (!nodes.empty() || readers[size_t(value)].size() != 1) return {};
      next = readers[size_t(value)][0];
      const Node& node = graph.nodes[size_t(next)];
      if (node.inputs.empty() || node.inputs[0] != value || node.outputs.size() != 1) return {};
    }
    const Node& node = graph.nodes[size_t(next)];
    if (node.outputs[0] == kNoValue || graph.value(node.outputs[0]).shape != shape) return {};
    nodes.push_back(next);
    const bool closed = all_in(readers[size_t(value)], nodes) && std::ranges::all_of(values, [&](ValueId id) {
                          return id == value || (all_in(readers[size_t(id)], nodes) && !graph.is_output(id));
                        });
    if (closed && nodes.size() == 1) {
      std::vector<PostOperation> operations = of_operator(graph, node);
      if (!operations.empty()) return {std::move(operations), nodes};
    }
    if (!depends_on_elements(graph, node, values)) return {};
    if (const Formula* formula = closed ? recognized(graph, nodes, value) : nullptr) {
      return {{formula->operation}, nodes};
    }
    values.push_back(node.outputs[0]);
  }
  return {};
}

}  // namespace tilewright
