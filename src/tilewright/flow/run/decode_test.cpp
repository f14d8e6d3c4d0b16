// Choosing tokens against shares computed plainly, and small random language models of one attention, decoded
// on the host and on the overlay as placed, against the rows of their windows.
#include "tilewright/flow/run/decode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "support/random_seed_testing.h"
#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/search/deadline.h"
#include "tilewright/transform/pipeline.h"
#include "tilewright/transform/token_step.h"

namespace tilewright {
namespace {

// Few different ones, so that many are equal.
std::vector<float> random_logits(Random& random, int64_t count) {
  std::vector<float> logits(static_cast<size_t>(count));
  for (float& logit : logits) logit = float(random.between(-6, 6)) / 2;
  return logits;
}

int64_t first_largest(const std::vector<float>& logits) {
  int64_t best = 0;
  for (size_t i = 1; i < logits.size(); ++i)
    if (logits[i] > logits[size_t(best)]) best = int64_t(i);
  return best;
}

// How many tokens come before `token` in the order of their logits, equal ones by number.
int64_t rank_of(const std::vector<float>& logits, size_t token) {
  int64_t before = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    before += logits[i] > logits[token] || (logits[i] == logits[token] && i < token);
  return before;
}

TEST(ChooseToken, TakesTheFirstOfTheLikeliest) {
  Random random(test_seed());
  for (int i = 0; i < 200; ++i) {
    const std::vector<float> logits = random_logits(random, random.between(1, 40));
    const int64_t expected = first_largest(logits);
    EXPECT_EQ(choose_token(logits, 0, 0, random), expected);
    EXPECT_EQ(choose_token(logits, 0, random.between(1, 50), random), expected);
    EXPECT_EQ(choose_token(logits, 0.1 + random.uniform() * 5, 1, random), expected);
  }
}

TEST(ChooseToken, DrawsByShareAmongTheLikeliest) {
  Random random(test_seed());
  constexpr int kDraws = 20000;
  for (int i = 0; i < 8; ++i) {
    const int64_t count = random.between(2, 12), top = random.between(0, count + 2);
    const std::vector<float> logits = random_logits(random, count);
    const double temperature = 0.3 + random.uniform() * 2;
    SCOPED_TRACE(
        fmt::format("seed {}, case {}: {} tokens, top {}, {}", test_seed(), i, count, top, temperature));
    std::vector<double> shares(logits.size());
    double sum = 0;
    for (size_t t = 0; t < logits.size(); ++t) {
      if (top == 0 || rank_of(logits, t) < top) shares[t] = std::exp(double(logits[t]) / temperature);
      sum += shares[t];
    }
    std::vector<int> drawn(logits.size());
    const uint64_t seed = random.next();
    Random a(seed), b(seed);
    for (int d = 0; d < kDraws; ++d) {
      const int64_t token = choose_token(logits, temperature, top, a);
      ASSERT_EQ(token, choose_token(logits, temperature, top, b));
      ++drawn.at(size_t(token));
    }
    for (size_t t = 0; t < logits.size(); ++t) {
      const double share = shares[t] / sum;
      EXPECT_NEAR(drawn[t], kDraws * share, 6 * std::sqrt(kDraws * share * (1 - share)) + 1e-9) << t;
    }
  }
}

// Tokens that look at those before them, once: one head, which holds all numbers of a token.
struct SmallLanguageModel {
  int64_t tokens, vocabulary, width;
  Graph window;  // integers

