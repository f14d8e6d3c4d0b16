// Every operator once; numbers are small fractions of their index.
#include "model/recurrent/transformer_networks.h"

#include <cmath>

#include "support/frontend/model_builder_testing.h"

namespace tilewright {
namespace {

using namespace onnx_testing;

constexpr int kPlaces = 3, kPairs = 2;

std::vector<float> ramp(int64_t count, int64_t period) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(float(i * 7 % period) / float(period) - 0.5f);
  return numbers;
}

float angle(int i) { return 0.4f * float(i) + 0.1f; }

void add_attention(ModelText& model) {
  const std::string heads = int_attribute("num_heads", 2), m = "com.microsoft";
  model.node("root", "RMSNormalization", {"q", "ones"}, {"rooted"});
  model.node("turn_q", "RotaryEmbedding", {"rooted", "cos3", "sin3"}, {"tq"}, heads);
  model.node("turn_k", "RotaryEmbedding", {"k", "cos3", "sin3"}, {"tk"}, heads);
  model.node(
      "attention", "Attention", {"tq", "tk", "v"}, {"standard"},
      int_attribute("q_num_heads", 2) + int_attribute("kv_num_heads", 2) + int_attribute("is_causal", 1));
  model.node("heads", "MultiHeadAttention", {"tq", "tk", "v"}, {"fused"},
             heads + int_attribute("unidirectional", 1), m);
  model.node("groups", "GroupQueryAttention", {"rooted", "k", "v", "", "", "last", "total", "cos2", "sin2"},
             {"grouped"}, heads + int_attribute("kv_num_heads", 2) + int_attribute("do_rotary", 1), m);
  model.node("skip", "SkipLayerNormalization", {"standard", "q", "ones", "ramp"}, {"skip"}, "", m);
  model.node("bits", "MatMulNBits", {"standard", "packed", "scales"}, {"bits"},
             int_attribute("K", 8) + int_attribute("N", 4) + int_attribute("bits", 4) +
                 int_attribute("block_size", 16),
             m);
  model.node("projection", "Attention", {"q", "weights", "bias", "mask"}, {"projected"}, heads, m);
}

}  // namespace

std::vector<float> transformer_cosines() {
  std::vector<float> numbers;
  for (int i = 0; i < kPlaces * kPairs; ++i) numbers.push_back(std::cos(angle(i)));
  return numbers;
}

std::vector<float> transformer_sines() {
  std::vector<float> numbers;
  for (int i = 0; i < kPlaces * kPairs; ++i) numbers.push_back(std::sin(angle(i)));
  return numbers;
}

std::vector<std::byte> transformer_file() {
  ModelText model;
  model.opset = 23;
  for (const char* input : {"q", "k", "v"}) model.input(input, "1x3x8");
  model.initializer(floats("ones", {8}, std::vector<float>(8, 1.0f)));
  model.initializer(floats("ramp", {8}, ramp(8, 8)));
  model.initializer(floats("cos3", {1, kPlaces, kPairs}, transformer_cosines()));
  model.initializer(floats("sin3", {1, kPlaces, kPairs}, transformer_sines()));
  model.initializer(floats("cos2", {kPlaces, kPairs}, transformer_cosines()));
  model.initializer(floats("sin2", {kPlaces, kPairs}, transformer_sines()));
  model.initializer(tensor("last", 6, {1}, raw(std::vector<int32_t>{2})));
  model.initializer(tensor("total", 6, {1}, raw(std::vector<int32_t>{3})));
  model.initializer(tensor("mask", 6, {1, 3}, raw(std::vector<int32_t>{1, 1, 0})));
  std::vector<uint8_t> bytes(4 * 8);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(i * 37);
  model.initializer(tensor("packed", 2, {4, 1, 8}, raw(bytes)));
  model.initializer(floats("scales", {4}, {0.5f, 0.25f, 1, 2}));
  model.initializer(floats("weights", {8, 24}, ramp(8 * 24, 31)));
  model.initializer(floats("bias", {24}, ramp(24, 5)));
  model.initializer(tensor("integers", 3, {4, 4}, raw(std::vector<int8_t>(16, 3))));
  model.initializer(floats("blockwise", {2, 4}, ramp(8, 9)));
  model.initializer(tensor("ids", 6, {1, 3}, raw(std::vector<int32_t>{2, 0, 1})));
  model.initializer(floats("table", {4, 8}, ramp(32, 13)));
  add_attention(model);
  model.node("blocks", "DequantizeLinear", {"integers", "blockwise"}, {"blocks"},
             int_attribute("axis", 0) + int_attribute("block_size", 2));
  model.node("words", "EmbedLayerNormalization", {"ids", "", "table", "table", "", "ones", "ramp"}, {"words"},
             "", "com.microsoft");
  for (const char* output : {"standard", "fused", "grouped", "skip", "bits", "projected", "blocks", "words"})
    model.output(output);
  return model.build();
}

}  // namespace tilewright
