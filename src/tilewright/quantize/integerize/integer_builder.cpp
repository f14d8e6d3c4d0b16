// quantized() works backwards from a QuantizeLinear: a clip narrows the bounds, a twin is requantised, Concat
// and data movement pass the request on to their inputs, and all else goes to lower_operator(). Results,
// failures included, are kept by value and form.
#include "tilewright/quantize/integerize/integer_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/quantize/integerize/fit_scale.h"
#include "tilewright/quantize/integerize/lower_operators.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

// Activations and data movement between an operator and its QuantizeLinear; longer chains stay in float.
constexpr int kMaximumDepth = 128;

}  // namespace

bool is_activation(ElementType type) {
  return is_integer(type) && (bit_width(type) == 8 || bit_width(type) == 16);
}

IntegerForm full_form(ElementType type, const Quantization& quantization, std::string name) {
  return {quantization, lowest(type), highest(type), std::move(name), false, false, type};
}

IntegerBuilder::IntegerBuilder(const Graph& source)
    : source_(source),
      producers_(source.producers()),
      native_(source.values.size(), kNoValue),
      twins_(source.values.size()),
      stored_(source.values.size()),
      constants_(source.values.size()),
      reasons_(source.nodes.size()),
      integer_nodes_(source.nodes.size()),
      float_nodes_(source.nodes.size()) {
  graph_.name = source.name;
  for (ValueId old : source.inputs) {
    const Value& value = source.value(old);
    const ValueId id = add_value(value.name, value.type, value.shape);
    graph_.inputs.push_back(id);
    native_[size_t(old)] = id;
  }
}

const Node* IntegerBuilder::producer(ValueId old) const {
  if (old == kNoValue || producers_[size_t(old)] == kNoNode) return nullptr;
  return &source_.nodes[size_t(producers_[size_t(old)])];
}

std::string IntegerBuilder::unique(std::unordered_set<std::string>& taken, const std::string& wanted) {
  if (taken.insert(wanted).second) return wanted;
  for (int& suffix = suffixes_[wanted];;) {
    const std::string candidate = fmt::format("{}_{}", wanted, ++suffix);
    if (taken.insert(candidate).second) return candidate;
  }
}

ValueId IntegerBuilder::add_value(const std::string& name, ElementType type, const Shape& shape) {
  graph_.values.push_back({unique(value_names_, name.empty() ? "value" : name), type, shape, std::nullopt});
  return ValueId(graph_.values.size()) - 1;
}

ValueId IntegerBuilder::add_constant(const std::string& name, Tensor tensor) {
  const ValueId id = add_value(name, tensor.type(), tensor.shape());
  graph_.value(id).constant = std::move(tensor);
  return id;
}

Node& IntegerBuilder::add_node(const Node& old_node, const std::string& op, const std::string& domain,
                               std::vector<ValueId> inputs, std::vector<ValueId> outputs, bool integer) {
  const std::string name = unique(node_names_, old_node.name);
  const size_t old_id = size_t(id_of(old_node));
  if (integer) {
    integer_nodes_[old_id].emplace_back(name, op);
  } else {
    float_nodes_[old_id].push_back(name);
  }
  graph_.nodes.push_back({name, domain, op, std::move(inputs), std::move(outputs), {}});
  return graph_.nodes.back();
}

Node& IntegerBuilder::add_border(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
                                 ValueId output) {
  graph_.nodes.push_back({unique(node_names_, name), "", op, std::move(inputs), {output}, {}});
  return graph_.nodes.back();
}

ValueId IntegerBuilder::scale_constant(float scale) {
  const auto [found, inserted] = scale_constants_.try_emplace(scale, kNoValue);
  if (inserted) found->second = add_constant("scale", Tensor::scalar(scale));
  return found->second;
}

ValueId IntegerBuilder::zero_point_constant(ElementType type, int64_t zero_point) {
  const auto [found, inserted] = zero_point_constants_.try_emplace({type, zero_point}, kNoValue);
  if (inserted) {
    Tensor tensor(type, Shape{});
    tensor.set_integer(0, zero_point);
    found->second = add_constant("zero_point", std::move(tensor));
  }
  return found->second;
}

const Twin* IntegerBuilder::twin(ValueId old) const {
  return old != kNoValue && twins_[size_t(old)] ? &*twins_[size_t(old)] : nullptr;
}

const QuantizedConstant* IntegerBuilder::quantized_constant(ValueId old) const {
  return old != kNoValue && constants_[size_t(old)] ? &*constants_[size_t(old)] : nullptr;
}

