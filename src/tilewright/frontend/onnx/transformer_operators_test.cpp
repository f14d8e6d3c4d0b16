// Operators of transformers that do not fit their inputs: what is reported, with node, operator and way out;
// and the form that those that fit become. What they compute: tests/python/test_transformer_*.py.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/error_text_testing.h"
#include "support/frontend/model_builder_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

using namespace onnx_testing;

const std::string kMicrosoft = "com.microsoft";

// One node "n" of opset 23. An input is its dimensions, "dims:type" for other types than f32 (1), "-" where
// the node leaves it out, and an initializer of zeros if "=" stands before it.
struct Case {
  std::string op, domain;
  std::vector<std::string> inputs;
  std::string attributes;
  std::string message;  // what follows "node 'n' (OP): "
  size_t outputs = 1;

  std::vector<std::byte> build() const {
    ModelText model;
    model.opset = 23;
    std::vector<std::string> names, results;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::string text = inputs[i];
      names.push_back(text == "-" ? "" : "x" + std::to_string(i));
      if (text == "-") continue;
      const bool is_constant = text[0] == '=';
      if (is_constant) text.erase(0, 1);
      const size_t colon = text.find(':');
      const int type = colon == std::string::npos ? 1 : std::stoi(text.substr(colon + 1));
      text = text.substr(0, colon);
      if (is_constant)
        model.initializer(zeros(names[i], type, text));
      else
        model.input(names[i], text, type);
    }
    for (size_t i = 0; i < outputs; ++i) {
      results.push_back("y" + std::to_string(i));
      model.output(results.back());
    }
    return model.node("n", op, names, results, attributes, domain).build();
  }

  static std::string zeros(const std::string& name, int type, const std::string& dims) {
    std::vector<int64_t> sizes;
    int64_t count = type == 7 ? 8 : type == 1 || type == 6 ? 4 : 1;  // bytes
    for (size_t at = 0; at < dims.size(); at = std::min(dims.find('x', at), dims.size() - 1) + 1) {
      sizes.push_back(std::stoll(dims.substr(at)));
      count *= sizes.back();
    }
    return tensor(name, type, sizes, std::string(size_t(count), '\0'));
  }
};

void expect_errors(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string found = error_text([&] { parse_onnx(c.build()); });
    EXPECT_EQ(found, "node 'n' (" + c.op + "): " + c.message);
  }
}

std::vector<std::string> ops_of(const Case& c) {
  std::vector<std::string> result;
  for (const Node& node : parse_onnx(c.build()).nodes) result.push_back(node.op);
  return result;
}
using Ops = std::vector<std::string>;

std::string heads(int64_t q, int64_t k) {
  return int_attribute("q_num_heads", q) + int_attribute("kv_num_heads", k);
}

