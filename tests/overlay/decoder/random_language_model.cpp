#include "random_language_model.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "transformer/graph.h"

namespace tilewright {
namespace {

class RandomWeights {
 public:
  explicit RandomWeights(Random& random) : random_(random) {}

  void add(const std::string& name, Shape shape, double deviation, double mean = 0) {
    std::vector<float> values(size_t(shape.element_count()));
    for (float& value : values)
      value = float(mean + deviation * (2 * random_.uniform() - 1) * std::sqrt(3.0));
    weights.emplace(name, Tensor(shape, std::span<const float>(values)));
  }
  void add_dense(const std::string& name, int64_t in, int64_t out) {
    add(name + ".weight", {in, out}, 1.5 / std::sqrt(double(in)));
  }

  transformer::Weights weights;

 private:
  Random& random_;
};

transformer::Weights weights_of(const transformer::Form& form, int64_t vocabulary, Random& random) {
  RandomWeights r(random);
  r.add("embedding", {vocabulary, form.width}, 1);
  for (int64_t i = 1; i <= form.depth; ++i) {
    const std::string attention = fmt::format("block{}.attention", i),
                      dense = fmt::format("block{}.dense", i);
    r.add(attention + ".norm.scale", {form.width}, 0.2, 1);
    r.add_dense(attention + ".query", form.width, form.width);
    r.add_dense(attention + ".key", form.width, form.key_width());
    r.add_dense(attention + ".value", form.width, form.key_width());
    r.add_dense(attention + ".output", form.width, form.width);
    r.add(dense + ".norm.scale", {form.width}, 0.2, 1);
    r.add_dense(dense + ".up", form.width, form.hidden);
    r.add_dense(dense + ".gate", form.width, form.hidden);
    r.add_dense(dense + ".down", form.hidden, form.width);
  }
  r.add("norm.scale", {form.width}, 0.2, 1);
  r.add_dense("logits", form.width, vocabulary);
  return r.weights;
}

}  // namespace

RandomLanguageModel random_language_model(Random& random, int64_t most_tokens, int64_t block) {
  RandomLanguageModel model;
  transformer::Form& form = model.form;
  form.language = true;
  form.tokens = random.between(2, most_tokens);
  form.key_heads = random.between(1, 2);
  form.heads = form.key_heads * random.between(1, 3);
  form.width = form.heads * block * random.between(1, 2);
  form.depth = random.between(1, 2);
  form.hidden = random.between(3, 70);
  model.vocabulary = random.between(2, 60);
  const transformer::Weights weights = weights_of(form, model.vocabulary, random);
  transformer::GraphWriter writer("random", weights);
  const ValueId tokens = writer.graph.add_input("tokens", ElementType::kI64, {1, form.tokens});
  const ValueId rows = writer.node("embedded", "Gather", {writer.weight("embedding"), tokens},
                                   {1, form.tokens, form.width}, {{"axis", int64_t{0}}});
  writer.graph.outputs = {writer.dense("logits", writer.trunk(form, rows))};
  std::vector<int64_t> numbers(size_t(4 * form.tokens));
  for (int64_t& number : numbers) number = random.between(0, model.vocabulary - 1);
  QuantizeOptions options;
  options.calibration = CalibrationMethod::kMinMax;
  options.reconstruct = options.correct_bias = false;
  options.symmetric_activations = random.chance(0.3);
  const Tensor samples({4, form.tokens}, std::span<const int64_t>(numbers));
  model.window = integerize(quantize(optimize(std::move(writer.graph)), {samples}, options));
  return model;
}

std::string to_string(const RandomLanguageModel& model) {
  const transformer::Form& form = model.form;
  return fmt::format("{} tokens of {}, {} heads on {} of {}, hidden {}, {} blocks", form.tokens,
                     model.vocabulary, form.heads, form.key_heads, form.head(), form.hidden, form.depth);
}

}  // namespace tilewright
