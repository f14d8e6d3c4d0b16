// The trainers' networks: gradients against finite differences of losses, and the graphs that are written of
// them against what is trained.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "byte-lm/language_model.h"
#include "tilewright/host/executor.h"
#include "vit-fashion/vit.h"

namespace {

using transformer::Form;
using transformer::Parameter;
using transformer::Parameters;

// Along its own gradient, a loss changes by the gradient's length.
template <typename Loss>
void expect_gradients(Parameters& parameters, tilewright::Random& random, const Loss& loss_and_gradients) {
  for (Parameter& p : parameters.all())
    for (float& v : p.value) v += float(0.2 * random.uniform() - 0.1);
  parameters.clear_gradients();
  loss_and_gradients();
  std::vector<std::vector<float>> gradients;
  for (const Parameter& p : parameters.all()) gradients.push_back(p.gradient);
  for (size_t i = 0; i < gradients.size(); ++i) {
    Parameter& p = parameters.all()[i];
    double length = 0;
    for (const float g : gradients[i]) length += double(g) * double(g);
    length = std::sqrt(length);
    constexpr double kStep = 0.01;
    const std::vector<float> value = p.value;
    double losses[2];
    for (const int side : {0, 1}) {
      for (size_t j = 0; j < value.size(); ++j)
        p.value[j] =
            value[j] + float((side == 0 ? kStep : -kStep) * double(gradients[i][j]) / std::max(length, 1e-5));
      losses[side] = loss_and_gradients();
    }
    p.value = value;
    // Softmax doesn't see the keys' bias: a gradient of 0.
    EXPECT_NEAR((losses[0] - losses[1]) / (2 * kStep), length, 0.01 * length + 2e-4) << p.name;
  }
}

TEST(TransformerTraining, GradientsOfTheVisionTransformer) {
  tilewright::Random random(3);
  const Form form{vit::kTokens, 32, 2, 2, 2, 48, false};
  vit::Vit network(form, 3, random);
  std::vector<float> images(3 * vit::kSide * vit::kSide);
  for (float& pixel : images) pixel = float(random.uniform());
  const uint8_t labels[] = {1, 4, 9};
  expect_gradients(network.parameters, random, [&] {
    network.forward(images.data());
    return network.backward(labels, 0.1f);
  });
}

// 80 tokens: more than one block of rows under the causal mask.
TEST(TransformerTraining, GradientsOfTheLanguageModel) {
  tilewright::Random random(4);
  const Form form{80, 32, 2, 4, 2, 48, true};
  byte_lm::LanguageModel network(form, 2, random);
  std::vector<uint8_t> bytes(160), following(160);
  for (std::vector<uint8_t>* some : {&bytes, &following})
    for (uint8_t& byte : *some) byte = uint8_t(random.between(0, 255));
  expect_gradients(network.parameters, random, [&] {
    network.forward(bytes);
    return network.backward(following);
  });
}

double largest_difference(std::span<const float> expected, const tilewright::Tensor& computed) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    largest = std::max(largest, std::abs(double(expected[i]) - computed.number_at(int64_t(i))));
  return largest;
}

TEST(TransformerTraining, TheGraphOfTheVisionTransformerComputesWhatWasTrained) {
  tilewright::Random random(5);
  vit::Vit network(vit::form(), 1, random);
  std::vector<float> image(vit::kSide * vit::kSide);
  for (float& pixel : image) pixel = float(random.uniform());
  const tilewright::Tensor input({1, 1, vit::kSide, vit::kSide}, std::span<const float>(image));
  const tilewright::Tensor scores = run(vit::as_graph(network.weights()), {input})[0];
  EXPECT_LT(largest_difference(network.forward(image.data()), scores), 1e-4);
}

TEST(TransformerTraining, TheGraphOfTheLanguageModelComputesWhatWasTrained) {
  tilewright::Random random(6);
  byte_lm::LanguageModel network(byte_lm::form(), 1, random);
  std::vector<uint8_t> bytes(byte_lm::kContext + 1);
  for (uint8_t& byte : bytes) byte = uint8_t(random.between(0, 255));
  const transformer::Weights weights =
      transformer::with_scaled_queries(byte_lm::form(), network.parameters.weights());
  const tilewright::Tensor logits = run(byte_lm::as_graph(weights), {byte_lm::window(bytes, 0)})[0];
  EXPECT_LT(largest_difference(network.forward(std::span(bytes).first(byte_lm::kContext)), logits), 1e-4);
}

}  // namespace
