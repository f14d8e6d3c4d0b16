#include "tilewright/graph/text/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/damaged_text_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const auto* tensor = std::get_if<Tensor>(&a)) return tensor->identical(std::get<Tensor>(b));
  if (const auto* number = std::get_if<float>(&a))
    return std::memcmp(number, &std::get<float>(b), sizeof *number) == 0;
  if (const auto* list = std::get_if<std::vector<float>>(&a)) {
    const auto& other = std::get<std::vector<float>>(b);
    return list->size() == other.size() &&
           (list->empty() || std::memcmp(list->data(), other.data(), list->size() * sizeof(float)) == 0);
  }
  if (const auto* text = std::get_if<std::string>(&a)) return *text == std::get<std::string>(b);
  if (const auto* integer = std::get_if<int64_t>(&a)) return *integer == std::get<int64_t>(b);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&a))
    return *list == std::get<std::vector<int64_t>>(b);
  return std::get<std::vector<std::string>>(a) == std::get<std::vector<std::string>>(b);
}

bool same_value(const Value& a, const Value& b) {
  if (a.name != b.name || a.type != b.type || a.shape != b.shape) return false;
  if (a.constant.has_value() != b.constant.has_value()) return false;
  return !a.constant || a.constant->identical(*b.constant);
}

bool same_node(const Node& a, const Node& b) {
  return a.name == b.name && a.domain == b.domain && a.op == b.op && a.inputs == b.inputs &&
         a.outputs == b.outputs &&
         std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && same_attribute(x.second, y.second);
                    });
}

bool same_graph(const Graph& a, const Graph& b) {
  return a.name == b.name && a.inputs == b.inputs && a.outputs == b.outputs &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same_value) &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node);
}

std::string random_name(Random& random, const char* stem, size_t number) {
  std::string name = stem + std::to_string(number);
  if (random.chance(0.3)) {
    for (int64_t i = random.between(1, 4); i > 0; --i) name += char(random.between(0, 255));
  }
  return name;
}

Tensor random_tensor(Random& random) {
  const ElementType type = ElementType(random.between(0, kElementTypeCount - 1));
  std::vector<int64_t> dims(size_t(random.between(0, 3)));
  for (int64_t& size : dims) size = random.between(random.chance(0.1) ? 0 : 1, random.chance(0.2) ? 20 : 4);
  Tensor tensor(type, Shape(dims));
  const bool raw = random.chance(0.5), equal = random.chance(0.3);
  const uint8_t byte = uint8_t(random.next());
  for (std::byte& b : tensor.mutable_bytes()) b = std::byte(equal ? byte : uint8_t(random.next()));
  if (raw) return tensor;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (is_float(type)) {
      tensor.set_number(i, (random.uniform() - 0.5) * std::exp2(double(random.between(-20, 20))));
    } else {
      tensor.set_integer(i, random.between(lowest(type), highest(type)));
    }
  }
  return tensor;
}

float random_float(Random& random) {
  if (random.chance(0.7)) return float(random.uniform() * 10 - 5);
  float value = 0;
  const uint32_t bits = uint32_t(random.next());
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

Attribute random_attribute(Random& random) {
  const size_t count = size_t(random.between(0, 3));
  switch (random.between(0, 6)) {
    case 0:
      return int64_t(random.next());
    case 1:
      return random_float(random);
    case 2:
      return random_name(random, "s", 0);
    case 3: {
      std::vector<int64_t> list(count);
      for (int64_t& v : list) v = random.between(-9, 9);
      return list;
    }
    case 4: {
      std::vector<float> list(count);
      for (float& v : list) v = random_float(random);
      return list;
    }
    case 5: {
      std::vector<std::string> list(count);
      for (std::string& v : list) v = random_name(random, "", count);
      return list;
    }
    default:
      return random_tensor(random);
  }
}

Graph random_graph(Random& random) {
  Graph graph;
  graph.name = random_name(random, "g", 0);
  for (int64_t n = random.between(1, 12); n > 0; --n) {
    const size_t id = graph.values.size();
    Value value;
    value.name = random_name(random, "v", id);
    if (random.chance(0.4)) {
      value.constant = random_tensor(random);
      value.type = value.constant->type();
      value.shape = value.constant->shape();
    } else {
      value.type = ElementType(random.between(0, kElementTypeCount - 1));
      if (random.chance(0.8)) value.shape = {random.between(-1, 5), random.between(0, 300)};
    }
    graph.values.push_back(std::move(value));
  }
  const auto any = [&] { return ValueId(random.between(-1, int64_t(graph.values.size()) - 1)); };
  for (int64_t n = random.between(0, 6); n > 0; --n) {
    Node node;
    node.name = random_name(random, "n", graph.nodes.size());
    node.op = random_name(random, "Op", 1);
    if (random.chance(0.5)) node.domain = random.chance(0.5) ? "tilewright" : random_name(random, "d", 0);
    for (int64_t i = random.between(0, 3); i > 0; --i) node.inputs.push_back(any());
    for (int64_t i = random.between(0, 3); i > 0; --i) node.outputs.push_back(any());
    for (int64_t i = random.between(0, 4); i > 0; --i)
      node.attributes[random_name(random, "a", size_t(i))] = random_attribute(random);
    graph.nodes.push_back(std::move(node));
  }
  for (int64_t i = random.between(0, 2); i > 0; --i)
    graph.inputs.push_back(ValueId(random.between(0, int64_t(graph.values.size()) - 1)));
  for (int64_t i = random.between(0, 2); i > 0; --i)
    graph.outputs.push_back(ValueId(random.between(0, int64_t(graph.values.size()) - 1)));
  return graph;
}

Graph small_graph() {
  Graph graph;
  graph.name = "small";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 4});
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 4}),
                z = graph.add_value("z", ElementType::kI8, {1, 4});
  const ValueId c = graph.add_constant("c", Tensor::of<float>({4}, {0.5f, -1, 1e-30f, 0.1f}));
  graph.add_node("clip", "Clip", {x, kNoValue, c}, {y}).attributes = {{"mode", std::string("a \"b\"")},
                                                                      {"scale", 0.25f},
                                                                      {"taps", std::vector<int64_t>{1, 2}},
                                                                      {"none", std::vector<float>{}}};
  graph.add_node("q", "QRequantize", {y}, {z}, kTilewrightDomain).attributes = {{"shift", int64_t{3}}};
  graph.outputs = {z};
  return graph;
}

