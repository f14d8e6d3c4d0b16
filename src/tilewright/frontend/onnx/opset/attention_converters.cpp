// Attention and RotaryEmbedding of opset 23. Definitions: the ONNX operator reference, with its corrections:
// the cap comes before the mask, and a query that may see no key gives 0.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tilewright/frontend/onnx/opset/attention_steps.h"
#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {
namespace {

// One Attention node: q, k, v, mask, past keys and values.
class Attention {
 public:
  Attention(Node& node, NodeConversion& conversion) : node_(node), conversion_(conversion), s_(conversion) {}

  void convert() {
    if (!read_operands() || !read_past() || !read_bias() || !read_softmax_type()) return;
    const int64_t mode = node_.int_or("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3)
      return conversion_.invalid(fmt::format("attribute 'qk_matmul_output_mode' is {}, not 0 to 3", mode));
    const AttentionValues values = attend(s_, o_);
    const ValueId result = is_flat_ ? joined_heads(s_, values.result) : values.result;
    const ValueId scores[] = {values.scores, values.capped, values.biased, values.weights};
    define_all(node_, conversion_, {result, o_.k, o_.v, scores[mode]});
  }

 private:
  bool fail(const std::string& message, const std::string& hint) {
    conversion_.error(ErrorKind::kInvalidInput, message, hint);
    return false;
  }

  bool read_operands() {
    if (!node_.has_input(1) || !node_.has_input(2)) return fail("has no key or no value", "give it both");
    const int rank = s_.shape(node_.input(0)).rank();
    for (const int i : {0, 1, 2}) {
      const Shape shape = s_.shape(node_.input(i));
      if (shape.rank() == rank && (rank == 3 || rank == 4)) continue;
      return fail(fmt::format("its query is {}, its input {} {}", to_string(s_.shape(node_.input(0))), i,
                              to_string(shape)),
                  "give query, key and value as 3 axes (batch, length, heads * size) or as 4 (batch, heads, "
                  "length, size)");
    }
    is_flat_ = rank == 3;
    o_.q = by_heads(0, "q_num_heads");
    if (o_.q != kNoValue) o_.k = by_heads(1, "kv_num_heads");
    if (o_.k != kNoValue) o_.v = by_heads(2, "kv_num_heads");
    if (o_.v == kNoValue) return false;
    const Shape q = s_.shape(o_.q), k = s_.shape(o_.k), v = s_.shape(o_.v);
    if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || k[2] != v[2] || q[3] != k[3]) {
      return fail(fmt::format("its query {}, key {} and value {} (batch, heads, length, size) do not fit",
                              to_string(q), to_string(k), to_string(v)),
                  "all need one batch, query and key one size, key and value one length and number of heads");
    }
    if (k[1] < 1 || q[1] % k[1] != 0) {
      return fail(fmt::format("{} heads of keys do not divide {} heads of queries", k[1], q[1]),
                  "give it a multiple of kv_num_heads as q_num_heads");
    }
    o_.scale = node_.has("scale") ? double(node_.float_or("scale", 1)) : default_attention_scale(q[3]);
    o_.softcap = double(node_.float_or("softcap", 0));
    return true;
  }

  // Input `i` as [batch, heads, length, size].
  ValueId by_heads(int i, const char* attribute) {
    const ValueId x = node_.input(i);
    const Shape shape = s_.shape(x);
    const int64_t heads = node_.int_or(attribute, 0);
    if (!is_flat_) {
      if (!node_.has(attribute) || heads == 0 || heads == shape[1]) return x;
      fail(fmt::format("its input {} has {} heads, {} says {}", i, shape[1], attribute, heads),
           "with 4 axes leave the attribute out");
      return kNoValue;
    }
    if (heads >= 1 && shape[2] % heads == 0) return split_heads(s_, x, heads);
    fail(fmt::format("{} = {} does not divide the {} numbers of its input {}", attribute, heads, shape[2], i),
         "state q_num_heads and kv_num_heads for inputs of 3 axes");
    return kNoValue;
  }

  bool read_past() {
    if (node_.has_input(4) != node_.has_input(5))
      return fail("has only one of past_key and past_value", "give it both or neither");
    if (!node_.has_input(4)) return true;
    ValueId* const present[] = {&o_.k, &o_.v};
    for (const int i : {4, 5}) {
      ValueId& x = *present[i - 4];
      const Shape past = s_.shape(node_.input(i)), now = s_.shape(x);
      if (past.rank() != 4 || past[0] != now[0] || past[1] != now[1] || past[3] != now[3] ||
          past[2] != s_.shape(node_.input(4))[2]) {
        return fail(fmt::format("its {} is {}", i == 4 ? "past_key" : "past_value", to_string(past)),
                    fmt::format("give it {} x {} x length x {}", now[0], now[1], now[3]));
      }
      past_ = past[2];
      x = s_.concat({node_.input(i), x}, 2);
    }
    return true;
  }