  explicit SmallLanguageModel(Random& random)
      : tokens(random.between(2, 12)), vocabulary(random.between(2, 40)), width(16 * random.between(1, 2)) {
    FloatGraph model;
    model.random = Random(random.next());
    const ValueId text = model.graph.add_input("tokens", ElementType::kI64, {1, tokens});
    const auto constant = [&](const char* name, Shape shape, double range) {
      return model.graph.add_constant(name, model.numbers(std::move(shape), -range, range));
    };
    Tensor later(ElementType::kF32, {tokens, tokens});
    for (int64_t i = 0; i < tokens; ++i)
      for (int64_t j = i + 1; j < tokens; ++j) later.mutable_data<float>()[size_t(i * tokens + j)] = -30;
    const ValueId mask = model.graph.add_constant("later", later);
    const Shape rows{1, tokens, width}, square{1, tokens, tokens};
    const auto named = [&](const char* name, const char* op, std::vector<ValueId> inputs, Shape shape,
                           Attributes attributes = {}) {
      const ValueId out = model.graph.add_value(name, ElementType::kF32, std::move(shape));
      model.graph.add_node(name, op, std::move(inputs), {out}).attributes = std::move(attributes);
      return out;
    };
    const auto dense = [&](const char* name, ValueId x, int64_t out) {
      const std::string weights = std::string(name) + ".weight";
      return named(name, "MatMul", {x, constant(weights.c_str(), {width, out}, 2 / std::sqrt(double(width)))},
                   {1, tokens, out});
    };
    const ValueId x = named("embedded", "Gather", {constant("table", {vocabulary, width}, 1), text}, rows,
                            {{"axis", int64_t{0}}});
    const ValueId keys = named("turned", "Transpose", {dense("key", x, width)}, {1, width, tokens},
                               {{"perm", std::vector<int64_t>{0, 2, 1}}});
    const ValueId scores = named("scores", "MatMul", {dense("query", x, width), keys}, square);
    const ValueId shares = named("shares", "Softmax", {named("masked", "Add", {scores, mask}, square)},
                                 square, {{"axis", int64_t{-1}}});
    const ValueId mixed = named("mixed", "MatMul", {shares, dense("value", x, width)}, rows);
    model.graph.outputs = {dense("logits", named("sum", "Add", {x, mixed}, rows), vocabulary)};
    Tensor samples(ElementType::kI64, {8, tokens});
    for (int64_t i = 0; i < samples.size(); ++i) samples.set_integer(i, random.between(0, vocabulary - 1));
    QuantizeOptions options;
    options.calibration = CalibrationMethod::kMinMax;
    options.reconstruct = false;
    window = integerize(quantize(optimize(std::move(model.graph)), {samples}, options));
  }

  // `host`: what nodes cost there; on a slow one all that can is placed on the overlay.
  Bundle bundle(const HostModel& host = {}) const {
    const OverlayHardware hardware =
        find_overlay_hardware("overlay-16x16", TILEWRIGHT_SOURCE_DIR "/hardware");
    Bundle bundle = compile(form_token_step(window), hardware, host).bundle;
    bundle.states = find_states(bundle.graph, {});
    return bundle;
  }
  std::vector<int64_t> text(Random& random) const {
    std::vector<int64_t> text(static_cast<size_t>(tokens));
    for (int64_t& token : text) token = random.between(0, vocabulary - 1);
    return text;
  }
};

TEST(Decoder, GivesTheRowsOfTheWindow) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(6); ++i) {
    const SmallLanguageModel model(random);
    SCOPED_TRACE(fmt::format("seed {}, case {}: {} tokens of {}, {} wide", test_seed(), i, model.tokens,
                             model.vocabulary, model.width));
    const std::vector<int64_t> text = model.text(random);
    const Tensor rows =
        Executor(model.window).run({Tensor({1, model.tokens}, std::span<const int64_t>(text))})[0];
    const Bundle bundle = model.bundle(HostModel{.node_seconds = 1});
    EXPECT_TRUE(decodes(bundle));
    for (const Execution execution : {Execution::kOnHost, Execution::kAsPlaced}) {
      Decoder decoder(bundle, std::make_shared<const Engine>(bundle, execution));
      EXPECT_EQ(decoder.capacity(), model.tokens);
      EXPECT_EQ(decoder.vocabulary(), model.vocabulary);
      for (size_t t = 0; t < text.size(); ++t) {
        EXPECT_EQ(decoder.position(), int64_t(t));
        const auto row = rows.data<float>().subspan(t * size_t(model.vocabulary), size_t(model.vocabulary));
        EXPECT_EQ(decoder.step(text[t]), std::vector<float>(row.begin(), row.end())) << t;
      }
    }
  }
}

