// Graphs in the GraphViz dialects of the open mappers: what each writes comes back as the graph that it
// means.
#include "tilewright/cgra/graph/graph_dot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::cgra {
namespace {

DataflowGraph parse_dot_text(const std::string& text) {
  Diagnostics diagnostics;
  DataflowGraph graph = parse_graph_dot(text, "g.dot", diagnostics);
  diagnostics.raise_if_any();
  return graph;
}

std::string complaint(const std::string& text) {
  try {
    parse_dot_text(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const DataflowNode& node_of(const DataflowGraph& graph, const std::string& name) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                  [&](const DataflowNode& node) { return node.name == name; });
  if (found == graph.nodes.end()) throw Error(ErrorKind::kInternal, "no node " + name);
  return *found;
}

// "sub(a, 16)", with the names of nodes and their distances.
std::string meaning(const DataflowGraph& graph, const DataflowNode& node) {
  std::string text = std::string(opcode_facts(node.op).name);
  if (node.then) text += " then " + std::string(opcode_facts(*node.then).name);
  text += "(";
  for (const Operand& operand : node.operands) {
    if (text.back() != '(') text += ", ";
    if (operand.kind == OperandKind::kNode) {
      text += graph.nodes[size_t(operand.index)].name;
      if (operand.distance > 0) text += fmt::format("@{}", operand.distance);
    } else {
      text += operand.kind == OperandKind::kThread ? "thread" : fmt::format("{}", operand.value);
    }
  }
  return text + ")";
}

std::string meaning(const DataflowGraph& graph, const std::string& name) {
  return meaning(graph, node_of(graph, name));
}

TEST(GraphDotDialects, PlacesOfOperands) {
  const DataflowGraph graph = parse_dot_text(R"(digraph {
    x [op=input]; y [op=input]; d [op=sub]; e [op=sub]; f [op=sub]; s [op=store]; l [op=load]; m [op=select];
    x -> d [operand=1]; y -> d [operand=0]
    x -> e [operand=right]; y -> e
    x -> f [operand="RHS"]; y -> f [operand=LHS]
    x -> s [operand=addr]; y -> s [operand=data]; x -> l [operand=addr]
    y -> m [operand=2]; x -> m; d -> m [operand=any2input] })");
  EXPECT_EQ(meaning(graph, "d"), "sub(y, x)");
  EXPECT_EQ(meaning(graph, "e"), "sub(y, x)");
  EXPECT_EQ(meaning(graph, "f"), "sub(y, x)");
  EXPECT_EQ(meaning(graph, "s"), "store(y, x)");
  EXPECT_EQ(meaning(graph, "l"), "load(x)");
  EXPECT_EQ(meaning(graph, "m"), "select(x, d, y)");
}

TEST(GraphDotDialects, ConstantsOfEveryTool) {
  const DataflowGraph graph = parse_dot_text(R"(strict digraph {
    "INPUT_0" [type=input]
    "op1" [type=op,opcode=SL]; "op2" [type=op,opcode=ADD]; "OUTPUT_0" [type=output]
    "16" [type=const,int=16]; "8" [const=True]; c [opcode=const]; "-3" [op=CONST, value=70]; k [opcode=const constVal="-5"]
    hex [type=constant, value=0x10]
    "INPUT_0" -> "op1"; "16" -> "op1" [operand=1]; "8" -> "op2"; "op1" -> "op2" -> "OUTPUT_0"
    c -> a; "-3" -> a; k -> b; hex -> b
  })");
  EXPECT_EQ(graph.nodes.size(), 6u);
  EXPECT_EQ(meaning(graph, "op1"), "shl(INPUT_0, 16)");
  EXPECT_EQ(meaning(graph, "op2"), "add(8, op1)");
  EXPECT_EQ(meaning(graph, "OUTPUT_0"), "output(op2)");
  EXPECT_EQ(meaning(graph, "a"), "add(1, 70)");
  EXPECT_EQ(meaning(graph, "b"), "add(-5, 16)");
}

TEST(GraphDotDialects, OperationsOfEveryTool) {
  const std::map<std::string, Opcode> names = {
      {"icmp", Opcode::kLess},      {"SEL", Opcode::kSelect},      {"CAT", Opcode::kOr},
      {"EQL", Opcode::kEqual},      {"MULT", Opcode::kMultiply},   {"SR", Opcode::kShiftRightLogical},
      {"SRA", Opcode::kShiftRight}, {"shra", Opcode::kShiftRight}, {"INPUT", Opcode::kInput},
      {"xor", Opcode::kXor},        {"LT", Opcode::kLess},         {"shrl", Opcode::kShiftRightLogical}};
  for (const auto& [name, op] : names)
    EXPECT_EQ(parse_dot_text("digraph { a -> b; c -> b; b [opcode=" + name + "] }").nodes[1].op, op) << name;
}