TEST(TransformerOperators, AttentionThatDoesNotFit) {
  const std::string axes =
      "; give query, key and value as 3 axes (batch, length, heads * size) or as 4 (batch, heads, length, "
      "size)";
  const std::vector<std::string> good = {"1x2x3x4", "1x2x5x4", "1x2x5x6"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), good.begin(), good.end());
    return more;
  };
  expect_errors({
      {"Attention", "", {"1x2x3x4"}, "", "has no key or no value; give it both"},
      {"Attention", "", {"1x3x4", "1x3x4", "1x2x3x4"}, "", "its query is 1x3x4, its input 2 1x2x3x4" + axes},
      {"Attention", "", {"3x4", "3x4", "3x4"}, "", "its query is 3x4, its input 0 3x4" + axes},
      {"Attention",
       "",
       {"1x3x4", "1x3x4", "1x3x4"},
       "",
       "q_num_heads = 0 does not divide the 4 numbers of its input 0; state q_num_heads and kv_num_heads for "
       "inputs of 3 axes"},
      {"Attention",
       "",
       {"1x3x4", "1x3x4", "1x3x4"},
       heads(2, 3),
       "kv_num_heads = 3 does not divide the 4 numbers of its input 1; state q_num_heads and kv_num_heads "
       "for "
       "inputs of 3 axes"},
      {"Attention", "", good, heads(4, 2),
       "its input 0 has 2 heads, q_num_heads says 4; with 4 axes leave the attribute out"},
      {"Attention",
       "",
       {"1x2x3x4", "1x2x5x3", "1x2x5x6"},
       "",
       "its query 1x2x3x4, key 1x2x5x3 and value 1x2x5x6 (batch, heads, length, size) do not fit; all need "
       "one "
       "batch, query and key one size, key and value one length and number of heads"},
      {"Attention",
       "",
       {"1x3x3x4", "1x2x5x4", "1x2x5x6"},
       "",
       "2 heads of keys do not divide 3 heads of queries; give it a multiple of kv_num_heads as q_num_heads"},
      {"Attention", "", with({"-", "1x2x1x4"}), "",
       "has only one of past_key and past_value; give it both or neither"},
      {"Attention", "", with({"-", "1x2x1x4", "1x2x1x4"}), "",
       "its past_value is 1x2x1x4; give it 1 x 2 x length x 6"},
      {"Attention", "", with({"3x4"}), "",
       "its mask 3x4 does not broadcast to the 1x2x3x5 scores; give it batch x heads x queries x keys, with "
       "past keys, or 1 where all are equal"},
      {"Attention", "", good, int_attribute("qk_matmul_output_mode", 4),
       "attribute 'qk_matmul_output_mode' is 4, not 0 to 3"},
      {"Attention", "", good, int_attribute("softmax_precision", 7),
       "attribute 'softmax_precision' is INT64; give it a type of real numbers, or leave it out"},
  });
}

TEST(TransformerOperators, RotaryEmbeddingThatDoesNotFit) {
  const std::string caches = "; give it the cosines and sines of all angles, as the exporter computes them";
  const std::string even = "; rotary_embedding_dim has to be even and no larger than a head";
  const std::string angle = ": an angle for every pair of turned numbers";
  expect_errors({
      {"RotaryEmbedding", "", {"1x2x3x4"}, "", "has no cos_cache" + caches},
      {"RotaryEmbedding", "", {"1x2x3x4", "1x3x2"}, "", "has no sin_cache" + caches},
      {"RotaryEmbedding",
       "",
       {"3x4", "1x3x2", "1x3x2"},
       "",
       "its input is 3x4; give it batch x length x (heads * size) or batch x heads x length x size"},
      {"RotaryEmbedding",
       "",
       {"1x3x8", "1x3x2", "1x3x2"},
       "",
       "num_heads = 0 does not divide the 8 numbers of its input; state num_heads for an input of 3 axes"},
      {"RotaryEmbedding",
       "",
       {"1x3x8", "1x3x2", "1x3x2"},
       int_attribute("num_heads", 3),
       "num_heads = 3 does not divide the 8 numbers of its input; state num_heads for an input of 3 axes"},
      {"RotaryEmbedding", "", {"1x2x3x5", "1x3x2", "1x3x2"}, "", "turns 5 numbers of heads of 5" + even},
      {"RotaryEmbedding",
       "",
       {"1x2x3x4", "1x3x3", "1x3x3"},
       int_attribute("rotary_embedding_dim", 6),
       "turns 6 numbers of heads of 4" + even},
      {"RotaryEmbedding",
       "",
       {"1x2x3x4", "3x2", "3x2"},
       "",
       "its cos_cache is 3x2; give it 1 x 3 x 2" + angle},
      {"RotaryEmbedding",
       "",
       {"1x2x3x4", "9x2", "9x3", "1x3:7"},
       "",
       "its sin_cache is 9x3; give it positions x 2" + angle},
      {"RotaryEmbedding",
       "",
       {"1x2x3x4", "9x2", "9x2", "3:7"},
       "",
       "its position_ids are 3; give it 1 x 3, or caches of 3 axes without positions"},
      {"RotaryEmbedding", kMicrosoft, {"1x2x3x4", "1x3:7", "9x2"}, "", "has no sin_cache" + caches},
      {"RotaryEmbedding", kMicrosoft, {"1x2x3x4", "-", "9x2", "9x2"}, "", "has no position_ids"},
      {"RotaryEmbedding",
       kMicrosoft,
       {"1x2x3x4", "3:7", "9x2", "9x2"},
       "",
       "its position_ids are 3; give it 1 x 3, or the first position alone"},
      {"RotaryEmbedding",
       kMicrosoft,
       {"1x2x3x4", "1x3:7", "9x2", "9x2"},
       float_attribute("scale", 2),
       "has is_packed_batching or a scale; export the model without them"},
  });
}

