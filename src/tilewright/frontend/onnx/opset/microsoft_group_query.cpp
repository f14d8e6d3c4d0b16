// GroupQueryAttention of com.microsoft: causal attention whose past keys lie in the first part of a buffer,
// of another length for each sentence. Definition: ONNX Runtime's description of its contributed operators.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tilewright/frontend/onnx/opset/attention_steps.h"
#include "tilewright/frontend/onnx/opset/microsoft_converters.h"
#include "tilewright/frontend/onnx/opset/opset_helpers.h"

namespace tilewright {
namespace {

std::vector<int64_t> counted(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = int64_t(i);
  return numbers;
}

// Inputs: query, key, value, past key, past value, last key of each sentence, length of the longest, cosines,
// sines, positions, added to the scores.
class GroupQuery {
 public:
  GroupQuery(Node& node, NodeConversion& conversion)
      : node_(node),
        conversion_(conversion),
        s_(conversion),
        heads_(node.int_or("num_heads", 0)),
        key_heads_(node.int_or("kv_num_heads", 0)) {}

  void convert() {
    if (!is_covered() || !read_operands() || !read_lengths() || !turn() || !add_past() || !read_bias())
      return;
    const float scale = node_.float_or("scale", 0.0f);
    o_.scale = scale == 0 ? default_attention_scale(size_) : double(scale);
    o_.softcap = double(node_.float_or("softcap", 0.0f));
    o_.softmax_type = s_.type(o_.q);
    define_all(node_, conversion_, {joined_heads(s_, attend(s_, o_).result), o_.k, o_.v});
  }

 private:
  bool fail(const std::string& message, const std::string& hint) {
    conversion_.error(ErrorKind::kInvalidInput, message, hint);
    return false;
  }

  bool is_covered() {
    const char* const way_out = "export the model without it";
    const bool has_scores = node_.outputs.size() > 3 && node_.outputs[3] != kNoValue;
    if (node_.int_or("smooth_softmax", 0) > 0 || node_.has_input(11))
      conversion_.unsupported("adds a sink to its softmax", way_out);
    else if (node_.has_input(12) || node_.has_input(13))
      conversion_.unsupported("keeps quantised keys", way_out);
    else if (has_scores)
      conversion_.unsupported("gives its scores", way_out);
    return !conversion_.failed();
  }

  bool read_operands() {
    const Shape q = s_.shape(node_.input(0));
    constexpr int64_t kMostHeads = int64_t{1} << 30;
    if (heads_ < 1 || heads_ > kMostHeads || key_heads_ < 1 || heads_ % key_heads_ != 0) {
      return fail(fmt::format("{} heads of keys do not divide {} heads of queries", key_heads_, heads_),
                  "give it a multiple of kv_num_heads as num_heads");
    }
    if (node_.has_input(1) != node_.has_input(2) || q.rank() != 3)
      return fail(fmt::format("its query is {}, with {} key and {} value", to_string(q),
                              node_.has_input(1) ? "a" : "no", node_.has_input(2) ? "a" : "no"),
                  "give it all three as batch x length x width, or all in the query");
    const bool is_packed = !node_.has_input(1);
    const int64_t parts = is_packed ? heads_ + 2 * key_heads_ : heads_;
    size_ = q[2] / parts;
    const Shape keys{q[0], q[1], key_heads_ * size_};
    if (size_ < 1 || q[2] % parts != 0 ||
        (!is_packed && (s_.shape(node_.input(1)) != keys || s_.shape(node_.input(2)) != keys))) {
      return fail(fmt::format("its query {} is not {} heads, or its key and value are not {}", to_string(q),
                              parts, to_string(keys)),
                  "num_heads and kv_num_heads have to divide the widths");
    }
    std::vector<ValueId> all = {node_.input(0), node_.input(1), node_.input(2)};
    if (is_packed)
      all = s_.split(node_.input(0), 2, {heads_ * size_, key_heads_ * size_, key_heads_ * size_});
    batch_ = q[0];
    length_ = q[1];
    o_.q = split_heads(s_, all[0], heads_);
    o_.k = split_heads(s_, all[1], key_heads_);
    o_.v = split_heads(s_, all[2], key_heads_);
    return !conversion_.failed();
  }

