// Normalisations, softmax and rotary embedding: what works along rows.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

void require_channels(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  if (context.shape(0).rank() >= 2) return;
  reject(context, fmt::format("{} has shape {}, batch and channels are needed", describe_input(context, 0),
                              to_string(context.shape(0))));
}

std::vector<TypedShape> infer_batch_normalization(const OperatorContext& context) {
  require_channels(context);
  const std::vector<ValueId>& outputs = context.node().outputs;
  const bool statistics_wanted =
      std::any_of(outputs.begin() + 1, outputs.end(), [](ValueId id) { return id != kNoValue; });
  if (context.node().int_or("training_mode", 0) != 0 || statistics_wanted) {
    reject_unsupported(context, "training mode", "export the model for inference");
  }
  for (int i = 1; i <= 4; ++i) {
    require_class(context, i, TypeClass::kFloat);
    require_vector(context, i, context.shape(0)[1]);
  }
  return std::vector<TypedShape>(outputs.size(), {context.type(0), context.shape(0)});
}

std::vector<TypedShape> infer_instance_normalization(const OperatorContext& context) {
  require_channels(context);
  for (int i : {1, 2}) {
    require_same_type(context, 0, i);
    require_vector(context, i, context.shape(0)[1]);
  }
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_layer_normalization(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  const Shape& x = context.shape(0);
  const int axis = checked_axis(context, context.node().int_or("axis", -1), x.rank());
  const Shape normalized({x.begin() + axis, x.end()});
  for (int i : {1, 2}) {
    if (!context.has(i)) continue;
    require_same_type(context, 0, i);
    require_broadcastable_to(context, i, normalized);
  }
  Shape statistics = x;
  for (int i = axis; i < x.rank(); ++i) statistics[i] = 1;
  // stash_type 1, the default: the statistics are float32 whatever the input is.
  const bool single = context.node().int_or("stash_type", 1) == 1;
  const ElementType stash = single ? ElementType::kF32 : context.type(0);
  return {{context.type(0), x}, {stash, statistics}, {stash, statistics}};
}

std::vector<TypedShape> infer_rms_normalization(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  const Shape& x = context.shape(0);
  const int axis = checked_axis(context, context.node().int_or("axis", -1), x.rank());
  require_same_type(context, 0, 1);
  require_broadcastable_to(context, 1, Shape({x.begin() + axis, x.end()}));
  return only(context.type(0), x);
}

std::vector<TypedShape> infer_lrn(const OperatorContext& context) {
  require_channels(context);
  if (context.node().int_or("size", 0) < 1) {
    reject(context, fmt::format("attribute 'size' is {}", context.node().int_or("size", 0)),
           "1 or more channels are needed");
  }
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_softmax(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  checked_axis(context, context.node().int_or("axis", -1), context.shape(0).rank());
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_rotary_embedding(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  const Shape& x = context.shape(0);
  for (int i : {1, 2}) {
    require_same_type(context, 0, i);
    const Shape& table = context.shape(i);
    const bool fits =
        x.rank() >= 2 && table.rank() == 2 && table[0] == x[x.rank() - 2] && 2 * table[1] == x[x.rank() - 1];
    if (!fits) {
      reject(context,
             fmt::format("{} is {}, which does not fit data {}", describe_input(context, i), to_string(table),
                         to_string(x)),
             "an angle is needed for each token and each pair of numbers of a head");
    }
  }
  return only(context.type(0), x);
}

}  // namespace

void add_normalization_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kFloat = AttributeKind::kFloat;
  table.push_back({"",
                   "BatchNormalization",
                   5,
                   5,
                   1,
                   3,
                   {{"epsilon", kFloat}, {"momentum", kFloat}, {"training_mode", kInt}},
                   infer_batch_normalization});
  table.push_back(
      {"", "InstanceNormalization", 3, 3, 1, 1, {{"epsilon", kFloat}}, infer_instance_normalization});
  table.push_back({"",
                   "LayerNormalization",
                   2,
                   3,
                   1,
                   3,
                   {{"axis", kInt}, {"epsilon", kFloat}, {"stash_type", kInt}},
                   infer_layer_normalization});
  table.push_back({"",
                   "LRN",
                   1,
                   1,
                   1,
                   1,
                   {{"alpha", kFloat}, {"beta", kFloat}, {"bias", kFloat}, {"size", kInt, true}},
                   infer_lrn});
  table.push_back({"",
                   "RMSNormalization",
                   2,
                   2,
                   1,
                   1,
                   {{"axis", kInt}, {"epsilon", kFloat}, {"stash_type", kInt}},
                   infer_rms_normalization});
  table.push_back({"", "RotaryEmbedding", 3, 3, 1, 1, {}, infer_rotary_embedding});
  table.push_back({"", "Softmax", 1, 1, 1, 1, {{"axis", kInt}}, infer_softmax});
  table.push_back({"", "LogSoftmax", 1, 1, 1, 1, {{"axis", kInt}}, infer_softmax});
}

}  // namespace tilewright
