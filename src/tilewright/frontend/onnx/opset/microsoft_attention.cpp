// Attention and MultiHeadAttention of com.microsoft as standard operators. Definitions: ONNX Runtime's
// description of its contributed operators.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/onnx/opset/attention_steps.h"
#include "tilewright/frontend/onnx/opset/microsoft_converters.h"
#include "tilewright/frontend/onnx/opset/opset_helpers.h"

namespace tilewright {
namespace {

// What both operators share: queries, keys and values by heads, masks of keys, causality, results.
class FusedAttention {
 public:
  FusedAttention(Node& node, NodeConversion& conversion)
      : node_(node), conversion_(conversion), s_(conversion), heads_(node.int_or("num_heads", 0)) {}

  // One projection of the input gives all three. Inputs: x, weights, bias, mask, past, added to the scores.
  void convert_with_weights() {
    if (!has_heads() || !project() || !read_past_of_both()) return;
    if (!read_mask(3) || !read_added(5)) return;
    finish(node_.outputs.size() > 1 && node_.outputs[1] != kNoValue
               ? std::vector<ValueId>{s_.concat({stacked(o_.k), stacked(o_.v)}, 0)}
               : std::vector<ValueId>{});
  }

  // Inputs: query, key, value, bias of all three, mask, added to the scores, past key, past value.
  void convert_with_operands() {
    if (node_.has_input(8) || node_.has_input(9))
      return conversion_.unsupported("keeps past keys in a buffer that is shared",
                                     "export it with past_key and past_value of their own length");
    if (!has_heads() || !read_operands() || !read_past(6, 7) || !read_mask(4) || !read_added(5)) return;
    finish({o_.k, o_.v});
  }

 private:
  bool fail(const std::string& message, const std::string& hint) {
    conversion_.error(ErrorKind::kInvalidInput, message, hint);
    return false;
  }

  bool has_heads() {
    if (node_.int_or("do_rotary", 0) != 0 || node_.int_or("past_present_share_buffer", 0) != 0) {
      conversion_.unsupported("turns its queries (do_rotary) or shares a buffer for past keys",
                              "export the model with RotaryEmbedding and without shared buffers");
      return false;
    }
    return heads_ >= 1 || fail(fmt::format("attribute 'num_heads' is {}", heads_), "give it at least 1");
  }

  bool heads_divide(int64_t width, const char* what) {
    if (width > 0 && width % heads_ == 0) return true;
    return fail(fmt::format("{} heads do not divide the {} numbers of its {}", heads_, width, what),
                "num_heads has to divide the width of queries, keys and values");
  }

  bool project() {
    const Shape x = s_.shape(node_.input(0));
    const Shape w = node_.has_input(1) ? s_.shape(node_.input(1)) : Shape{};
    const std::vector<int64_t> sizes =
        node_.ints_or("qkv_hidden_sizes", w.rank() == 2 && w[1] % 3 == 0 ? std::vector<int64_t>(3, w[1] / 3)
                                                                         : std::vector<int64_t>{});
    const auto is_part = [&](int64_t size) { return size >= 1 && size <= w[1]; };
    const bool fits = x.rank() == 3 && w.rank() == 2 && w[0] == x[2] && sizes.size() == 3 &&
                      std::ranges::all_of(sizes, is_part) && sizes[0] == sizes[1] &&
                      sizes[0] + sizes[1] + sizes[2] == w[1];
    if (!fits) {
      return fail(fmt::format("its weights {} do not fit its input {}", to_string(w), to_string(x)),
                  "give it batch x length x width and weights of width x (queries, keys, values)");
    }
    if (!heads_divide(sizes[0], "queries") || !heads_divide(sizes[2], "values")) return false;
    ValueId all = s_.op("MatMul", {node_.input(0), node_.input(1)});
    if (node_.has_input(2)) all = s_.op("Add", {all, node_.input(2)});
    const std::vector<ValueId> parts = s_.split(all, 2, sizes);
    if (conversion_.failed()) return false;
    o_.q = split_heads(s_, parts[0], heads_);
    o_.k = split_heads(s_, parts[1], heads_);
    o_.v = split_heads(s_, parts[2], heads_);
    return !conversion_.failed();
  }

  // Part `part` of x [batch, length, heads, parts, size] as [batch, length, heads * size].
  ValueId packed_part(ValueId x, int part) {
    const Shape shape = s_.shape(x);
    return s_.reshape(s_.pick(x, 3, part), {shape[0], shape[1], shape[2] * shape[4]});
  }