  // How many keys there are before this run (per sentence), and in all.
  bool read_lengths() {
    for (const int i : {3, 4}) {
      if (!node_.has_input(i)) continue;
      const Shape past = s_.shape(node_.input(i));
      if (past.rank() != 4 || past[0] != batch_ || past[1] != key_heads_ || past[3] != size_)
        return fail(fmt::format("its past is {}", to_string(past)),
                    fmt::format("give it {} x {} x length x {}", batch_, key_heads_, size_));
      buffer_ = past[2];
    }
    if (node_.has_input(3) != node_.has_input(4))
      return fail("has only one of past_key and past_value", "give it both or neither");
    const auto total = conversion_.constant_of(node_.input(6));
    if (!total || total->size() != 1 || !node_.has_input(5)) {
      if (buffer_ > 0) {
        conversion_.unsupported("has past keys, but its total_sequence_length is not known",
                                "make it an initializer, or the size of an input that has one");
        return false;
      }
      keys_ = length_;
    } else {
      keys_ = total->integer_at(0);
    }
    is_prompt_ = keys_ == length_;
    if (keys_ < length_ || (!is_prompt_ && keys_ > buffer_ + length_))
      return fail(fmt::format("has {} keys of {} in its past and {} in its query", keys_, buffer_, length_),
                  "total_sequence_length counts the past and the query");
    if (is_prompt_) return true;
    if (s_.shape(node_.input(5)).element_count() != batch_)
      return fail(fmt::format("its seqlens_k are {}", to_string(s_.shape(node_.input(5)))),
                  fmt::format("give it one number for each of {} sentences", batch_));
    const ValueId last = s_.reshape(s_.cast(node_.input(5), ElementType::kI64), {batch_, 1, 1, 1});
    before_ = s_.op("Sub", {last, s_.number(ElementType::kI64, double(length_ - 1))});
    return !conversion_.failed();
  }

  // The numbers from 0 on along an axis of four.
  ValueId along(int axis, int64_t count) {
    std::vector<int64_t> dims(4, 1);
    dims[size_t(axis)] = count;
    return s_.reshape(s_.integers(counted(count)), Shape(std::move(dims)));
  }

  // Queries and keys by the angles of their places.
  bool turn() {
    if (node_.int_or("do_rotary", 0) == 0) return true;
    if (!node_.has_input(7) || !node_.has_input(8))
      return fail("turns its queries without cos_cache and sin_cache", "give it both, or do_rotary = 0");
    const Shape cache = s_.shape(node_.input(7));
    if (cache.rank() != 2 || s_.shape(node_.input(8)) != cache || cache[1] < 1 || 2 * cache[1] > size_)
      return fail(
          fmt::format("its cos_cache is {}", to_string(cache)),
          fmt::format("both caches are positions x half of what is turned of the {} numbers of a head",
                      size_));
    ValueId places = node_.input(9);
    if (places == kNoValue) {
      places = along(2, length_);
      if (before_ != kNoValue) places = s_.op("Add", {places, before_});
      places = s_.reshape(places, {s_.shape(places)[0], length_});
    } else if (s_.shape(places) != Shape{batch_, length_}) {
      return fail(fmt::format("its position_ids are {}", to_string(s_.shape(places))),
                  fmt::format("give it {} x {}", batch_, length_));
    }
    ValueId angles[2];
    for (const int i : {0, 1}) {
      const ValueId rows = s_.op("Gather", {node_.input(7 + i), places}, {{"axis", int64_t{0}}});
      angles[i] = s_.reshape(rows, {s_.shape(places)[0], 1, length_, cache[1]});
    }
    const bool interleaved = node_.int_or("rotary_interleaved", 0) != 0;
    o_.q = rotated(s_, o_.q, angles[0], angles[1], 2 * cache[1], interleaved);
    o_.k = rotated(s_, o_.k, angles[0], angles[1], 2 * cache[1], interleaved);
    return !conversion_.failed();
  }