const Twin* IntegerBuilder::stored_integers(ValueId old) {
  if (old == kNoValue) return nullptr;
  if (stored_[size_t(old)]) return &*stored_[size_t(old)];
  const Value value = source_.value(old);
  const ValueId native_id = native_[size_t(old)];
  if (native_id == kNoValue || value.constant) return nullptr;
  if (!is_activation(value.type)) return nullptr;
  const ElementType type = signed_activation(value.type);
  const int32_t shift = unsigned_shift(value.type);
  ValueId id = native_id;
  if (type != value.type) {
    // Unsigned -> float -> signed with the scale 1 is exact.
    const ValueId real = add_value(value.name + "_real", ElementType::kF32, value.shape);
    add_border(value.name + "_dequantize", "DequantizeLinear",
               {native_id, scale_constant(1), zero_point_constant(value.type, 0)}, real);
    id = add_value(value.name + "_" + tilewright::name(type), type, value.shape);
    add_border(value.name + "_quantize", "QuantizeLinear",
               {real, scale_constant(1), zero_point_constant(type, shift)}, id);
  }
  stored_[size_t(old)] = Twin{id, {1, shift}, lowest(type), highest(type)};
  return &*stored_[size_t(old)];
}

ValueId IntegerBuilder::reshaped(const Node& old_node, ValueId x, const std::string& name,
                                 const Shape& shape) {
  if (graph_.value(x).shape == shape) return x;
  const ValueId target =
      add_constant(name + "_shape", Tensor(Shape{shape.rank()}, std::span<const int64_t>(shape.dims())));
  const ValueId result = add_value(name, graph_.value(x).type, shape);
  add_node(old_node, "Reshape", "", {x, target}, {result}, true);
  return result;
}

ValueId IntegerBuilder::native(ValueId old) {
  if (old == kNoValue) return kNoValue;
  ValueId& id = native_[size_t(old)];
  if (id != kNoValue) return id;
  const Value& value = source_.value(old);
  if (value.constant) return id = add_constant(value.name, *value.constant);
  if (const auto& stored = stored_[size_t(old)]) {
    if (is_signed(value.type)) return id = stored->id;
    const ElementType type = type_of(*stored);
    const ValueId real = add_value(value.name + "_real", ElementType::kF32, value.shape);
    add_border(value.name + "_dequantize", "DequantizeLinear",
               {stored->id, scale_constant(1), zero_point_constant(type, lowest(type))}, real);
    id = add_value(value.name, value.type, value.shape);
    add_border(value.name + "_quantize", "QuantizeLinear",
               {real, scale_constant(1), zero_point_constant(value.type, 0)}, id);
    return id;
  }
  const auto& image = twins_[size_t(old)];
  TILEWRIGHT_CHECK(image.has_value(), "a value was not lowered before its reader: " + value.name);
  id = add_value(value.name, value.type, value.shape);
  add_border(value.name + "_dequantize", "DequantizeLinear",
             {image->id, scale_constant(image->quantization.scale),
              zero_point_constant(type_of(*image), image->quantization.zero_point)},
             id);
  return id;
}

Rounding IntegerBuilder::rounding_of(ElementType type) const {
  const bool wide = type == ElementType::kI16 && source_.rounding == Rounding::kFloat;
  return wide ? Rounding::kTwice : source_.rounding;
}

std::nullopt_t IntegerBuilder::refuse(const Node& old_node, const std::string& reason) {
  std::string& noted = reasons_[size_t(id_of(old_node))];
  if (noted.empty()) noted = reason;
  return std::nullopt;
}

std::optional<ValueId> IntegerBuilder::requantized(const Twin& image, const IntegerForm& form,
                                                   const Node& at) {
  const Shape shape = graph_.value(image.id).shape;
  if (form.bipolar) {
    const ValueId out = add_value(form.name, ElementType::kI8, shape);
    Node& node = add_node(at, "QRequantize", kTilewrightDomain, {image.id}, {out}, true);
    node.attributes["bias"] = int64_t(1 - image.quantization.zero_point);
    node.attributes["multiplier"] = int64_t{1};
    node.attributes["shift"] = int64_t{0};
    set_output_form(node, form);
    return out;
  }
  const ElementType type = type_of(image), wider = type == ElementType::kI16 ? type : form.type;
  if (image.quantization == form.quantization && type == form.type) {
    if (image.low >= form.low && image.high <= form.high) return image.id;
    return emit_clip(*this, at, image.id, form.low, form.high, form.name);
  }
  const double ratio = double(image.quantization.scale) / form.quantization.scale;
  if (!std::isfinite(ratio) || ratio <= 0 || ratio >= 0x1p31) {
    return refuse(at, fmt::format("the ratio {} of input to output scale cannot be encoded", ratio));
  }
  const Requantization r =
      encode_copy(rounding_of(wider), ratio, image.quantization.scale / form.quantization.scale);
  const ValueId out = add_value(form.name, form.type, shape);
  Node& node = add_node(at, "QRequantize", kTilewrightDomain, {image.id}, {out}, true);
  node.attributes["bias"] = int64_t(-image.quantization.zero_point);
  node.attributes["multiplier"] = int64_t(r.multiplier);
  node.attributes["shift"] = int64_t(r.shift);
  set_output_form(node, form);
  return out;
}