TEST(TransformerOperators, NormalisationsThatDoNotFit) {
  const std::string row = "give it 4 numbers, one for each along the last axis of its input";
  expect_errors({
      {"RMSNormalization", "", {"2x3x4"}, "", "has no scale"},
      {"RMSNormalization",
       "",
       {"2x3x4", "3"},
       "",
       "its scale 3 does not broadcast to its input 2x3x4; give it a scale of the normalised axes"},
      {"SkipLayerNormalization", kMicrosoft, {"2x3x4"}, "", "has no skip"},
      {"SkipLayerNormalization",
       kMicrosoft,
       {"2x3x4", "2x4", "4"},
       "",
       "adds 2x4 to 2x3x4; both need the same length and width, and one batch or the same"},
      {"SkipLayerNormalization", kMicrosoft, {"2x3x4", "3x4", "3"}, "", "its gamma is 3; " + row},
      {"SkipLayerNormalization", kMicrosoft, {"2x3x4", "3x4", "4", "3"}, "", "its beta is 3; " + row},
      {"SkipLayerNormalization",
       kMicrosoft,
       {"2x3x4", "3x4", "4", "4", "1x4"},
       "",
       "its bias is 1x4; " + row},
      {"SkipSimplifiedLayerNormalization",
       kMicrosoft,
       {"2x3x4", "3x4", "4"},
       "",
       "gives a mean, which it does not compute",
       2},
      {"EmbedLayerNormalization", kMicrosoft, {"1x3:6", "-", "9x4"}, "", "has no position_embedding"},
      {"EmbedLayerNormalization",
       kMicrosoft,
       {"1x3:6", "-", "9x4", "4", "-", "4", "4"},
       "",
       "its position_embedding is 4; give it a table of rows"},
      {"EmbedLayerNormalization",
       kMicrosoft,
       {"1x3:6", "1x3:6", "9x4", "5x4", "-", "4", "4"},
       "",
       "has only one of segment_ids and segment_embedding; give it words as batch x length, and segments "
       "with "
       "their table or neither"},
      {"EmbedLayerNormalization",
       kMicrosoft,
       {"1x7:6", "-", "9x4", "5x4", "-", "4", "4"},
       "",
       "has 5 positions for 7 words; give it shorter sentences"},
  });
}

TEST(TransformerOperators, AttentionOfOnnxRuntimeThatDoesNotFit) {
  const std::string two = int_attribute("num_heads", 2);
  const std::string divide = "; num_heads has to divide the width of queries, keys and values";
  expect_errors({
      {"Attention", kMicrosoft, {"1x3x4", "4x12"}, "", "attribute 'num_heads' is 0; give it at least 1"},
      {"Attention",
       kMicrosoft,
       {"1x3x4", "4x12"},
       two + int_attribute("do_rotary", 1),
       "turns its queries (do_rotary) or shares a buffer for past keys; export the model with "
       "RotaryEmbedding "
       "and without shared buffers"},
      {"Attention",
       kMicrosoft,
       {"1x3x4", "4x10"},
       two,
       "its weights 4x10 do not fit its input 1x3x4; give it batch x length x width and weights of width x "
       "(queries, keys, values)"},
      {"Attention",
       kMicrosoft,
       {"1x3x4", "4x9"},
       two,
       "2 heads do not divide the 3 numbers of its queries" + divide},
      {"Attention",
       kMicrosoft,
       {"1x3x4", "4x12", "12", "-", "1x2x1x2"},
       two,
       "its past is 1x2x1x2; give it 2 (keys, values) x batch x heads x length x size"},
      {"Attention",
       kMicrosoft,
       {"1x3x4", "4x12", "12", "-", "2x1x2x1x3"},
       two,
       "its past is 1x2x1x3; give it 1 x 2 x length x 2 for keys and for values"},
      {"Attention",
       kMicrosoft,
       {"1x3x4", "4x12", "12", "1x4:6"},
       two,
       "its mask is 1x4; give it 1 lengths, 1 x 3 keys or 1 x 3 x 3 scores"},
      {"Attention",
       kMicrosoft,
       {"1x3x4", "4x12", "12", "-", "-", "1x2x3x4"},
       two,
       "adds 1x2x3x4 to its scores; give it 1 x 2 x 3 x 3, where the first two can be 1"},
  });
}

