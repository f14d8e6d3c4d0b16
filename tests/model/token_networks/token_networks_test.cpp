// The vision transformer and the language model as files and in integers: what they are and how often they
// are right. Numbers of all samples: figure token_models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "model/own_networks/language_network.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/normalize/form_matrices.h"
#include "vit-fashion/vit_graph.h"

namespace tilewright {
namespace {

transformer::Weights constants_in(const Graph& graph) {
  transformer::Weights weights;
  for (const Value& value : graph.values)
    if (value.constant) weights.emplace(value.name, *value.constant);
  return weights;
}

struct TokenFacts {
  const char* name;
  std::filesystem::path (*file)();
  Graph (*write)(const transformer::Weights&);
  int64_t parameters, macs;
  size_t bytes;
};

void PrintTo(const TokenFacts& facts, std::ostream* out) { *out << facts.name; }

std::filesystem::path vit_file() { return fashion_file("vit"); }

const TokenFacts kTokenFacts[] = {
    {"vit", vit_file, vit::as_graph, 306634, 16370880, 1251528},
    {"byte_lm", language_file, byte_lm::as_graph, 951936, 335544320, 4165599},
};

class TokenNetworks : public ::testing::TestWithParam<TokenFacts> {};

TEST_P(TokenNetworks, TheFileIsWhatItsFormAndWeightsGive) {
  const Graph graph = read_onnx(GetParam().file());
  EXPECT_TRUE(format_onnx(GetParam().write(constants_in(graph))) == read_file(GetParam().file()));
  EXPECT_EQ(transformer::learned_numbers(graph), GetParam().parameters);
  EXPECT_EQ(statistics(graph).total.macs, GetParam().macs);
  EXPECT_EQ(std::filesystem::file_size(GetParam().file()), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(Trained, TokenNetworks, ::testing::ValuesIn(kTokenFacts),
                         [](const auto& test) { return std::string(test.param.name); });

// Sums in another order may turn an answer or two.
TEST(VisionTransformer, KeepsItsAccuracyInEightBits) {
  const FashionImages test = fashion_test_images(500);
  IntegerizeReport report;
  const Graph integer = integerize(quantized_network("vit"), &report);
  EXPECT_EQ(report.integer_mac_share(), 1);
  const AccuracyReport accuracy =
      compare_accuracy(trained_network("vit"), integer, {test.images}, test.labels, 1);
  EXPECT_NEAR(double(accuracy.float_correct), 463, 2);
  EXPECT_NEAR(double(accuracy.quantized_correct), 463, 4);
}

TEST(LanguageModel, KeepsItsBitsPerByteInEightBits) {
  const std::vector<uint8_t> text = held_out_text();
  IntegerizeReport report;
  const Graph integer = integerize(quantized_language_network({}, 8), &report);
  EXPECT_EQ(report.integer_mac_share(), 1);
  for (const IntegerizeRecord& record : report.records)
    EXPECT_EQ(record.integer_op.empty(), record.op == "Gather") << record.node << ": " << record.reason;
  const Graph matrices = form_matrices(integer);
  for (const Node& node : matrices.nodes) EXPECT_FALSE(node.is("Transpose")) << node.name;
  EXPECT_NEAR(bits_per_byte(language_network(), text, 16, 1), 1.323, 0.001);
  EXPECT_NEAR(bits_per_byte(integer, text, 16, 1), 1.333, 0.01);
}

TEST(LanguageModel, LosesLittleWithFourBitsInGroups) {
  QuantizeOptions options;
  options.weight_bits = 4;
  options.weight_group = 32;
  const Graph integer = integerize(quantized_language_network(options, 8));
  EXPECT_LT(bits_per_byte(integer, held_out_text(), 16, 1), 1.03 * 1.323);
}

// What comes later is nothing that a row of logits can know.
TEST(LanguageModel, SeesNoLaterByte) {
  const Executor executor(language_network());
  const std::vector<uint8_t> text = held_out_text();
  const Tensor bytes = byte_lm::window(text, 3);
  const Tensor logits = executor.run({bytes})[0];
  constexpr int64_t kChanged = 100;
  Tensor others = bytes;
  for (int64_t i = kChanged; i < byte_lm::kContext; ++i) others.set_integer(i, 255 - bytes.integer_at(i));
  const Tensor changed = executor.run({others})[0];
  double before = 0, behind = 0;
  for (int64_t i = 0; i < logits.size(); ++i) {
    double& largest = i < kChanged * byte_lm::kBytes ? before : behind;
    largest = std::max(largest, std::abs(logits.number_at(i) - changed.number_at(i)));
  }
  EXPECT_LT(before, 1e-3);
  EXPECT_GT(behind, 1);
}

}  // namespace
}  // namespace tilewright