std::optional<ValueId> IntegerBuilder::quantized(ValueId old, const IntegerForm& form, int depth) {
  if (old == kNoValue || depth > kMaximumDepth || form.quantization.scale <= 0) return std::nullopt;
  const std::tuple key{
      old,      form.quantization.scale, form.quantization.zero_point, form.low, form.high, form.bipolar,
      form.type};
  if (const auto found = done_.find(key); found != done_.end()) return found->second;

  std::optional<ValueId> result;
  const Node* node = producer(old);
  if (node && !form.bipolar) {
    if (const auto interval = clip_interval(source_, *node)) {
      const auto bound = [&](float number) {
        return clip(quantize_number(number, form.quantization, lowest(form.type), highest(form.type)),
                    form.low, form.high);
      };
      IntegerForm inner = form;
      inner.low = bound(interval->first);
      inner.high = bound(interval->second);
      result = quantized(node->input(0), inner, depth + 1);
      // The activation lives on in the clip bounds of what computes its input.
      if (result) absorbed_by(*node, *result);
    }
  }
  if (!result && node && twin(old)) result = requantized(*twin(old), form, *node);
  if (!result && node) {
    const auto output = std::find(node->outputs.begin(), node->outputs.end(), old);
    result = lowered(*node, int(output - node->outputs.begin()), form, depth);
  }
  // Failures too: a value that is concatenated with itself again and again is tried once.
  done_[key] = result;
  return result;
}

void IntegerBuilder::absorbed_by(const Node& old_node, ValueId result) {
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
    if (std::find(node->outputs.begin(), node->outputs.end(), result) == node->outputs.end()) continue;
    if (node->is("Reshape")) {  // around a dense layer; what comes before it does the work
      result = node->inputs[0];
      continue;
    }
    integer_nodes_[size_t(id_of(old_node))].emplace_back(node->name, node->op);
    return;
  }
}

ValueId IntegerBuilder::quantized_or_float(ValueId old, const IntegerForm& form, const Node& at, int depth) {
  if (const auto integer = quantized(old, form, depth)) return *integer;
  const Shape shape = source_.value(old).shape;
  ValueId out = add_value(form.name, form.type, shape);
  const ValueId real = native(old);
  add_border(form.name + "_quantize", "QuantizeLinear",
             {real, scale_constant(form.quantization.scale),
              zero_point_constant(form.type, form.quantization.zero_point)},
             out);
  if (form.low > lowest(form.type) || form.high < highest(form.type))
    out = emit_clip(*this, at, out, form.low, form.high, form.name);
  return out;
}

std::optional<ValueId> IntegerBuilder::lowered(const Node& node, int output, const IntegerForm& form,
                                               int depth) {
  if (node.is("Concat")) {
    std::vector<IntegerForm> forms(node.inputs.size(), form);
    size_t integers = 0;
    for (size_t i = 0; i < forms.size(); ++i) {
      forms[i].name = fmt::format("{}_part{}", form.name, i);
      integers += quantized(node.inputs[i], forms[i], depth + 1).has_value() ? 1 : 0;
    }
    if (integers == 0) return refuse(node, "no input is quantised");
    // A sign is no QuantizeLinear: a part that stays in float has none.
    if (form.bipolar && integers < forms.size())
      return refuse(node, "the sign of an input has no integer form");
    std::vector<ValueId> parts;
    for (size_t i = 0; i < forms.size(); ++i) {
      parts.push_back(quantized_or_float(node.inputs[i], forms[i], node, depth + 1));
    }
    const ValueId out = add_value(form.name, form.type, source_.value(node.outputs[0]).shape);
    add_node(node, "Concat", "", std::move(parts), {out}, true).attributes = node.attributes;
    return out;
  }
  if (only_moves_data(source_, node)) {
    IntegerForm inner = form;
    inner.name = form.name + "_source";
    const auto x = quantized(node.input(0), inner, depth + 1);
    if (!x) return refuse(node, "its input is not quantised");
    return emit_movement(*this, node, *x, form)[size_t(output)];
  }
  const auto result = lower_operator(*this, node, form);
  // An addition may have become the bias of the operator before it.
  if (result && integer_nodes(id_of(node)).empty()) absorbed_by(node, *result);
  return result;
}

}  // namespace tilewright