TEST(TransformerOperators, MultiHeadAttentionThatDoesNotFit) {
  const std::string two = int_attribute("num_heads", 2);
  const std::string forms =
      "; give it query, key and value of batch x length x width, or packed as batch x length x heads x 3 (2 "
      "for "
      "keys and values) x size";
  const std::string divide = "; num_heads has to divide the width of queries, keys and values";
  expect_errors({
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x5x4", "1x5x4"},
       "",
       "attribute 'num_heads' is 0; give it at least 1"},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x5x4"},
       two,
       "its query is 1x3x4, its key 1x5x4" + forms},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x3x3x4"},
       two,
       "its query is 1x3x3x3x4, its key absent" + forms},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x5x6", "1x5x4"},
       two,
       "its query 1x2x3x2, key 1x2x5x3 and value 1x2x5x2 (batch, heads, length, size) do not fit" + forms},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x5x3", "1x5x4"},
       two,
       "2 heads do not divide the 3 numbers of its key" + divide},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x3x5x2", "1x3x5x2"},
       two,
       "its key is 1x3x5x2; keys and values by heads are batch x heads x length x size, without bias and "
       "past"},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x5x4", "1x5x4", "8"},
       two,
       "its bias is 8; give it one number for each of query, key and value, one after another"},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x5x4", "1x5x4", "-", "-", "-", "1x2x1x2"},
       two,
       "has only one of past_key and past_value; give it both or neither"},
      {"MultiHeadAttention",
       kMicrosoft,
       {"1x3x4", "1x5x4", "1x5x4", "-", "-", "-", "1x2x1x2", "1x2x1x2", "1:6"},
       two,
       "keeps past keys in a buffer that is shared; export it with past_key and past_value of their own "
       "length"},
  });
}

