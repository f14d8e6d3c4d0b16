// Normalisations of transformers: by the root of the mean square (RMSNormalization,
// SimplifiedLayerNormalization), after a sum (the Skip forms) and after the lookup of words
// (EmbedLayerNormalization). Definitions: the ONNX operator reference, ONNX Runtime's description of its
// contributed operators.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/onnx/opset/attention_steps.h"
#include "tilewright/frontend/onnx/opset/opset_helpers.h"

namespace tilewright {
namespace {

ElementType at_least_f32(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16 ? ElementType::kF32 : type;
}

struct RootMeanSquare {
  ValueId y = kNoValue, inverse = kNoValue;  // the second: 1 / root, of as many axes as x
};

// x / sqrt(mean(x^2) + epsilon) * scale, the mean over the axes from `axis` on; halves computed in f32.
RootMeanSquare by_root_mean_square(Steps& s, ValueId x, ValueId scale, int axis, float epsilon) {
  std::vector<int64_t> axes;
  for (int i = axis; i < s.shape(x).rank(); ++i) axes.push_back(i);
  const ValueId wide = s.cast(x, at_least_f32(s.type(x)));
  const ValueId mean = s.op("ReduceMean", {s.op("Mul", {wide, wide})}, {{"axes", axes}});
  const ValueId root = s.op("Sqrt", {s.op("Add", {mean, s.number_like(mean, double(epsilon))})});
  const ValueId y = s.op("Mul", {s.cast(s.op("Div", {wide, root}), s.type(scale)), scale});
  return {y, s.op("Reciprocal", {root})};
}

bool require(const Node& node, NodeConversion& conversion, int index, const char* what) {
  if (!node.has_input(index)) conversion.invalid(fmt::format("has no {}", what));
  return node.has_input(index);
}

// The scale or bias `input` of rows of `width` numbers.
bool fits_rows(const Node& node, NodeConversion& conversion, int input, int64_t width, const char* what) {
  if (!node.has_input(input) || conversion.shape(node.input(input)) == Shape{width}) return true;
  conversion.error(ErrorKind::kInvalidInput,
                   fmt::format("its {} is {}", what, to_string(conversion.shape(node.input(input)))),
                   fmt::format("give it {} numbers, one for each along the last axis of its input", width));
  return false;
}

bool wants(const Node& node, size_t output) {
  return output < node.outputs.size() && node.outputs[output] != kNoValue;
}

}  // namespace

void convert_rms_normalization(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  if (!require(node, conversion, 1, "scale")) return;
  const Shape x = s.shape(node.input(0)), scale = s.shape(node.input(1));
  const int axis = normalize_axis(node.int_or("axis", -1), x.rank());
  bool fits = scale.rank() <= x.rank();
  for (int i = 1; fits && i <= scale.rank(); ++i) {
    fits = scale[scale.rank() - i] == 1 || scale[scale.rank() - i] == x[x.rank() - i];
  }
  if (!fits) {
    return conversion.error(
        ErrorKind::kInvalidInput,
        fmt::format("its scale {} does not broadcast to its input {}", to_string(scale), to_string(x)),
        "give it a scale of the normalised axes");
  }
  const RootMeanSquare all =
      by_root_mean_square(s, node.input(0), node.input(1), axis, node.float_or("epsilon", 1e-5f));
  define_all(node, conversion, {all.y, all.inverse});
}

// Inputs: x, what is added to it, scale, bias (not of the simplified form), a bias before the normalisation.
// Outputs: y, mean, 1 / deviation, the sum.
void convert_skip_layer_normalization(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const bool is_simplified = node.op == "SkipSimplifiedLayerNormalization";
  if (!require(node, conversion, 1, "skip") || !require(node, conversion, 2, "gamma")) return;
  const Shape x = s.shape(node.input(0)), skip = s.shape(node.input(1));
  bool fits = x.rank() >= 2 && skip.rank() >= 2 && skip.rank() <= x.rank();
  for (int i = 1; fits && i <= skip.rank(); ++i) {
    fits = skip[skip.rank() - i] == x[x.rank() - i] || (i > 2 && skip[skip.rank() - i] == 1);
  }
  if (!fits) {
    return conversion.error(ErrorKind::kInvalidInput,
                            fmt::format("adds {} to {}", to_string(skip), to_string(x)),
                            "both need the same length and width, and one batch or the same");
  }
  const int64_t width = x[x.rank() - 1];
  const int bias = is_simplified ? 3 : 4;
  if (!fits_rows(node, conversion, 2, width, "gamma") || !fits_rows(node, conversion, bias, width, "bias") ||
      (!is_simplified && !fits_rows(node, conversion, 3, width, "beta")))
    return;
  ValueId sum = s.op("Add", {node.input(0), node.input(1)});
  if (node.has_input(bias)) sum = s.op("Add", {sum, node.input(bias)});
  const float epsilon = node.float_or("epsilon", 1e-12f);
  if (is_simplified) {
    if (wants(node, 1)) return conversion.unsupported("gives a mean, which it does not compute");
    const RootMeanSquare all = by_root_mean_square(s, sum, node.input(2), x.rank() - 1, epsilon);
    return define_all(node, conversion, {all.y, kNoValue, all.inverse, sum});
  }
  std::vector<ValueId> inputs = {sum, node.input(2)};
  if (node.has_input(3)) inputs.push_back(node.input(3));
  const int count = wants(node, 2) ? 3 : wants(node, 1) ? 2 : 1;
  std::vector<ValueId> values =
      conversion.emit_all("LayerNormalization", inputs, count, {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  values.resize(3, kNoValue);
  values.push_back(sum);
  define_all(node, conversion, values);
}

// Inputs: words, segments (or none), the tables of words, positions and segments, scale, bias, mask (or
// none), positions (or none: 0, 1, ..). Outputs: y, per sentence how many words the mask keeps, the sum.
void convert_embed_layer_normalization(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const char* const names[] = {"", "", "word_embedding", "position_embedding"};
  for (const int i : {2, 3}) {
    if (!require(node, conversion, i, names[i])) return;
    if (s.shape(node.input(i)).rank() != 2) {
      return conversion.error(ErrorKind::kInvalidInput,
                              fmt::format("its {} is {}", names[i], to_string(s.shape(node.input(i)))),
                              "give it a table of rows");
    }
  }
  if (!require(node, conversion, 5, "gamma") || !require(node, conversion, 6, "beta")) return;
  const Shape words = s.shape(node.input(0));
  if (words.rank() != 2 || node.has_input(1) != node.has_input(4)) {
    return conversion.error(ErrorKind::kInvalidInput,
                            words.rank() != 2 ? fmt::format("its words are {}", to_string(words))
                                              : "has only one of segment_ids and segment_embedding",
                            "give it words as batch x length, and segments with their table or neither");
  }
  const int64_t width = s.shape(node.input(2))[1], length = words[1];
  if (!fits_rows(node, conversion, 5, width, "gamma") || !fits_rows(node, conversion, 6, width, "beta"))
    return;
  const Attributes rows = {{"axis", int64_t{0}}};
  ValueId sum = s.op("Gather", {node.input(2), node.input(0)}, rows);
  if (!node.has_input(8) && length > s.shape(node.input(3))[0]) {
    return conversion.error(ErrorKind::kInvalidInput,
                            fmt::format("has {} positions for {} words", s.shape(node.input(3))[0], length),
                            "give it shorter sentences");
  }
  sum = s.op("Add", {sum, node.has_input(8) ? s.op("Gather", {node.input(3), node.input(8)}, rows)
                                            : s.slice(node.input(3), 0, 0, length)});
  if (node.has_input(1)) sum = s.op("Add", {sum, s.op("Gather", {node.input(4), node.input(1)}, rows)});
  const ValueId y = s.op("LayerNormalization", {sum, node.input(5), node.input(6)},
                         {{"axis", int64_t{-1}}, {"epsilon", node.float_or("epsilon", 1e-12f)}});
  ValueId kept = kNoValue;
  if (wants(node, 1)) {
    kept = node.has_input(7) ? s.sum(s.cast(s.op("Equal", {node.input(7), s.number_like(node.input(7), 1)}),
                                            ElementType::kI32),
                                     {1}, false)
                             : conversion.constant("kept", Tensor(ElementType::kI32, {words[0]}));
  }
  define_all(node, conversion, {y, kept, sum});
}

}  // namespace tilewright
