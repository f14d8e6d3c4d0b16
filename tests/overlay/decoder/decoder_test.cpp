// Random language models, token by token: the network of one token against the rows of the whole window, and
// the overlay against the host, on random overlays, at every position and after a jump back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "random_language_model.h"
#include "support/random_seed_testing.h"
#include "tilewright/flow/run/decode.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/token_step.h"

namespace tilewright {
namespace {

std::string hardware_folder() { return std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware"; }

OverlayHardware random_overlay(Random& random) {
  const std::string names[] = {"overlay-8x8", "overlay-16x16", "overlay-32x32"};
  OverlayHardware hardware = find_overlay_hardware(names[random.between(0, 2)], hardware_folder());
  hardware.memory_width_bits = int64_t{32} << random.between(0, 2);
  // Where nothing can stay from run to run, or not the micro-ops.
  if (random.chance(0.3)) hardware.accumulator_buffer_bytes >>= random.between(1, 4);
  if (random.chance(0.3)) hardware.uop_buffer_bytes >>= random.between(1, 5);
  if (random.chance(0.4)) hardware.weight_buffer_bytes >>= random.between(1, 6);
  if (random.chance(0.3)) hardware.input_buffer_bytes >>= random.between(1, 4);
  hardware.gemm_beside_alu = random.chance(0.2);
  return hardware;
}

// All on the overlay, whatever pays: on a host that takes long for everything.
Bundle decoding_bundle(const Graph& window, const OverlayHardware& hardware) {
  Graph step = form_token_step(window);
  std::vector<StatePair> states = find_states(step, {});
  Bundle bundle = compile(std::move(step), hardware, HostModel{.node_seconds = 1}).bundle;
  bundle.states = std::move(states);
  return bundle;
}

std::vector<int64_t> random_text(Random& random, const RandomLanguageModel& model) {
  std::vector<int64_t> text(static_cast<size_t>(model.form.tokens));
  for (int64_t& token : text) token = random.between(0, model.vocabulary - 1);
  return text;
}

std::vector<float> window_logits(const Graph& window, const std::vector<int64_t>& text) {
  const Tensor tokens({1, int64_t(text.size())}, std::span<const int64_t>(text));
  const Tensor logits = Executor(window).run({tokens})[0];
  const auto values = logits.data<float>();
  return {values.begin(), values.end()};
}

class DecoderClass : public ::testing::Test {
 protected:
  // Every token of a text; logits and caches against the host's, and the rows of the window.
  static void expect_rows(const Bundle& bundle, const Graph& window, const std::vector<int64_t>& text,
                          const overlay::ProgramEngineOptions& engine) {
    Decoder decoder(bundle, std::make_shared<const Engine>(bundle, Execution::kAsPlaced), engine);
    Decoder host(bundle, std::make_shared<const Engine>(bundle, Execution::kOnHost));
    const std::vector<float> rows = window_logits(window, text);
    ASSERT_EQ(decoder.capacity(), std::ssize(text));
    for (size_t i = 0; i < text.size(); ++i) {
      const std::vector<float> logits = decoder.step(text[i]);
      ASSERT_EQ(logits, host.step(text[i])) << "position " << i;
      const auto row = rows.begin() + long(i * logits.size());
      ASSERT_EQ(logits, std::vector<float>(row, row + long(logits.size()))) << "position " << i;
    }
    const std::vector<Tensor> caches = decoder.caches(), expected = host.caches();
    for (size_t i = 0; i < caches.size(); ++i) EXPECT_TRUE(caches[i].identical(expected[i]));
    EXPECT_THROW(decoder.step(text[0]), Error);
  }
};

TEST_F(DecoderClass, RandomModelsGiveTheRowsOfTheirWindows) {
  Random random(test_seed());
  const int64_t cases = test_cases(6);
  for (int64_t i = 0; i < cases; ++i) {
    const OverlayHardware hardware = random_overlay(random);
    const RandomLanguageModel model = random_language_model(random, 70, hardware.block_in);
    const std::string what =
        fmt::format("seed {}, case {}: {} on {}", test_seed(), i, to_string(model), hardware.name);
    SCOPED_TRACE(what);
    const Bundle bundle = decoding_bundle(model.window, hardware);
    for (size_t n = 0; n < bundle.nodes.size(); ++n) {
      const Node& node = bundle.graph.nodes[n];
      EXPECT_TRUE(node.domain != kTilewrightDomain || !bundle.nodes[n].on_host())
          << node.name << " " << node.op << ": " << bundle.nodes[n].reason;
    }
    const std::vector<int64_t> text = random_text(random, model);
    overlay::ProgramEngineOptions engine;
    if (random.chance(0.5)) engine.kind = overlay::ProgramEngineKind::kCycle;
    expect_rows(bundle, model.window, text, engine);
  }
}

// A program is one: what differs between positions are the fields that it names.
TEST_F(DecoderClass, PositionsDifferInNamedFieldsOnly) {
  Random random(test_seed());
  const OverlayHardware hardware = find_overlay_hardware("overlay-16x16", hardware_folder());
  const RandomLanguageModel model = random_language_model(random, 70, 16);
  const Bundle bundle = decoding_bundle(model.window, hardware);
  const Engine engine(bundle, Execution::kAsPlaced);
  for (const Engine::PreparedStep& step : engine.steps()) {
    if (!step.program) continue;
    overlay::OverlayProgram program = *step.program;
    ASSERT_EQ(program.positions, model.form.tokens);
    ASSERT_FALSE(program.run_fields.empty());
    const std::vector<std::byte> memory = program.memory;
    for (const int64_t wrong : {int64_t{-1}, program.positions})
      EXPECT_THROW(set_position(program, wrong), Error);
    EXPECT_TRUE(program.memory == memory);
    const auto without_fields = [&](std::vector<std::byte> bytes) {
      for (const overlay::RunField& field : program.run_fields) {
        const int64_t at = int64_t(program.instruction_address) +
                           int64_t(field.instruction) * hardware.instruction_bytes() + field.field.word * 8;
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        word &= ~(field.field.mask() << field.field.shift);
        std::memcpy(bytes.data() + at, &word, 8);
      }
      return bytes;
    };
    const std::vector<std::byte> fixed = without_fields(memory);
    for (int64_t p = 0; p < program.positions; ++p) {
      set_position(program, p);
      EXPECT_TRUE(without_fields(program.memory) == fixed) << p;
    }
  }
}

TEST_F(DecoderClass, AnotherProgramInBetweenIsSetUpAgain) {
  Random random(test_seed());
  const OverlayHardware hardware = find_overlay_hardware("overlay-16x16", hardware_folder());
  const RandomLanguageModel a = random_language_model(random, 20, 16),
                            b = random_language_model(random, 20, 16);
  overlay::OverlayProgram programs[2];
  const RandomLanguageModel* models[] = {&a, &b};
  std::vector<Engine> engines;
  for (int m = 0; m < 2; ++m) {
    const Bundle bundle = decoding_bundle(models[m]->window, hardware);
    engines.emplace_back(bundle, Execution::kAsPlaced);
    for (const Engine::PreparedStep& step : engines.back().steps())
      if (step.program) programs[m] = *step.program;
  }
  const auto shared = overlay::make_program_engine(hardware, {});
  const auto run = [&](overlay::OverlayProgram& program, overlay::ProgramEngine& engine) {
    std::map<ValueId, Tensor> inputs;
    for (const overlay::ProgramTensor& input : program.inputs) {
      Tensor tensor(ElementType::kI8, input.shape);
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, (i * 37 + 11) % 200 - 100);
      inputs[input.value] = tensor;
    }
    set_position(program, 0);
    return run_overlay(program, inputs, engine, nullptr);
  };
  for (int round = 0; round < 3; ++round) {
    for (overlay::OverlayProgram& program : programs) {
      const auto fresh = overlay::make_program_engine(hardware, {});
      overlay::OverlayProgram copy = program;
      const auto expected = run(copy, *fresh), found = run(program, *shared);
      for (const auto& [id, tensor] : expected) EXPECT_TRUE(tensor.identical(found.at(id))) << round;
    }
  }
}

std::vector<Tensor> random_inputs(Random& random, const Graph& graph, int64_t most) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    Tensor tensor(value.type, value.shape);
    const bool small = value.type == ElementType::kI64;
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set_integer(i, small ? random.between(0, most) : random.between(-128, 127));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

// Networks that nobody's transform writes: what the overlay cannot do of them, the host does.
TEST_F(DecoderClass, OddPositionsAndCachesRunAsOnTheHost) {
  Random random(test_seed());
  const OverlayHardware hardware = find_overlay_hardware("overlay-16x16", hardware_folder());
  for (const char* odd : {"constant position", "two positions", "cache read twice", "position computed"}) {
    SCOPED_TRACE(odd);
    const std::string kind = odd;
    const RandomLanguageModel model = random_language_model(random, 30, 16);
    Graph step = form_token_step(model.window);
    ValueId position = kNoValue;
    for (const ValueId id : step.inputs)
      if (step.value(id).name == "position") position = id;
    ValueId other = kNoValue;
    if (kind == "constant position") other = step.add_constant("first", Tensor::of<int64_t>({1}, {1}));
    if (kind == "two positions") other = step.add_input("other", ElementType::kI64, {1});
    if (kind == "position computed") {
      other = step.add_value("computed", ElementType::kI64, {1});
      step.add_node("computed", "Abs", {position}, {other});
    }
    int changed = 0;
    for (Node& node : step.nodes) {
      if (!node.is_tilewright("QCacheUpdate")) continue;
      if (other != kNoValue && changed++ < 2) node.inputs[2] = other;
      if (kind == "cache read twice" && changed++ == 0) step.outputs.push_back(node.inputs[0]);
    }
    if (kind == "cache read twice") {
      const ValueId before = step.outputs.back(),
                    copied = step.add_value("copied", step.value(before).type, step.value(before).shape);
      step.outputs.back() = copied;
      step.add_node("copied", "Neg", {before}, {copied});
    }
    step.sort_topologically();
    const Bundle bundle = compile(step, hardware, HostModel{.node_seconds = 1}).bundle;
    Session placed(std::make_shared<const Engine>(bundle, Execution::kAsPlaced)),
        host(std::make_shared<const Engine>(bundle, Execution::kOnHost));
    for (int run = 0; run < 4; ++run) {
      const std::vector<Tensor> inputs =
          random_inputs(random, step, std::min(model.form.tokens, model.vocabulary) - 1);
      const std::vector<Tensor> found = placed.run(inputs), expected = host.run(inputs);
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(found[i].identical(expected[i])) << step.value(step.outputs[i]).name;
    }
  }
}

std::string refusal(const Graph& window) {
  try {
    form_token_step(window);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Each in the same window.
TEST_F(DecoderClass, RefusesWhatLooksAtLaterTokens) {
  Random random(test_seed());
  const Graph window = random_language_model(random, 20, 16).window;
  EXPECT_EQ(refusal(window), "no error");
  Graph sees_all = window;
  for (Node& node : sees_all.nodes)
    if (node.is_tilewright("QSoftmax")) node.attributes.erase("causal");
  EXPECT_NE(refusal(sees_all).find("its softmax is over all tokens, later ones too"), std::string::npos)
      << refusal(sees_all);
  // Zero shares of later tokens that are zero no more.
  Graph shifted = window;
  for (size_t n = 0; n < shifted.nodes.size(); ++n) {
    if (!shifted.nodes[n].is_tilewright("QSoftmax")) continue;
    const ValueId shares = shifted.nodes[n].outputs[0];
    const ValueId moved = shifted.add_value("moved", ElementType::kI8, shifted.value(shares).shape);
    shifted.replace_uses(shares, moved);
    Node& node = shifted.add_node("move", "QRequantize", {shares}, {moved}, kTilewrightDomain);
    node.attributes = {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}, {"bias", int64_t{3}}};
    break;
  }
  shifted.sort_topologically();
  EXPECT_NE(refusal(shifted).find("it mixes tokens without a causal softmax"), std::string::npos)
      << refusal(shifted);
  Graph mixed = window;  // rows of constants times the rows of tokens
  const ValueId rows = mixed.outputs[0];
  const int64_t tokens = mixed.value(rows).shape[1], channels = mixed.value(rows).shape[2];
  const ValueId parts = mixed.add_constant("parts", Tensor(ElementType::kF32, {1, 2, tokens}));
  const ValueId sums = mixed.add_value("sums", ElementType::kF32, {1, 2, channels});
  mixed.add_node("sums", "MatMul", {parts, rows}, {sums});
  mixed.outputs = {sums};
  EXPECT_NE(refusal(mixed).find("'sums' (MatMul): its parameters depend on tokens"), std::string::npos)
      << refusal(mixed);
  Graph averages = window;
  const ValueId logits = averages.outputs[0];
  const Shape shape = averages.value(logits).shape;
  const ValueId mean = averages.add_value("mean", ElementType::kF32, {1, 1, shape[2]});
  averages.add_node("mean", "ReduceMean", {logits}, {mean}).attributes["axes"] = std::vector<int64_t>{1};
  averages.outputs = {mean};
  EXPECT_NE(refusal(averages).find("'mean' (ReduceMean): it has no form for one token"), std::string::npos)
      << refusal(averages);
  Graph two_inputs = window;
  const ValueId other = two_inputs.add_input("other", ElementType::kF32, shape);
  const ValueId sum = two_inputs.add_value("sum", ElementType::kF32, shape);
  two_inputs.add_node("sum", "Add", {logits, other}, {sum});
  two_inputs.outputs = {sum};
  EXPECT_NE(refusal(two_inputs).find("has one input, the numbers of its tokens"), std::string::npos);
}

// An input that is called as ours keeps its meaning.
TEST_F(DecoderClass, TokensMayBeCalledPosition) {
  Random random(test_seed());
  const RandomLanguageModel model = random_language_model(random, 12, 16);
  Graph window = model.window;
  window.value(window.inputs[0]).name = "position";
  const Bundle bundle = decoding_bundle(window, find_overlay_hardware("overlay-16x16", hardware_folder()));
  expect_rows(bundle, window, random_text(random, model), {});
}

TEST_F(DecoderClass, RefusesWhatIsNoLanguageModel) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, {1, 4}),
                y = graph.add_value("y", ElementType::kI8, {1, 4});
  graph.add_node("n", "Neg", {x}, {y});
  graph.outputs = {y};
  EXPECT_THROW(form_token_step(graph), Error);
}

}  // namespace
}  // namespace tilewright