TEST(TransformerOperators, GroupQueryAttentionThatDoesNotFit) {
  const std::string attributes = int_attribute("num_heads", 4) + int_attribute("kv_num_heads", 2);
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"1x3x8", "1x3x4", "1x3x4"});
    return more;
  };
  const auto wrong = [&](const std::vector<std::string>& inputs, const std::string& more,
                         const std::string& message, size_t outputs = 1) {
    return Case{"GroupQueryAttention", kMicrosoft, inputs, attributes + more, message, outputs};
  };
  const std::string total = "=1:6";  // 0 keys: fewer than the query's
  expect_errors({
      wrong(with({}), int_attribute("smooth_softmax", 1),
            "adds a sink to its softmax; export the model without it"),
      wrong(with({"-", "-", "1:6", total, "-", "-", "-", "-", "-", "1"}), "",
            "keeps quantised keys; export the model without it"),
      wrong(with({}), "", "gives its scores; export the model without it", 4),
      {"GroupQueryAttention", kMicrosoft, with({}),
       int_attribute("num_heads", 3) + int_attribute("kv_num_heads", 2),
       "2 heads of keys do not divide 3 heads of queries; give it a multiple of kv_num_heads as num_heads"},
      wrong({"1x3x8", "1x3x4"}, "",
            "its query is 1x3x8, with a key and no value; give it all three as batch x length x width, or "
            "all in "
            "the query"),
      wrong({"1x3x8", "1x3x6", "1x3x4"}, "",
            "its query 1x3x8 is not 4 heads, or its key and value are not 1x3x4; num_heads and kv_num_heads "
            "have "
            "to divide the widths"),
      wrong(with({"1x2x5x3", "1x2x5x2"}), "", "its past is 1x2x5x3; give it 1 x 2 x length x 2"),
      wrong(with({"1x2x5x2"}), "", "has only one of past_key and past_value; give it both or neither"),
      wrong(with({"1x2x5x2", "1x2x5x2", "1:6", "1:6"}), "",
            "has past keys, but its total_sequence_length is not known; make it an initializer, or the size "
            "of an "
            "input that has one"),
      wrong(with({"1x2x5x2", "1x2x5x2", "1:6", total}), "",
            "has 0 keys of 5 in its past and 3 in its query; total_sequence_length counts the past and the "
            "query"),
      wrong(with({}), int_attribute("do_rotary", 1),
            "turns its queries without cos_cache and sin_cache; give it both, or do_rotary = 0"),
      wrong(with({"-", "-", "-", "-", "9x2", "9x2"}), int_attribute("do_rotary", 1),
            "its cos_cache is 9x2; both caches are positions x half of what is turned of the 2 numbers of a "
            "head"),
      wrong(with({"-", "-", "-", "-", "9x1", "9x1", "3:7"}), int_attribute("do_rotary", 1),
            "its position_ids are 3; give it 1 x 3"),
      wrong(with({"-", "-", "-", "-", "-", "-", "-", "1x4x3x4"}), "",
            "adds 1x4x3x4 to its scores; give it 1 x 4 x 3 x 3, where the first two can be 1"),
  });
}

std::string few_bits(int64_t k, int64_t n, int64_t bits, int64_t block) {
  return int_attribute("K", k) + int_attribute("N", n) + int_attribute("bits", bits) +
         int_attribute("block_size", block);
}

TEST(TransformerOperators, MatMulOfFewBitsThatDoesNotFit) {
  const auto wrong = [](std::vector<std::string> inputs, const std::string& attributes,
                        const std::string& message) {
    inputs.insert(inputs.begin(), "2x40");
    return Case{"MatMulNBits", kMicrosoft, inputs, attributes, message};
  };
  const std::string good = few_bits(40, 3, 4, 32);
  const std::string w = "=3x2x16:2", s = "=6";
  expect_errors({
      wrong({w, s, "-", "40:6"}, good,
            "takes its weights in an order of their own (g_idx); quantise the model without reordering (act "
            "order)"),
      wrong({w, s}, few_bits(40, 3, 3, 32), "has weights of 3 bits; quantise the model to 2, 4 or 8"),
      wrong({w, s}, few_bits(40, 3, 4, 8),
            "attribute 'block_size' is 8; it has to be a power of two, from 16 on"),
      wrong({w, s}, few_bits(40, 3, 4, 48),
            "attribute 'block_size' is 48; it has to be a power of two, from 16 on"),
      wrong({w, s}, few_bits(0, 3, 4, 32),
            "attributes 'K' and 'N' are 0 and 3; they are the sizes of the weights"),
      wrong({"3x2x16:2", s}, good, "its weights are not constant; keep them as initializers"),
      wrong({w}, good, "has no scales; quantise the model again"),
      wrong({"=3x2x8:2", s}, good,
            "its weights are u8[3x2x8]; 40 x 3 weights of 4 bits in blocks of 32 are u8[3x2x16]"),
      wrong({w, "=5"}, good, "its scales are f32[5]; give it 2 for each of 3 columns"),
      wrong({w, s, "=6:2"}, good,
            "its zero points are u8[6]; give it 3 bytes of packed integers, or 6 real numbers"),
      wrong({w, s, "-", "-", "4"}, good, "its bias is 4; give it 3 numbers"),
      {"MatMulNBits",
       kMicrosoft,
       {"2x30", w, s},
       good,
       "its input is 2x30; its last axis has to be 40 (attribute 'K')"},
  });
}