TEST(GraphDotDialects, SubgraphsPortsDefaultsAndChains) {
  const DataflowGraph graph = parse_dot_text(R"(DiGraph "g" {
    graph [rankdir=LR]; node [shape=box, op=mul]; edge [color=red]
    subgraph cluster_0 { label="inside"; node [op=sub]; a; b:in:n -> c:out }
    d; a -> {b d} -> e; "node" [op=xor]; "node" -> "e"
    e [label=<<b>sum</b> of all>, op="a" + "dd"] // end
  })");
  EXPECT_EQ(meaning(graph, "a"), "sub(thread, 1)");
  EXPECT_EQ(meaning(graph, "b"), "sub(a, 1)");
  EXPECT_EQ(meaning(graph, "c"), "sub(b, 1)");
  EXPECT_EQ(meaning(graph, "d"), "mul(a, 1)");
  EXPECT_EQ(meaning(graph, "e"), "add(b, d, node)");
  EXPECT_EQ(meaning(graph, "node"), "xor(thread, 1)");
  EXPECT_EQ(meaning(parse_dot_text("digraph { a -> a; b -> a }"), "a"), "add(a@1, b)");
}

TEST(GraphDotDialects, SaysWhatItCannotRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"digraph { a -> b [operand=0]; c -> b [operand=0] }", "'b' has two operands 0"},
      {"digraph { a -> b [operand=middle] }", "'middle' is not a place of an operand"},
      {"digraph { a -> b [operand=16] }", "'16' is not a place of an operand"},
      {"digraph { c [type=const, float=2.5]; c -> b }", "'2.5' is not a 32-bit integer"},
      {"digraph { c [type=const, int=4294967296]; c -> b }", "'4294967296' is not a 32-bit integer"},
      {"digraph { c [type=const]; b -> c }", "'c' is a constant and has an operand"},
      {"digraph { c [type=const]; c -> b [distance=1] }", "constants are the same in every iteration"},
      {"digraph { a -- b }", "an edge without direction"},
      {"digraph { a [opcode=dance] }", "'dance' is not an operation"},
      {"digraph { e [op=a + \"dd\"] }", "'ATTRIBUTE=VALUE' is expected"},
      {"digraph { subgraph }", "a node's name is expected"},
      {"digraph " + std::string(100, '{'), "nested deeper than 64"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(complaint(text).find(part), std::string::npos) << text << "\n" << complaint(text);
}

// --- random graphs in random dialects ---

// A graph whose operands are nodes and constants, and the names a tool gives its parts.
class DialectWriter {
 public:
  DialectWriter(Random& random, int dialect) : random_(random), dialect_(dialect) {}

  // The text; `expected`: name -> meaning.
  std::string run(std::map<std::string, std::string>& expected) {
    make();
    for (const DataflowNode& node : graph_.nodes) expected[node.name] = meaning(graph_, node);
    std::vector<std::string> lines = node_lines();
    const std::vector<std::string> edges = edge_lines();
    lines.insert(lines.end(), edges.begin(), edges.end());
    std::string text = pick({"digraph", "strict digraph", "DIGRAPH", "Strict  DiGraph"});
    text += pick({" G {\n", "{", " \"my graph\"\n{ ", "/*g*/ {\n"});
    if (random_.chance(0.5)) text += "node [fontcolor=white,style=filled,color=blue2];\n";
    if (random_.chance(0.3)) text += "edge[dir=none] rankdir = LR\n";
    return text + grouped(lines) + pick({"}", "}\n\n", "} // end"});
  }

 private:
  std::string pick(const std::vector<std::string>& all) {
    return all[size_t(random_.between(0, int64_t(all.size()) - 1))];
  }