  // Key j of a sentence is the past's, then the query's; what lies behind its last one is 0.
  ValueId with_past(ValueId past, ValueId now) {
    if (before_ == kNoValue) {
      if (buffer_ <= length_) return now;
      return s_.concat({now, s_.slice(past, 2, length_, buffer_)}, 2);
    }
    const int64_t present = std::max(buffer_, keys_);
    const ValueId j = along(2, present);
    const auto whole = [](double value) { return scalar_of(ElementType::kI64, value); };
    const ValueId behind =
        s_.op("Sub", {s_.op("Add", {j, conversion_.constant("buffer", whole(double(buffer_)))}), before_});
    ValueId place = s_.op("Where", {s_.op("Less", {j, before_}), j, behind});
    place = s_.op("Min", {place, conversion_.constant("last", whole(double(buffer_ + length_ - 1)))});
    place = s_.op("Max", {place, conversion_.constant("first", whole(0))});
    const Shape all{batch_, key_heads_, present, size_};
    const ValueId x = s_.op("GatherElements",
                            {s_.concat({past, now}, 2), s_.op("Expand", {place, s_.integers(all.dims())})},
                            {{"axis", int64_t{2}}});
    const ValueId end = s_.op("Add", {before_, conversion_.constant("length", whole(double(length_)))});
    return s_.op("Where", {s_.op("Less", {j, end}), x, s_.number(s_.type(x), 0)});
  }

  bool add_past() {
    o_.k = with_past(node_.input(3), o_.k);
    o_.v = with_past(node_.input(4), o_.v);
    return !conversion_.failed();
  }

  bool read_bias() {
    const int64_t window = std::max<int64_t>(node_.int_or("local_window_size", -1), -1);
    const int64_t keys = s_.shape(o_.k)[2];
    const ElementType type = s_.type(o_.q);
    if (before_ == kNoValue) {
      o_.bias = causal_bias(s_, type, length_, keys, 0, window < 0 ? -1 : window - 1);
    } else {
      const ValueId last = s_.op("Add", {along(2, length_), before_}), j = along(3, keys);
      ValueId seen = s_.op("LessOrEqual", {j, last});
      if (window >= 0) {
        const ValueId first = s_.op("Sub", {last, s_.number(ElementType::kI64, double(window))});
        seen = s_.op("And", {seen, s_.op("Greater", {j, first})});
      }
      o_.bias = s_.op("Where",
                      {seen, s_.number(type, 0), s_.number(type, -std::numeric_limits<double>::infinity())});
    }
    if (!node_.has_input(10) || conversion_.failed()) return !conversion_.failed();
    const Shape shape = s_.shape(node_.input(10));
    if (shape.rank() != 4 || (shape[0] != batch_ && shape[0] != 1) || (shape[1] != heads_ && shape[1] != 1) ||
        shape[2] != length_ || shape[3] != keys) {
      return fail(fmt::format("adds {} to its scores", to_string(shape)),
                  fmt::format("give it {} x {} x {} x {}, where the first two can be 1", batch_, heads_,
                              length_, keys));
    }
    o_.bias = sum_of(s_, node_.input(10), o_.bias);
    return !conversion_.failed();
  }

  Node& node_;
  NodeConversion& conversion_;
  Steps s_;
  AttentionOperands o_;
  int64_t heads_, key_heads_, size_ = 0, batch_ = 0, length_ = 0;
  int64_t buffer_ = 0, keys_ = 0;  // places of the past, keys of the longest sentence with this run's
  bool is_prompt_ = true;
  ValueId before_ = kNoValue;  // keys before this run, [batch, 1, 1, 1]; absent: none
};

}  // namespace

void convert_group_query_attention(Node& node, NodeConversion& conversion) {
  GroupQuery(node, conversion).convert();
}

}  // namespace tilewright