TEST(TransformerOperators, QuantisersAndProducts) {
  const auto number = int_attribute;
  expect_errors({
      {"QuantizeLinear",
       "",
       {"4x6", "=1"},
       number("precision", 10),
       "divides in FLOAT16; give its scale that type, or leave out the attribute 'precision'"},
      {"DequantizeLinear",
       "",
       {"4x6:3", "=1"},
       number("output_dtype", 7),
       "dequantises to INT64; let it give f32 or half precision"},
      {"DequantizeLinear",
       "",
       {"4x6:3", "4x2"},
       number("block_size", 4) + number("axis", 0),
       "its scales 4x2 do not fit blocks of 4 of 4x6 along axis 0; give it a scale and a zero point for "
       "every "
       "block"},
      {"FusedMatMul", kMicrosoft, {"4x6"}, "", "has no second factor"},
      {"Gemm",
       "",
       {"2x3x4", "4x5"},
       "",
       "its first factor is 2x3x4; a Gemm takes matrices: MatMul and Add take more axes, or a Reshape before "
       "it "
       "fewer"},
  });
  EXPECT_EQ(ops_of({"QuantizeLinear", "", {"4x6", "=1"}, number("precision", 1), ""}), Ops{"QuantizeLinear"});
  EXPECT_EQ(ops_of({"DequantizeLinear", "", {"4x6:3", "=1"}, number("output_dtype", 1), ""}),
            Ops{"DequantizeLinear"});
  EXPECT_EQ(ops_of({"DequantizeLinear", "", {"4x6:3", "=1"}, number("output_dtype", 10), ""}),
            (Ops{"DequantizeLinear", "Cast", "Identity"}));
}

// Heads that share keys are rows of one product.
TEST(TransformerOperators, KeysOfGroupsAreNotRepeated) {
  const Ops found = ops_of({"Attention", "", {"1x4x3x8", "1x2x5x8", "1x2x5x8"}, "", ""});
  EXPECT_EQ(found, (Ops{"Mul", "Reshape", "Transpose", "MatMul", "Reshape", "Softmax", "Reshape", "MatMul",
                        "Reshape", "Identity"}));
  // The newest query sees all keys.
  EXPECT_EQ(ops_of({"Attention",
                    "",
                    {"1x4x1x8", "1x4x1x8", "1x4x1x8", "-", "1x4x2x8", "1x4x2x8"},
                    int_attribute("is_causal", 1),
                    ""}),
            (Ops{"Concat", "Concat", "Mul", "Transpose", "MatMul", "Softmax", "MatMul", "Identity"}));
}

TEST(TransformerOperators, WeightsOfOneBlockStayIntegers) {
  const Graph graph = parse_onnx(
      Case{"MatMulNBits", kMicrosoft, {"2x30", "=3x1x16:2", "=3"}, few_bits(30, 3, 4, 32), ""}.build());
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].op, "DequantizeLinear");
  const Value& weights = graph.value(graph.nodes[0].inputs[0]);
  EXPECT_EQ(to_string(weights.type, weights.shape), "u8[30x3]");
  EXPECT_EQ(ops_of({"MatMulNBits", kMicrosoft, {"2x40", "=3x2x16:2", "=6"}, few_bits(40, 3, 4, 32), ""}),
            (Ops{"MatMul", "Identity"}));
}

TEST(TransformerOperators, ScoresThatAreTooManyAreRefused) {
  expect_errors({{"Attention",
                  "",
                  {"1x1x16384x2", "1x1x16384x2", "1x1x16384x2"},
                  int_attribute("is_causal", 1),
                  "hides later keys in 16384 x 16384 scores; give it at most 2^26 scores"}});
}

}  // namespace
}  // namespace tilewright