  template <typename Item>
  void shuffle(std::vector<Item>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[size_t(random_.between(0, int64_t(i) - 1))]);
  }

  std::string fresh_name(size_t number) {
    if (dialect_ == 0 && random_.chance(0.5)) {
      std::string name = fmt::format("n{}_", number);
      for (int64_t i = random_.between(0, 8); i > 0; --i) name += char(random_.between(1, 126));
      return name + (random_.chance(0.3) ? "\xc3\xa4" : "") + "x";
    }
    return pick({fmt::format("op_{}", number), fmt::format("N{}.1", number), fmt::format("_{}", number)});
  }

  void make() {
    static const std::vector<Opcode> ops = {
        Opcode::kAdd,    Opcode::kSubtract, Opcode::kMultiply, Opcode::kShiftLeft, Opcode::kShiftRight,
        Opcode::kAnd,    Opcode::kLess,     Opcode::kSelect,   Opcode::kOr,        Opcode::kInput,
        Opcode::kOutput, Opcode::kLoad,     Opcode::kStore};
    const size_t count = size_t(random_.between(1, 12));
    for (size_t i = 0; i < count; ++i) {
      DataflowNode node{.name = fresh_name(i),
                        .op = i == 0 ? Opcode::kInput : ops[size_t(random_.between(0, 12))]};
      const OpcodeFacts& facts = opcode_facts(node.op);
      const int most = node.op == Opcode::kSelect  ? 3
                       : node.op == Opcode::kInput ? 0
                                                   : std::min(2, facts.most_operands);
      // The first operand comes from a node: a reader gives a node without edges the thread number.
      for (int k = 0; k < std::max(most, facts.least_operands); ++k)
        node.operands.push_back(operand(int(i), k == 0));
      graph_.nodes.push_back(std::move(node));
    }
  }

  Operand operand(int before, bool first) {
    if (first || random_.chance(0.6)) {
      const int distance = random_.chance(0.15) ? int(random_.between(1, 4)) : 0;
      return {.kind = OperandKind::kNode, .index = int(random_.between(0, before - 1)), .distance = distance};
    }
    // Only some tools say which number a constant is.
    return {.kind = OperandKind::kConstant, .value = dialect_ == 1 ? 1 : int32_t(random_.between(-300, 300))};
  }

  std::string quoted(const std::string& name) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.';
    });
    if (plain && random_.chance(dialect_ >= 2 && dialect_ <= 3 ? 0.1 : 0.7)) return name;
    std::string text = "\"";
    for (const char c : name) text += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return text + "\"";
  }

  std::string cased(std::string name) {
    const int64_t how = random_.between(0, 2);
    for (char& c : name) {
      if (how == 1 || (how == 2 && random_.chance(0.5))) c = char(std::toupper(c));
    }
    return name;
  }

  // In any order, with any spaces, among attributes that mean nothing.
  std::string attributes(std::vector<std::pair<std::string, std::string>> given) {
    if (random_.chance(0.3)) given.emplace_back("color", "red");
    if (random_.chance(0.2)) given.emplace_back("name", std::to_string(random_.between(0, 99)));
    shuffle(given);
    if (given.empty()) return random_.chance(0.1) ? "[]" : "";
    std::string text = pick({"[", " [", "\t[ "});
    for (size_t i = 0; i < given.size(); ++i) {
      if (i > 0) text += pick({",", ", ", ";", " ", "\n  ,"});
      text += given[i].first + pick({"=", " = ", "= "}) + quoted(given[i].second);
    }
    return text + pick({"]", " ]"});
  }

  std::string operation(Opcode op) {
    static const std::map<Opcode, std::vector<std::string>> others = {
        {Opcode::kMultiply, {"mul", "mult"}},
        {Opcode::kShiftLeft, {"shl", "sl", "ls"}},
        {Opcode::kShiftRight, {"shr", "sra", "shra"}},
        {Opcode::kSelect, {"select", "sel"}},
        {Opcode::kLess, {"lt", "icmp", "cmp"}}};
    const auto found = others.find(op);
    return cased(found == others.end() ? std::string(opcode_facts(op).name) : pick(found->second));
  }

  std::vector<std::string> node_lines() {
    std::vector<std::string> lines;
    for (const DataflowNode& node : graph_.nodes) {
      const bool edge_of_machine = node.op == Opcode::kInput || node.op == Opcode::kOutput;
      std::vector<std::pair<std::string, std::string>> given;
      if (dialect_ == 2 && edge_of_machine) {
        given = {{"type", std::string(opcode_facts(node.op).name)}};
      } else if (dialect_ == 2) {
        given = {{"type", "op"}, {"opcode", operation(node.op)}};
      } else if (dialect_ == 3 && edge_of_machine) {
        given = {{std::string(opcode_facts(node.op).name), "True"}};
      } else {
        given = {{pick(dialect_ == 0 ? std::vector<std::string>{"op", "label"}
                                     : std::vector<std::string>{"opcode", "OpCode"}),
                  operation(node.op)}};
      }
      if (dialect_ == 3 && !edge_of_machine) given[0].first = "op";
      lines.push_back(quoted(node.name) + attributes(given));
    }
    return lines;
  }

  // The constant's name, after the line that says what it is.
  std::string constant(int32_t value, std::vector<std::string>& lines) {
    const std::string number = std::to_string(value);
    std::string name = fmt::format("const{}", ++constants_);
    std::vector<std::pair<std::string, std::string>> given = {{"opcode", cased("const")}};
    if (dialect_ == 0) given = {{"op", "const"}, {"value", number}};
    if (dialect_ == 1 && random_.chance(0.5)) given.emplace_back("constVal", number);
    if (dialect_ == 2) given = {{"type", "const"}, {"int", number}};
    if (dialect_ == 3) {
      name = number;
      given = {{"const", "True"}};
    }
    if (dialect_ == 4) given.emplace_back("value", number);
    lines.push_back((dialect_ == 3 ? "\"" + name + "\"" : quoted(name)) + attributes(given));
    return name;
  }

  // Edges with places in any order; those without one in the order of their operands. A node's operands all
  // have places, or none of its first ones.
  std::vector<std::string> edge_lines() {
    std::vector<std::string> lines, constants;
    for (const DataflowNode& node : graph_.nodes) {
      const bool placed = dialect_ == 1 || random_.chance(0.5);
      std::vector<std::string> own;
      for (size_t i = 0; i < node.operands.size(); ++i) {
        const Operand& operand = node.operands[i];
        const std::string from = operand.kind == OperandKind::kNode ? graph_.nodes[size_t(operand.index)].name
                                                                    : constant(operand.value, constants);
        std::vector<std::pair<std::string, std::string>> given;
        if (placed) given.emplace_back("operand", place(i, node.operands.size()));
        if (operand.distance > 0) given.emplace_back("distance", std::to_string(operand.distance));
        const std::string port = random_.chance(0.1) ? pick({":in", ":p:n", ":\"a b\""}) : "";
        own.push_back(quoted(from) + port + pick({" -> ", "->", " ->\n"}) + quoted(node.name) +
                      attributes(given));
      }
      if (placed) shuffle(own);
      lines.insert(lines.end(), own.begin(), own.end());
    }
    lines.insert(lines.begin(), constants.begin(), constants.end());
    return lines;
  }

  std::string place(size_t position, size_t count) {
    if (count == 2 && random_.chance(0.3))
      return position == 0 ? pick({"left", "LHS", "lhs"}) : pick({"right", "RHS", "Right"});
    return std::to_string(position);
  }

  // Statements with comments between them, some in subgraphs.
  std::string grouped(const std::vector<std::string>& lines) {
    std::string text;
    int open = 0;
    for (const std::string& line : lines) {
      if (random_.chance(0.1)) text += pick({"// a -> b [operand=7]\n", "/* { \" */", "\n# [\n", "\n\n"});
      if (random_.chance(0.08)) {
        text += pick({"subgraph cluster_1 {", "{", "SUBGRAPH \"s p\" { label=\"x -> y\"; ",
                      "subgraph{node [op=dance2] edge [operand=9] } {"});
        ++open;
      }
      text += line + pick({";\n", "\n", " ; ", ";"});
      for (; open > 0 && random_.chance(0.3); --open) text += "}\n";
    }
    return text + std::string(size_t(open), '}');
  }

  Random& random_;
  int dialect_;  // 0: ours, 1: opcode and operand, 2: type, 3: flags, 4: opcode with spaces
  int constants_ = 0;
  DataflowGraph graph_;
};

