// Graphs from expressions: evaluated against the same loop in C++, on every kind of fabric.
#include "tilewright/cgra/graph/expression.h"

#include <gtest/gtest.h>

#include "support/damaged_text_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/graph/evaluate.h"

namespace tilewright::cgra {
namespace {

constexpr ExpressionOptions kStreaming, kPlain{.fuse = false},
    kMesh{.tile_memories = false, .asynchronous = false},
    kMessages{.tile_memories = true, .asynchronous = true, .fuse = false};

DataflowGraph parse(const std::string& text, const ExpressionOptions& options) {
  Diagnostics diagnostics;
  DataflowGraph graph = parse_expression(text, "text", options, diagnostics);
  if (diagnostics.ok()) graph.verify(3, diagnostics);
  diagnostics.raise_if_any();
  return graph;
}

std::string complaints(const std::string& text, const ExpressionOptions& options = kStreaming) {
  try {
    parse(text, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

using Data = std::map<std::string, std::vector<int32_t>>;

// What the program leaves behind: stored arrays and results by their names in the text.
Data run(const std::string& text, const ExpressionOptions& options, const Data& given, int threads) {
  const DataflowGraph graph = parse(text, options);
  Inputs inputs;
  for (size_t i = 0; i < graph.arrays.size(); ++i) {
    if (given.count(graph.arrays[i].name)) inputs.arrays[int(i)] = given.at(graph.arrays[i].name);
  }
  for (size_t i = 0; i < graph.variables.size(); ++i) {
    std::string name = graph.variables[i].name;
    if (name.size() > 8 && name.substr(name.size() - 8) == "_address") name.resize(name.size() - 8);
    if (given.count(name)) inputs.arguments[int(i)] = given.at(name);
  }
  const Evaluation result = evaluate_graph(graph, inputs, threads);
  Data left;
  for (size_t i = 0; i < graph.arrays.size(); ++i) {
    for (const auto& [index, value] : result.arrays[i]) {
      std::vector<int32_t>& stored = left[graph.arrays[i].name];
      stored.resize(size_t(index) + 1, 0);
      stored.back() = value;
    }
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const int kept = graph.nodes[i].writes;
    if (kept < 0) continue;
    const std::string& name = graph.variables[size_t(kept)].name;
    left[name.substr(0, name.size() - 7)] = result.values[i];
  }
  return left;
}

std::vector<int32_t> numbers(uint64_t seed, size_t count = 40) {
  Random random(seed);
  std::vector<int32_t> made(count);
  for (int32_t& value : made) value = int32_t(random.between(-50, 50));
  return made;
}

TEST(Expression, ComputesWhatTheTextSays) {
  const Data given = {{"x", numbers(1)}, {"x0", numbers(2)}, {"y", numbers(3)}, {"y0", numbers(4)}};
  for (const ExpressionOptions& options : {kStreaming, kPlain, kMesh, kMessages}) {
    const Data left = run("d = (x-x0)*(x-x0) + (y-y0)*(y-y0)", options, given, 30);
    for (size_t k = 0; k < 30; ++k) {
      const int32_t dx = given.at("x")[k] - given.at("x0")[k], dy = given.at("y")[k] - given.at("y0")[k];
      EXPECT_EQ(left.at("d").at(k), dx * dx + dy * dy);
    }
  }
}

TEST(Expression, PrecedenceIsThatOfC) {
  const Data given = {{"a", numbers(5)}, {"b", numbers(6)}};
  const std::string text =
      "r = a + b * 3 - -a % 7; s = a < b == 1 ? a << 2 & 0xff | 1 : ~a ^ b >> 1; t = max(a, b, 3) - min(a, "
      "abs(b)) / 2;"
      "u = select(a != 0, a >= b, a <= 5)";
  for (const ExpressionOptions& options : {kStreaming, kMesh}) {
    const Data left = run(text, options, given, 40);
    for (size_t k = 0; k < 40; ++k) {
      const int32_t a = given.at("a")[k], b = given.at("b")[k];
      EXPECT_EQ(left.at("r")[k], a + b * 3 - -a % 7);
      EXPECT_EQ(left.at("s")[k], int(a < b) == 1 ? (int32_t(uint32_t(a) << 2) & 0xff) | 1 : ~a ^ (b >> 1));
      EXPECT_EQ(left.at("t")[k], std::max({a, b, 3}) - std::min(a, std::abs(b)) / 2);
      EXPECT_EQ(left.at("u")[k], a != 0 ? a >= b : a <= 5);
    }
  }
}

TEST(Expression, LoadsStoresAndSums) {
  const Data given = {{"x", numbers(7, 200)}, {"w", numbers(8, 200)}, {"k", std::vector<int32_t>(40, 3)}};
  const std::string text =
      "s := 10\n s = s + x[i] * w[2 * i + k]   # a dot product\n y[3 * i] = s; z[i] = x[i + 1] + k";
  for (const ExpressionOptions& options : {kStreaming, kPlain, kMesh}) {
    const Data left = run(text, options, given, 40);
    int32_t s = 10;
    for (size_t k = 0; k < 40; ++k) {
      s += given.at("x")[k] * given.at("w")[2 * k + 3];
      EXPECT_EQ(left.at("y").at(3 * k), s);
      EXPECT_EQ(left.at("z").at(k), given.at("x")[k + 1] + 3);
    }
  }
}

TEST(Expression, CarriesThroughSeveralNames) {
  const Data left = run("b := 1; c = a + b; a = b; b = c; e = f; f = thread * 2; f = f + 1; g = h; h = 7",
                        kStreaming, {}, 12);
  int32_t a = 0, b = 1;
  for (int32_t k = 0; k < 12; ++k) {
    const int32_t c = a + b;
    a = b;
    b = c;
    EXPECT_EQ(left.at("a").at(size_t(k)), a);
    EXPECT_EQ(left.at("b").at(size_t(k)), b);
    EXPECT_EQ(left.at("e").at(size_t(k)), k == 0 ? 0 : 2 * (k - 1) + 1);
    EXPECT_EQ(left.at("g").at(size_t(k)), k == 0 ? 0 : 7);
  }
}

TEST(Expression, LoadedAddressesHaveFlowsOfTheirOwn) {
  Data given = {{"x", numbers(9, 50)}, {"p", {}}};
  for (int32_t k = 0; k < 40; ++k) given["p"].push_back((k * 7) % 50);
  const std::string text = "j = i + 0 * i; y[i] = x[p[j]] + p[j] + j";
  for (const ExpressionOptions& options : {kStreaming, kMesh}) {
    const Data left = run(text, options, given, 40);
    for (size_t k = 0; k < 40; ++k)
      EXPECT_EQ(left.at("y").at(k), given.at("x")[size_t(given.at("p")[k])] + given.at("p")[k] + int32_t(k));
  }
  // A chain of pointers is a loop through memory: only where loads are operations.
  expect_part(complaints("q = p[q]"), "its address takes more than 8 loads");
  const Data chain = run("q = p[q]", kMesh, given, 5);
  int32_t q = 0;
  for (size_t k = 0; k < 5; ++k) EXPECT_EQ(chain.at("q").at(k), q = given.at("p")[size_t(q)]);
}

TEST(Expression, FusesAndReadsArgumentsOnce) {
  const DataflowGraph fused = parse("d = (x-x0)*(x-x0) + (y-y0)*(y-y0)", kStreaming);
  EXPECT_EQ(fused.nodes.size(), 4u);
  EXPECT_EQ(parse("d = (x-x0)*(x-x0) + (y-y0)*(y-y0)", kPlain).nodes.size(), 5u);
  EXPECT_EQ(fused.variables.size(), 5u);
  const DataflowGraph shared = parse("a = x + 1; b = x * 2", kStreaming);
  EXPECT_EQ(shared.nodes.size(), 3u);
  EXPECT_TRUE(shared.same_tile_groups().empty());
  EXPECT_EQ(parse("a = 2 * 3 + x", kStreaming).nodes.size(), 1u);
  const DataflowGraph kept =
      parse("p = a * b; q = p + 1", kStreaming);  // p alone is read by q: one instruction
  EXPECT_EQ(kept.nodes.size(), 1u);
  EXPECT_EQ(kept.nodes[0].then, Opcode::kAdd);
}

TEST(Expression, ReportsAllProblems) {
  const std::string text = complaints(
      "a = 3 +\nb = foo(2); c d; = 4; e = 99999999999; f = (1; g = 2 $ 3\nh = abs(1, 2); k = 12ab; l = x[1; "
      "m = a ? 1");
  for (const char* part : {"text:1:8: the expression ends too early", "text:2:5: 'foo' is not a function",
                           "text:2:15: '=' is expected", "text:2:18: a name to assign to is expected",
                           "'99999999999' is not a 32-bit number", "')' is expected",
                           "'$' is not expected here", "abs takes 1 operands, not 2",
                           "'12ab' is not a 32-bit number", "']' is expected", "':' is expected"}) {
    expect_part(text, part);
  }
  expect_part(complaints("a = " + std::string(5000, '(')), "nested deeper than 100");
  expect_part(complaints("a = " + std::string(5000, '-') + "1"), "nested deeper than 100");
  expect_part(complaints(std::string(70000, 'a')), "70000 characters, at most 65536 are read");
  const std::string meaning = complaints("thread = 1; a := b; a = 2; c := 5; d := 1; d := 2; d = e + 1");
  for (const char* part : {"is the thread number", "its first value is not a constant",
                           "has a first value but no statement", "has two first values"}) {
    expect_part(meaning, part);
  }
  expect_part(complaints("a = b; b = a"), "is never computed, only passed on");
  expect_part(complaints("x[i] = x[i] + 1"), "'x' is loaded and stored");
  expect_part(complaints(""), "is empty");
}

TEST(Expression, SurvivesMutations) {
  const std::string text =
      "s := 3; s = s + x[i]*w[2*i+k] ; y[3*i] = max(s, -1) ; d = (a-b) * (a-b) ? a >> 2 : ~b % 7";
  Random random(11);
  int parsed = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string mutated = damaged_text(text, random, "0123456789abswxy[]()+-*/%<>=&|^?:;,~");
    for (const ExpressionOptions& options : {kStreaming, kMesh}) {
      try {
        evaluate_graph(parse(mutated, options), {}, 3);
        ++parsed;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput) << mutated << "\n" << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(parsed, 50);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace tilewright::cgra