  bool read_operands() {
    const Shape q = s_.shape(node_.input(0));
    const bool has_key = node_.has_input(1), has_value = node_.has_input(2);
    const Shape k = has_key ? s_.shape(node_.input(1)) : Shape{};
    ValueId parts[3] = {node_.input(0), has_key ? node_.input(1) : kNoValue,
                        has_value ? node_.input(2) : kNoValue};
    const char* const way_out =
        "give it query, key and value of batch x length x width, or packed as batch x length x heads x 3 (2 "
        "for keys and values) x size";
    if (!has_key && !has_value && q.rank() == 5 && q[2] == heads_ && q[3] == 3) {
      for (int i = 0; i < 3; ++i) parts[i] = packed_part(node_.input(0), i);
    } else if (has_key && !has_value && q.rank() == 3 && k.rank() == 5 && k[2] == heads_ && k[3] == 2) {
      for (int i = 0; i < 2; ++i) parts[i + 1] = packed_part(node_.input(1), i);
    } else if (!has_key || !has_value || q.rank() != 3) {
      return fail(fmt::format("its query is {}, its key {}", to_string(q), has_key ? to_string(k) : "absent"),
                  way_out);
    }
    ValueId* const operands[] = {&o_.q, &o_.k, &o_.v};
    const char* const names[] = {"query", "key", "value"};
    int64_t offset = 0;
    for (int i = 0; i < 3; ++i) {
      if (conversion_.failed() || !by_heads(parts[i], names[i], &offset, operands[i])) return false;
    }
    const Shape a = s_.shape(o_.q), b = s_.shape(o_.k), c = s_.shape(o_.v);
    if (a[0] == b[0] && a[0] == c[0] && a[3] == b[3] && b[2] == c[2]) return true;
    return fail(fmt::format("its query {}, key {} and value {} (batch, heads, length, size) do not fit",
                            to_string(a), to_string(b), to_string(c)),
                way_out);
  }

  // x with its part of the bias, from `offset` on, by heads; keys and values of an encoder are so already.
  bool by_heads(ValueId x, const char* name, int64_t* offset, ValueId* result) {
    const Shape shape = s_.shape(x);
    if (shape.rank() == 4 && x != node_.input(0)) {
      if (shape[1] != heads_ || node_.has_input(3) || node_.has_input(6)) {
        return fail(fmt::format("its {} is {}", name, to_string(shape)),
                    "keys and values by heads are batch x heads x length x size, without bias and past");
      }
      *result = x;
      return true;
    }
    if (shape.rank() != 3)
      return fail(fmt::format("its {} is {}", name, to_string(shape)), "give it batch x length x width");
    if (!heads_divide(shape[2], name)) return false;
    if (node_.has_input(3)) {
      const Shape bias = s_.shape(node_.input(3));
      if (bias.rank() != 1 || *offset + shape[2] > bias[0]) {
        return fail(fmt::format("its bias is {}", to_string(bias)),
                    "give it one number for each of query, key and value, one after another");
      }
      x = s_.op("Add", {x, s_.slice(node_.input(3), 0, *offset, *offset + shape[2])});
      *offset += shape[2];
    }
    *result = split_heads(s_, x, heads_);
    return !conversion_.failed();
  }

  bool fits_past(ValueId past, const Shape& now, int64_t length) {
    const Shape shape = s_.shape(past);
    if (shape.rank() == 4 && shape[0] == now[0] && shape[1] == now[1] && shape[3] == now[3] &&
        (length < 0 || shape[2] == length))
      return true;
    return fail(fmt::format("its past is {}", to_string(shape)),
                fmt::format("give it {} x {} x length x {} for keys and for values", now[0], now[1], now[3]));
  }

  bool add_past(ValueId k, ValueId v) {
    if (conversion_.failed() || !fits_past(k, s_.shape(o_.k), -1)) return false;
    past_ = s_.shape(k)[2];
    if (!fits_past(v, s_.shape(o_.v), past_)) return false;
    o_.k = s_.concat({k, o_.k}, 2);
    o_.v = s_.concat({v, o_.v}, 2);
    return !conversion_.failed();
  }

  bool read_past(int k, int v) {
    if (node_.has_input(k) != node_.has_input(v))
      return fail("has only one of past_key and past_value", "give it both or neither");
    return !node_.has_input(k) || add_past(node_.input(k), node_.input(v));
  }

  // [2, batch, heads, length, size]
  bool read_past_of_both() {
    if (!node_.has_input(4)) return true;
    const Shape past = s_.shape(node_.input(4));
    if (past.rank() != 5 || past[0] != 2)
      return fail(fmt::format("its past is {}", to_string(past)),
                  "give it 2 (keys, values) x batch x heads x length x size");
    return add_past(s_.pick(node_.input(4), 0, 0), s_.pick(node_.input(4), 0, 1));
  }