  bool read_bias() {
    const Shape q = s_.shape(o_.q), k = s_.shape(o_.k);
    const ElementType type = s_.type(o_.q);
    if (node_.has_input(3)) {
      const ValueId mask = node_.input(3);
      const Shape scores{q[0], q[1], q[2], k[2]}, shape = s_.shape(mask);
      bool fits = shape.rank() <= 4;
      for (int i = 1; fits && i <= shape.rank(); ++i) {
        const int64_t size = shape[shape.rank() - i];
        fits = size == 1 || size == scores[4 - i];
      }
      if (!fits) {
        return fail(fmt::format("its mask {} does not broadcast to the {} scores", to_string(shape),
                                to_string(scores)),
                    "give it batch x heads x queries x keys, with past keys, or 1 where all are equal");
      }
      o_.hides_rows = true;
      o_.bias = s_.type(mask) != ElementType::kBool
                    ? s_.cast(mask, type)
                    : s_.op("Where", {mask, s_.number(type, 0),
                                      s_.number(type, -std::numeric_limits<double>::infinity())});
    }
    if (node_.int_or("is_causal", 0) != 0 && q[2] > 0) {
      const bool sees_all = past_ + 1 >= k[2];  // even the first query
      if (!sees_all) o_.bias = sum_of(s_, o_.bias, causal_bias(s_, type, q[2], k[2], past_));
    }
    return !conversion_.failed();
  }

  bool read_softmax_type() {
    o_.softmax_type = s_.type(o_.q);
    if (!node_.has("softmax_precision")) return true;
    const int64_t number = node_.int_or("softmax_precision", 1);
    const auto type = number < 0 || number > 1000 ? std::nullopt : element_type_from_onnx(int(number));
    if (!type || !is_float(*type)) {
      return fail(fmt::format("attribute 'softmax_precision' is {}",
                              onnx_type_name(number < 0 || number > 1000 ? -1 : int(number))),
                  "give it a type of real numbers, or leave it out");
    }
    // More digits than asked for do no harm.
    if (bit_width(*type) > bit_width(o_.softmax_type)) o_.softmax_type = *type;
    return true;
  }

  Node& node_;
  NodeConversion& conversion_;
  Steps s_;
  AttentionOperands o_;
  bool is_flat_ = false;
  int64_t past_ = 0;
};

struct Rotation {
  int64_t batch, heads, length, size, width;  // width: how much of each head is turned
  bool is_flat;                               // the input is [batch, length, heads * size]
};

// Cosines or sines as they broadcast to the input by heads: rows of the cache at the positions, or the cache
// itself where there are none.
ValueId angles(Steps& s, ValueId cache, ValueId positions, const Rotation& r) {
  const ValueId rows =
      positions == kNoValue ? cache : s.op("Gather", {cache, positions}, {{"axis", int64_t{0}}});
  const int64_t batch = rows == kNoValue ? 1 : s.shape(rows).element_count() / (r.length * (r.width / 2));
  return s.reshape(
      rows, r.is_flat ? Shape{batch, r.length, 1, r.width / 2} : Shape{batch, 1, r.length, r.width / 2});
}

ValueId turned(Steps& s, const Node& node, ValueId cosines, ValueId sines, const Rotation& r) {
  const ValueId x = node.input(0);
  const ValueId by_heads = r.is_flat ? s.reshape(x, {r.batch, r.length, r.heads, r.size}) : x;
  const ValueId y = rotated(s, by_heads, cosines, sines, r.width, node.int_or("interleaved", 0) != 0);
  return s.reshape(y, s.shape(x));
}

// Sizes of the input and the turned part of a head; nullopt after an error.
std::optional<Rotation> rotation_of(Node& node, NodeConversion& conversion, int64_t width) {
  const Shape x = conversion.shape(node.input(0));
  const auto fail = [&](const std::string& message, const std::string& hint) {
    conversion.error(ErrorKind::kInvalidInput, message, hint);
    return std::nullopt;
  };
  if (x.rank() != 3 && x.rank() != 4) {
    return fail(fmt::format("its input is {}", to_string(x)),
                "give it batch x length x (heads * size) or batch x heads x length x size");
  }
  if (x.element_count() == 0) return fail("turns nothing", "give it at least one element");
  const bool is_flat = x.rank() == 3;
  const int64_t heads = is_flat ? node.int_or("num_heads", 0) : x[1];
  if (heads < 1 || (is_flat && x[2] % heads != 0)) {
    return fail(
        fmt::format("num_heads = {} does not divide the {} numbers of its input", heads, x[x.rank() - 1]),
        "state num_heads for an input of 3 axes");
  }
  const int64_t size = is_flat ? x[2] / heads : x[3], turns = width == 0 ? size : width;
  if (turns < 2 || turns > size || turns % 2 != 0) {
    return fail(fmt::format("turns {} numbers of heads of {}", turns, size),
                "rotary_embedding_dim has to be even and no larger than a head");
  }
  return Rotation{x[0], heads, is_flat ? x[1] : x[2], size, turns, is_flat};
}

bool has_caches(Node& node, NodeConversion& conversion, int cosines, int sines) {
  if (node.has_input(cosines) && node.has_input(sines)) return true;
  conversion.error(ErrorKind::kInvalidInput,
                   fmt::format("has no {}", node.has_input(cosines) ? "sin_cache" : "cos_cache"),
                   "give it the cosines and sines of all angles, as the exporter computes them");
  return false;
}

// Both caches against what they have to be; an axis of -1 can have any size.
bool caches_fit(Node& node, NodeConversion& conversion, int cosines, const std::vector<int64_t>& wanted) {
  for (const int input : {cosines, cosines + 1}) {
    const Shape shape = conversion.shape(node.input(input));
    bool fits = shape.rank() == int(wanted.size());
    for (int i = 0; fits && i < shape.rank(); ++i)
      fits = wanted[size_t(i)] < 0 || shape[i] == wanted[size_t(i)];
    if (fits) continue;
    std::string text;
    for (const int64_t size : wanted) {
      if (!text.empty()) text += " x ";
      text += size < 0 ? "positions" : std::to_string(size);
    }
    conversion.error(
        ErrorKind::kInvalidInput,
        fmt::format("its {} is {}", input == cosines ? "cos_cache" : "sin_cache", to_string(shape)),
        fmt::format("give it {}: an angle for every pair of turned numbers", text));
    return false;
  }
  return true;
}

}  // namespace