TEST(GraphDotClass, EveryDialectReadsBackEqual) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(1000);
  Random random(seed);
  for (int64_t i = 0; i < cases; ++i) {
    std::map<std::string, std::string> expected, got;
    const std::string text = DialectWriter(random, int(i % 5)).run(expected);
    const std::string found = complaint(text);
    ASSERT_EQ(found, "") << "seed " << seed << " case " << i << "\n" << text;
    const DataflowGraph graph = parse_dot_text(text);
    for (const DataflowNode& node : graph.nodes) got[node.name] = meaning(graph, node);
    ASSERT_EQ(got, expected) << "seed " << seed << " case " << i << "\n" << text;
  }
  RecordProperty("cases", int(cases));
}

// Names of every character, constants, carried values: what we print has the same meaning.
TEST(GraphDotClass, WhatWePrintReadsBackEqual) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(500);
  Random random(seed + 1);
  for (int64_t i = 0; i < cases; ++i) {
    std::map<std::string, std::string> expected;
    const DataflowGraph graph = parse_dot_text(DialectWriter(random, 0).run(expected));
    const std::string text = print_graph_dot(graph);
    const DataflowGraph back = parse_dot_text(text);
    ASSERT_EQ(back.nodes, graph.nodes) << "seed " << seed << " case " << i << "\n" << text;
    ASSERT_EQ(back.arrays, graph.arrays);
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright::cgra