  ValueId stacked(ValueId x) {
    std::vector<int64_t> dims = s_.shape(x).dims();
    dims.insert(dims.begin(), 1);
    return s_.reshape(x, Shape(std::move(dims)));
  }

  // The keys that the mask keeps, as [batch, 1, queries or 1, keys]; kNoValue if it keeps all or is wrong.
  ValueId kept_keys(ValueId mask, const Shape& q, int64_t keys) {
    const Shape shape = s_.shape(mask);
    const int64_t batch = q[0];
    if (shape.rank() == 1 && (shape[0] == batch || shape[0] == 2 * batch)) {  // ends, then starts
      std::vector<int64_t> numbers(static_cast<size_t>(keys));
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = int64_t(i);
      const ValueId key = s_.cast(s_.integers(numbers), s_.type(mask));
      const auto bound = [&](int64_t from) {
        return s_.reshape(s_.slice(mask, 0, from, from + batch), {batch, 1, 1, 1});
      };
      const ValueId before_end = s_.op("Less", {key, bound(0)});
      if (shape[0] == batch) return before_end;
      return s_.op("And", {before_end, s_.op("GreaterOrEqual", {key, bound(batch)})});
    }
    if (shape.rank() == 2 && shape[1] == 1 && keys != 1) return kNoValue;  // stands for no mask
    const bool is_row = shape == Shape{batch, keys};
    if (!is_row && shape != Shape{batch, q[2], keys}) {
      fail(fmt::format("its mask is {}", to_string(shape)),
           fmt::format("give it {0} lengths, {0} x {1} keys or {0} x {2} x {1} scores", batch, keys, q[2]));
      return kNoValue;
    }
    const ValueId keeps = s_.op("Greater", {mask, s_.number_like(mask, 0)});
    return s_.reshape(keeps, {batch, 1, is_row ? 1 : q[2], keys});
  }

  bool read_mask(int input) {
    const Shape q = s_.shape(o_.q);
    const int64_t keys = s_.shape(o_.k)[2];
    const ElementType type = s_.type(o_.q);
    if (node_.has_input(input)) {
      const ValueId kept = kept_keys(node_.input(input), q, keys);
      if (kept != kNoValue) {
        const double hidden = double(node_.float_or("mask_filter_value", -10000.0f));
        o_.bias = s_.op("Where", {kept, s_.number(type, 0), s_.number(type, hidden)});
      }
    }
    // The last query sees all keys: it is taken for the newest.
    if (!conversion_.failed() && node_.int_or("unidirectional", 0) != 0 && q[2] > 1 && past_ + 1 < keys)
      o_.bias = sum_of(s_, o_.bias, causal_bias(s_, type, q[2], keys, past_, -1, true));
    return !conversion_.failed();
  }

  bool read_added(int input) {
    if (!node_.has_input(input)) return true;
    const Shape q = s_.shape(o_.q), shape = s_.shape(node_.input(input));
    const int64_t keys = s_.shape(o_.k)[2];
    if (shape.rank() != 4 || (shape[0] != q[0] && shape[0] != 1) || (shape[1] != q[1] && shape[1] != 1) ||
        shape[2] != q[2] || shape[3] != keys) {
      return fail(
          fmt::format("adds {} to its scores", to_string(shape)),
          fmt::format("give it {} x {} x {} x {}, where the first two can be 1", q[0], q[1], q[2], keys));
    }
    o_.bias = sum_of(s_, node_.input(input), o_.bias);
    return !conversion_.failed();
  }

  void finish(const std::vector<ValueId>& present) {
    const float scale = node_.float_or("scale", 0.0f);
    o_.scale = scale == 0 ? default_attention_scale(s_.shape(o_.q)[3]) : double(scale);
    o_.softmax_type = s_.type(o_.q);
    const AttentionValues values = attend(s_, o_);
    std::vector<ValueId> all = {joined_heads(s_, values.result)};
    all.insert(all.end(), present.begin(), present.end());
    if (all.size() == 3) all.push_back(values.biased);
    define_all(node_, conversion_, all);
  }

  Node& node_;
  NodeConversion& conversion_;
  Steps s_;
  AttentionOperands o_;
  int64_t heads_ = 0, past_ = 0;
};

}  // namespace

void convert_microsoft_attention(Node& node, NodeConversion& conversion) {
  FusedAttention(node, conversion).convert_with_weights();
}

void convert_multi_head_attention(Node& node, NodeConversion& conversion) {
  FusedAttention(node, conversion).convert_with_operands();
}

}  // namespace tilewright