constexpr const char* kSmallText =
    "graph \"small\"\n"
    "input %0 \"x\": f32[1x4]\n"
    "const %3 \"c\": f32[4] = [0.5, -1, 1e-30, 0.1]\n"
    "node \"clip\" Clip(%0, _, %3) -> (%1 \"y\": f32[1x4]) {mode: \"a \\\"b\\\"\", none: floats[], scale: "
    "0.25f, taps: "
    "[1, 2]}\n"
    "node \"q\" tilewright::QRequantize(%1) -> (%2 \"z\": i8[1x4]) {shift: 3}\n"
    "output %2\n";

TEST(GraphText, IsWhatTheHeaderSays) {
  EXPECT_EQ(print(small_graph()), kSmallText);
  EXPECT_TRUE(same_graph(parse_graph(kSmallText), small_graph()));
}

TEST(GraphText, CommentsBlankLinesAndSpacesDoNotMatter) {
  std::string text = "# a comment\n\n" + std::string(kSmallText) + "  # the end";
  EXPECT_TRUE(same_graph(parse_graph(text), small_graph()));
}

TEST(GraphText, LargeConstantsInBothForms) {
  Graph graph;
  graph.add_constant("zeros", Tensor(ElementType::kI4, {33, 101}));
  Tensor ramp(ElementType::kF16, {500});
  for (int64_t i = 0; i < 500; ++i) ramp.set_number(i, double(i) / 7);
  graph.add_constant("ramp", ramp);
  const std::string text = print(graph);
  EXPECT_NE(text.find("const %0 \"zeros\": i4[33x101] = splat 0\n"), std::string::npos);
  EXPECT_NE(text.find("const %1 \"ramp\": f16[500] = base64\n"), std::string::npos);
  EXPECT_TRUE(same_graph(parse_graph(text), graph));
}

TEST(GraphText, EveryBitSurvives) {
  Graph graph;
  const float inf = std::numeric_limits<float>::infinity();
  graph.add_constant("f", Tensor::of<float>({5}, {inf, -inf, -0.0f, std::nanf("77"), 1e-45f}));
  graph.add_constant("u", Tensor::of<uint64_t>({2}, {~uint64_t{0}, 5}));
  Tensor odd(ElementType::kBool, {2});
  odd.mutable_bytes()[1] = std::byte{7};
  graph.add_constant("odd", odd);
  graph.value(0).shape = {3};  // a lie that only the verifier may object to
  EXPECT_TRUE(same_graph(parse_graph(print(graph)), graph));
}

TEST(GraphText, RandomGraphsRoundTrip) {
  const uint64_t seed = 99;
  Random random(seed);
  for (int round = 0; round < 3000; ++round) {
    const Graph graph = random_graph(random);
    const std::string text = print(graph);
    Graph back;
    ASSERT_NO_THROW(back = parse_graph(text)) << text << "seed " << seed << " round " << round;
    ASSERT_TRUE(same_graph(back, graph)) << text << "\n--- became\n"
                                         << print(back) << "seed " << seed << " round " << round;
  }
}