TEST(Decoder, RefusesTokensThatItDoesNotKnowAndTextsBeyondItsCaches) {
  Random random(test_seed());
  const SmallLanguageModel model(random);
  const Bundle bundle = model.bundle();
  Decoder decoder(bundle, std::make_shared<const Engine>(bundle, Execution::kOnHost));
  for (const int64_t wrong : {int64_t{-1}, model.vocabulary, int64_t{1} << 40})
    EXPECT_THROW(decoder.step(wrong), Error);
  EXPECT_EQ(decoder.position(), 0);
  for (const int64_t token : model.text(random)) decoder.step(token);
  EXPECT_THROW(decoder.step(0), Error);

  const Bundle window = compile(model.window, bundle.hardware).bundle;
  EXPECT_FALSE(decodes(window));
  EXPECT_THROW(Decoder(window, std::make_shared<const Engine>(window, Execution::kOnHost)), Error);
}

class DecodeRequests : public ::testing::Test {
 protected:
  void SetUp() override { write_bundle(file_, model_.bundle()); }
  void TearDown() override { std::filesystem::remove(file_); }

  DecodeRequest request(std::vector<int64_t> prompt, int64_t tokens) const {
    DecodeRequest request{.bundle = file_, .prompt_tokens = std::move(prompt), .tokens = tokens};
    request.engine.name = kHost;
    return request;
  }

  Random random_{test_seed()};
  SmallLanguageModel model_{random_};
  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / fmt::format("decode{}.twb", ::getpid());
};

TEST_F(DecodeRequests, FillTheCachesAndNoMore) {
  DecodeRequest whole = request({0}, model_.tokens);
  whole.verify = true;
  int64_t runs = 0;
  whole.progress = [&](int64_t done, int64_t count) {
    runs = done;
    EXPECT_EQ(count, model_.tokens);
  };
  const DecodeReport report = decode(whole);
  EXPECT_EQ(std::ssize(report.added), model_.tokens);
  EXPECT_EQ(runs, model_.tokens);
  EXPECT_EQ(report.mismatches, 0);

  DecodeRequest longer = request({0}, model_.tokens + 1);
  longer.progress = [](int64_t, int64_t) { ADD_FAILURE() << "a step was run"; };
  EXPECT_THROW(decode(longer), Error);
}

TEST_F(DecodeRequests, EndWithTheirDeadline) {
  const int64_t last = random_.between(1, model_.tokens);
  Deadline deadline;
  DecodeRequest ended = request({0}, model_.tokens);
  ended.verify = true;
  ended.engine.deadline = &deadline;
  ended.progress = [&](int64_t done, int64_t) {
    if (done == last) deadline.expire();
  };
  const DecodeReport report = decode(ended);
  std::vector<int64_t> expected = decode(request({0}, model_.tokens)).added;
  expected.resize(size_t(last));
  EXPECT_EQ(report.added, expected);
  EXPECT_EQ(report.mismatches, 0);
}

TEST_F(DecodeRequests, ASeedGivesTheSameText) {
  DecodeRequest drawn = request({0}, model_.tokens);
  drawn.temperature = 3;
  drawn.seed = random_.next();
  const std::vector<int64_t> first = decode(drawn).added;
  EXPECT_EQ(decode(drawn).added, first);
  drawn.top = 1;
  EXPECT_EQ(decode(drawn).added, decode(request({0}, model_.tokens)).added);
}

TEST_F(DecodeRequests, NeedAPromptOfTheVocabulary) {
  EXPECT_THROW(decode(request({}, 1)), Error);
  EXPECT_THROW(decode(request({0, model_.vocabulary}, 1)), Error);
  EXPECT_THROW(decode(request({-1}, 1)), Error);
  DecodeRequest text = request({}, 1);
  text.prompt = std::string("\xff");
  EXPECT_THROW(decode(text), Error);
}

}  // namespace
}  // namespace tilewright