void convert_attention(Node& node, NodeConversion& conversion) { Attention(node, conversion).convert(); }

void convert_rotary_embedding(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  if (!has_caches(node, conversion, 1, 2)) return;
  const auto r = rotation_of(node, conversion, node.int_or("rotary_embedding_dim", 0));
  if (!r) return;
  const bool has_positions = node.has_input(3);
  if (!caches_fit(node, conversion, 1,
                  has_positions ? std::vector<int64_t>{-1, r->width / 2}
                                : std::vector<int64_t>{r->batch, r->length, r->width / 2}))
    return;
  if (has_positions && s.shape(node.input(3)) != Shape{r->batch, r->length}) {
    return conversion.error(
        ErrorKind::kInvalidInput, fmt::format("its position_ids are {}", to_string(s.shape(node.input(3)))),
        fmt::format("give it {} x {}, or caches of 3 axes without positions", r->batch, r->length));
  }
  const ValueId cosines = angles(s, node.input(1), node.input(3), *r);
  const ValueId sines = angles(s, node.input(2), node.input(3), *r);
  conversion.define(node.outputs[0], turned(s, node, cosines, sines, *r));
  node.outputs.clear();
}

// Inputs: x, position_ids, cos_cache, sin_cache. A single position is that of the first element, the others
// follow it. Without rotary_embedding_dim and num_heads, the caches say how large a head is.
void convert_microsoft_rotary_embedding(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  if (!has_caches(node, conversion, 2, 3)) return;
  if (node.int_or("is_packed_batching", 0) != 0 || node.float_or("scale", 1.0f) != 1) {
    return conversion.unsupported("has is_packed_batching or a scale", "export the model without them");
  }
  const Shape x = s.shape(node.input(0)), cache = s.shape(node.input(2));
  const int64_t width = node.int_or("rotary_embedding_dim", 0);
  if (width == 0 && x.rank() == 3 && node.int_or("num_heads", 0) == 0 && cache.rank() == 2 && cache[1] > 0)
    node.attributes["num_heads"] = x[2] / (2 * cache[1]);
  const auto r = rotation_of(node, conversion, width);
  if (!r || !caches_fit(node, conversion, 2, {-1, r->width / 2})) return;
  ValueId positions = node.input(1);
  if (positions == kNoValue) return conversion.invalid("has no position_ids");
  if (s.shape(positions).element_count() == 1) {
    std::vector<int64_t> following(static_cast<size_t>(r->length));
    for (size_t i = 0; i < following.size(); ++i) following[i] = int64_t(i);
    positions =
        s.op("Add", {s.reshape(s.cast(positions, ElementType::kI64), {1, 1}),
                     conversion.constant("following", int64_list(following).reshaped({1, r->length}))});
  } else if (s.shape(positions) != Shape{r->batch, r->length}) {
    return conversion.error(ErrorKind::kInvalidInput,
                            fmt::format("its position_ids are {}", to_string(s.shape(positions))),
                            fmt::format("give it {} x {}, or the first position alone", r->batch, r->length));
  }
  const ValueId cosines = angles(s, node.input(2), positions, *r);
  const ValueId sines = angles(s, node.input(3), positions, *r);
  conversion.define(node.outputs[0], turned(s, node, cosines, sines, *r));
  node.outputs.clear();
}

}  // namespace tilewright