TEST(GraphText, DamageGivesAnErrorWithItsLineOrAnotherGraph) {
  const uint64_t seed = 4;
  Random random(seed);
  std::vector<std::string> texts{kSmallText};
  for (int i = 0; i < 20; ++i) texts.push_back(print(random_graph(random)));
  int rejected = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string& sound = texts[size_t(random.between(0, int64_t(texts.size()) - 1))];
    const std::string text = damaged_text(sound, random, "0123456789%\"[]{}=x,;");
    try {
      const Graph graph = parse_graph(text);
      ASSERT_TRUE(same_graph(parse_graph(print(graph)), graph))
          << text << "seed " << seed << " round " << round;
    } catch (const Error& error) {
      ++rejected;
      ASSERT_EQ(error.kind(), ErrorKind::kInvalidInput)
          << error.what() << " seed " << seed << " round " << round;
      ASSERT_EQ(std::string(error.what()).substr(0, 5), "line ") << error.what();
    }
  }
  EXPECT_GT(rejected, 10000);
}

std::string problem(const std::string& text) {
  try {
    parse_graph(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(GraphText, Rejects) {
  const std::string head = "graph \"g\"\n";
  EXPECT_EQ(problem(""), "line 1: expected 'graph \"name\"'");
  EXPECT_EQ(problem("graph g"), "line 1: expected '\"' instead of 'g'");
  EXPECT_EQ(problem(head + "foo"), "line 2: expected input, const, value, node or output instead of 'foo'");
  EXPECT_EQ(problem(head + "\ninput %0 \"x\": f33[]"), "line 3: 'f33' is not an element type");
  EXPECT_EQ(problem(head + "input %0 \"x\": f32[] %1"),
            "line 2: expected the end of the line instead of '%1'");
  EXPECT_EQ(problem(head + "input %0 \"x\": f32[]\ninput %0 \"y\": f32[]"), "line 3: %0 is defined twice");
  EXPECT_EQ(problem(head + "input %1 \"x\": f32[]"), "line 2: value %0 is used but not defined");
  EXPECT_EQ(problem(head + "output %99999999"), "line 2: %99999999 is not a value");
  EXPECT_EQ(problem(head + "output %-1"), "line 2: %-1 is not a value");
  EXPECT_EQ(problem(head + "const %0 \"x\": f32[]"), "line 2: expected '=' and the elements of the constant");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[2] = [1, 200]"), "line 2: 200 does not fit i8");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[2] = [1]"), "line 2: expected ',' instead of ']'");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[2] = [1, 2x]"), "line 2: '2x' is not a valid number");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[-2] = []"), "line 2: a constant with a negative size");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[9999999x99999] = []"),
            "line 2: a constant of over 2^37 elements");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[99999999] = []"), "line 2: the constant has too few elements");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[99999999] = splat 0"), "line 2: splat of over 2^20 elements");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[99999999] = base64\n;"),
            "line 3: the constant has too few bytes");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[3] = base64\nAAA;"),
            "line 3: the constant has 0 groups of 3 bytes, 3 bytes are needed");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[3] = base64\nAA!A;"),
            "line 3: a character that is not base64");
  EXPECT_EQ(problem(head + "const %0 \"x\": i8[3] = base64\nAAAA"), "line 2: ';' is missing");
  EXPECT_EQ(problem(head + "const %0 \"x\": f16[1] = [0x12345]"), "line 2: '0x12345' has over 16 bits");
  EXPECT_EQ(problem(head + "const %0 \"x: f16[1]"), "line 2: a string does not end on its line");
  EXPECT_EQ(problem(head + "const %0 \"\\q\": f16[1]"), "line 2: unknown escape in a string");
  EXPECT_EQ(problem(head + "node \"n\" Relu() -> () {a: 1, a: 2}"), "line 2: attribute 'a' is listed twice");
  EXPECT_EQ(problem(head + "node \"n\" Relu() -> () {a: [1, 2f]}"), "line 2: a list of different kinds");
  EXPECT_EQ(problem(head + "node \"n\" Relu() -> () {a: 1.5}"), "line 2: '1.5' is not an integer");
  EXPECT_EQ(problem(head + "node \"n\" Relu() -> () {a: ?}"), "line 2: expected a number instead of '?}'");
  EXPECT_EQ(problem(head + "node \"n\" Relu( -> ()"), "line 2: expected '%' instead of '-> ()'");
}

TEST(GraphText, AShortTextCannotAskForALotOfMemory) {
  std::string text = "graph \"g\"\n";
  for (int i = 0; i < 40; ++i) text += "value %" + std::to_string(i) + " \"v\": i8[1000000] = splat 1\n";
  EXPECT_EQ(problem(text), "line 35: splats of over 2^25 elements together");
}

}  // namespace
}  // namespace tilewright
