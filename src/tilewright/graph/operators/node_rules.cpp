// Per-node rules from the operator table, with hints for what users meet most: control flow, misspelt or
// foreign operators, attributes of other opsets.
#include "tilewright/graph/operators/node_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tilewright/graph/operators/operator_checks.h"

namespace tilewright {
namespace {

constexpr int kMaxRank = 32;
constexpr int64_t kMaxSize = int64_t{1} << 40;   // of one axis
constexpr int64_t kMaxCount = int64_t{1} << 37;  // elements: 2^40 bytes of the widest type
constexpr int64_t kMaxAttributesShown = 12;

// Levenshtein distance of two short names.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// What to do instead of operators that users meet and that are not going to be covered.
const std::pair<std::vector<std::string_view>, const char*> kWaysOut[] = {
    {{"NonMaxSuppression", "Unique", "EfficientNMS_TRT", "BatchedNMS_TRT"},
     "the size of its output depends on the data: end the network before it (--output-node) and select on "
     "the "
     "host"},
    {{"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"},
     "no run would repeat: give random numbers as an input of the model"},
    {{"StringNormalizer", "TfIdfVectorizer", "StringConcat", "StringSplit", "LabelEncoder"},
     "text is prepared before the network: begin behind it, with numbers"},
    {{"Optional", "OptionalGetElement", "OptionalHasElement"},
     "export the model without optional values: with fixed inputs they are not needed"},
    {{"QAttention", "DecoderMaskedMultiHeadAttention", "PackedAttention", "PackedMultiHeadAttention",
      "QEmbedLayerNormalization", "QLinearWhere", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul",
      "MatMulIntegerToFloat"},
     "export the float model without ONNX Runtime's graph optimisations, and quantise it with 'tilewright "
     "quantize'"},
    {{"ZipMap"}, "convert the model with zipmap=False, or end it with the scores (--output-node)"},
    {{"Adagrad", "Adam", "Momentum", "Gradient"}, "it belongs to training: export the model for inference"},
};

std::string hint_for_unknown(const Node& node) {
  for (const auto& [names, way_out] : kWaysOut) {
    if (std::ranges::find(names, std::string_view(node.op)) != names.end()) return way_out;
  }
  if (node.op.size() <= 64) {
    for (const Operator& op : all_operators()) {
      if (edit_distance(node.op, op.name) <= 1) {
        return *op.domain == '\0' ? fmt::format("did you mean {}?", op.name)
                                  : fmt::format("did you mean {} of domain '{}'?", op.name, op.domain);
      }
    }
  }
  return node.domain.empty() ? "use supported operators when exporting the model"
                             : "only the standard domain is supported: export without custom operators";
}

std::string count_text(int low, int high) {
  if (high == kAnyNumber) return fmt::format("at least {}", low);
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

void check_arity(const Node& node, const Operator& op, Diagnostics& diagnostics) {
  const auto report = [&](std::string message, std::string hint) {
    diagnostics.error(ErrorKind::kInvalidInput, where(node), node.op, std::move(message), std::move(hint));
  };
  if (int(node.inputs.size()) < op.min_inputs || int64_t(node.inputs.size()) > op.max_inputs) {
    report(fmt::format("{} inputs", node.inputs.size()),
           fmt::format("{} needed", count_text(op.min_inputs, op.max_inputs)));
  } else {
    for (int i = 0; i < op.min_inputs; ++i) {
      if (!node.has_input(i)) report(fmt::format("input {} is missing", i), "");
    }
  }
  if (int(node.outputs.size()) < op.min_outputs || int64_t(node.outputs.size()) > op.max_outputs) {
    report(fmt::format("{} outputs", node.outputs.size()),
           fmt::format("{} needed", count_text(op.min_outputs, op.max_outputs)));
  }
}

void check_attributes(const Node& node, const Operator& op, Diagnostics& diagnostics) {
  const auto report = [&](ErrorKind kind, std::string message, std::string hint) {
    diagnostics.error(kind, where(node), node.op, std::move(message), std::move(hint));
  };
  int64_t shown = 0;
  for (const auto& [attribute, value] : node.attributes) {
    const auto rule = std::find_if(op.attributes.begin(), op.attributes.end(),
                                   [&name = attribute](const AttributeRule& r) { return name == r.name; });
    if (rule != op.attributes.end() && kind_of(value) == rule->kind) continue;
    if (++shown > kMaxAttributesShown) break;
    if (rule == op.attributes.end()) {
      std::vector<const char*> names;
      for (const AttributeRule& r : op.attributes) names.push_back(r.name);
      report(ErrorKind::kUnsupported, fmt::format("attribute '{}' is not supported", attribute),
             names.empty() ? "it has no attributes" : fmt::format("covered: {}", fmt::join(names, ", ")));
    } else {
      report(ErrorKind::kInvalidInput,
             fmt::format("attribute '{}' is {}", attribute, describe(kind_of(value))),
             fmt::format("{} is needed", describe(rule->kind)));
    }
  }
  for (const AttributeRule& rule : op.attributes) {
    if (rule.required && !node.has(rule.name)) {
      report(ErrorKind::kInvalidInput, fmt::format("attribute '{}' is missing", rule.name), "");
    }
  }
}

}  // namespace

const Operator* check_node(const Node& node, Diagnostics& diagnostics) {
  const Operator* op = find_operator(node.domain, node.op);
  if (op == nullptr) {
    diagnostics.error(ErrorKind::kUnsupported, where(node), node.op,
                      node.domain.empty()
                          ? "operator is not supported"
                          : fmt::format("operator of domain '{}' is not supported", node.domain),
                      hint_for_unknown(node));
    return nullptr;
  }
  const size_t before = diagnostics.errors().size();
  check_arity(node, *op, diagnostics);
  check_attributes(node, *op, diagnostics);
  return diagnostics.errors().size() == before ? op : nullptr;
}

OperatorContext context_of(const Graph& graph, const Node& node) {
  std::vector<OperatorInput> inputs(node.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const Value& value = graph.value(node.inputs[i]);
    const Tensor* known = value.constant ? &*value.constant : nullptr;
    inputs[i] = {true, {value.type, value.shape}, known, value.name};
    if (known != nullptr) inputs[i].typed = {known->type(), known->shape()};
  }
  return {node, std::move(inputs)};
}

std::string defect_of(const TypedShape& typed) {
  if (typed.shape.rank() > kMaxRank)
    return fmt::format("has {} axes; at most {} are possible", typed.shape.rank(), kMaxRank);
  for (int64_t size : typed.shape) {
    if (size < 0) return fmt::format("has shape {} with a negative size", to_string(typed.shape));
    if (size > kMaxSize) return fmt::format("has shape {} with a size over 2^40", to_string(typed.shape));
  }
  if (saturating_count(typed.shape) > kMaxCount) {
    return fmt::format("has shape {} with over 2^37 elements", to_string(typed.shape));
  }
  return {};
}

}  // namespace tilewright
