#include "tilewright/frontend/tensorflow/tensorflow_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "support/frontend/graphdef_builder_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;

std::string error_of(const std::vector<std::byte>& bytes, const TensorflowOptions& options = {}) {
  try {
    parse_tensorflow(bytes, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string ops(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) text += (text.empty() ? "" : " ") + node.op;
  return text;
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

GraphDefText relu() {
  GraphDefText graph;
  graph.placeholder("x", {-1, 4}).node("y", "Relu", {"x"});
  return graph;
}

TEST(TensorflowReader, ReadsAGraphAndBindsTheBatch) {
  Diagnostics warnings;
  const Graph graph = parse_tensorflow(relu().build(), {}, &warnings);
  EXPECT_EQ(ops(graph), "Relu");
  EXPECT_EQ(graph.value(graph.inputs.at(0)).shape, (Shape{1, 4}));
  EXPECT_EQ(graph.value(graph.outputs.at(0)).name, "y");
  EXPECT_EQ(graph.nodes[0].name, "y");
  ASSERT_EQ(warnings.warnings().size(), 1u);
  EXPECT_EQ(to_string(warnings.warnings()[0]),
            "node 'x' (Placeholder): batch of any size is read as 1; --shape x.0=N binds another size");
  TensorflowOptions options;
  options.dimensions["x.0"] = 8;
  EXPECT_EQ(parse_tensorflow(relu().build(), options).values[0].shape, (Shape{8, 4}));
}

TEST(TensorflowReader, SavedModelsSayTheirOutputs) {
  GraphDefText graph = relu();
  graph.node("z", "Tanh", {"y"}).node("loss", "Neg", {"z"});
  EXPECT_EQ(ops(parse_tensorflow(graph.build())), "Relu Tanh Neg");
  const Graph served = parse_tensorflow(graph.build_saved_model({{"a", "y:0"}, {"b", "z:0"}}));
  EXPECT_EQ(ops(served), "Relu Tanh");
  ASSERT_EQ(served.outputs.size(), 2u);
  EXPECT_EQ(served.value(served.outputs[0]).name, "a");  // as the signature calls it
  EXPECT_MENTIONS(error_of(graph.build_saved_model({{"a", "y:0"}}, "train")),
                  "the SavedModel has no graph with the tag 'serve'; its tags: train");
}

TEST(TensorflowReader, TheFormatIsToldByContent) {
  EXPECT_TRUE(is_tensorflow(relu().build()));
  EXPECT_TRUE(is_tensorflow(relu().build_saved_model({{"a", "y:0"}})));
  onnx_testing::ModelText onnx;
  onnx.input("x", "4").output("y").node("n", "Relu", {"x"}, {"y"});
  EXPECT_FALSE(is_tensorflow(onnx.build()));
  EXPECT_FALSE(is_tensorflow({}));
  EXPECT_EQ(error_of(onnx.build()), "is neither a TensorFlow GraphDef nor a SavedModel");
}

TEST(TensorflowReader, DamageIsNamed) {
  std::vector<std::byte> half = relu().build();
  half.resize(half.size() - 5);
  EXPECT_EQ(
      error_of(half),
      "is a damaged or truncated GraphDef, or one nested deeper than 100; fetch or export the file again");
  // Groups in groups, of a field that nobody knows.
  const std::string groups = bytes(1, std::string(200, '\x7b') + std::string(200, '\x7c'));
  const auto* begin = reinterpret_cast<const std::byte*>(groups.data());
  EXPECT_MENTIONS(error_of({begin, begin + groups.size()}), "nested deeper than 100");
  EXPECT_EQ(error_of(GraphDefText{{}, bytes(1, bytes(1, bytes(1, "f")))}.build_saved_model({})),
            "the graph has no nodes");
  GraphDefText twice = relu();
  EXPECT_EQ(error_of(twice.node("y", "Relu", {"x"}).build()), "has two nodes called 'y'");
  EXPECT_MENTIONS(error_of(relu().node("z", "Neg", {"nowhere:1"}).node("w", "Add", {"z", "y"}).build()),
                  "node 'z' (Neg): reads 'nowhere:1', which is not in the file");
  const auto folder = std::filesystem::path(testing::TempDir()) / "half.pb";
  write_file(folder, half);
  try {
    read_tensorflow(folder);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_MENTIONS(error.what(), "half.pb': is a damaged or truncated GraphDef");
  }
}

TEST(TensorflowReader, EveryUnsupportedOperatorIsNamed) {
  GraphDefText graph = relu();
  graph.node("a", "Fancy", {"y"}).node("b", "StatelessIf", {"a"}).node("c", "Relu", {"b"});
  graph.node("d", "FakeWarp", {"y"}).node("e", "Add", {"c", "d"});
  const std::string message = error_of(graph.build());
  EXPECT_MENTIONS(message, "3 problems");
  EXPECT_MENTIONS(message, "node 'a' (Fancy): operator is not supported; cut the graph there: --feed");
  EXPECT_MENTIONS(message, "node 'b' (StatelessIf): operator is not supported; export the branch");
  EXPECT_MENTIONS(message, "node 'd' (FakeWarp)");
}

TEST(TensorflowReader, LoopsAreRefused) {
  GraphDefText graph = relu();
  graph.node("m", "Merge", {"y", "n"}).node("n", "NextIteration", {"m"}).node("o", "Exit", {"m"});
  TensorflowOptions options;
  options.outputs = {"o"};
  EXPECT_MENTIONS(error_of(graph.build(), options), "node 'm' (Merge): is in a loop; unroll loops");
}

TEST(TensorflowReader, OutputsAndFeedsMustExist) {
  TensorflowOptions options;
  options.outputs = {"nothing:0"};
  options.feeds["nobody"] = Shape{1, 2};
  const std::string message = error_of(relu().build(), options);
  EXPECT_MENTIONS(message, "output 'nothing:0': is not a node of the file");
  EXPECT_MENTIONS(message, "input 'nobody': is not a node of the file");
  EXPECT_MENTIONS(error_of(GraphDefText().floats("c", {1}, {1}).build()),
                  "graph: has no node that looks like an output; name one with --output-node");
  TensorflowOptions second;
  second.outputs = {"y:3"};
  EXPECT_MENTIONS(error_of(relu().build(), second),
                  "output 'y:3': is an output of its node that inference does not have");
  GraphDefText graph = relu();
  EXPECT_MENTIONS(error_of(graph.node("z", "Neg", {"y:1"}).build()),
                  "node 'z' (Neg): reads output 1 of node 'y', which inference does not have");
}

TEST(TensorflowReader, WhatBelongsToTrainingIsNoOutput) {
  GraphDefText graph = relu();
  graph.node("initial", "Tanh", {"y"}).variable("w", {4}).node("w/Assign", "Assign", {"w", "y"});
  graph.node("gradients/g", "Neg", {"y"})
      .node("save/s", "SaveV2", {"y"})
      .node("image", "ImageSummary", {"y"});
  graph.node("init", "Neg", {"y"}).floats("unused", {1}, {1});
  const Graph read = parse_tensorflow(graph.build());
  ASSERT_EQ(read.outputs.size(), 1u);
  EXPECT_EQ(read.value(read.outputs[0]).name, "initial");
}

TEST(TensorflowReader, InnerNodesCanBeFed) {
  GraphDefText graph;
  graph.placeholder("wav", {}, kString).node("features", "Mystery", {"wav"}).node("y", "Relu", {"features"});
  EXPECT_MENTIONS(error_of(graph.build()),
                  "node 'wav' (Placeholder): is an input of DT_STRING; start after it: --feed NODE");
  TensorflowOptions options;
  options.feeds["features"] = {};
  EXPECT_MENTIONS(error_of(graph.build(), options),
                  "node 'features' (Placeholder): is an input without a declared shape; give its shape: "
                  "--feed features=1x...");
  options.feeds["features"] = Shape{2, 3};
  const Graph fed = parse_tensorflow(graph.build(), options);
  EXPECT_EQ(fed.value(fed.inputs.at(0)).shape, (Shape{2, 3}));
}

// Spectral features are computed by the host; how many there are in a row, a reader that reshapes to such
// rows says.
TEST(TensorflowReader, FeaturesOfSoundAreAnInput) {
  GraphDefText graph;
  graph.placeholder("wav", {}, kString).placeholder("other", {2, 6}).node("mfcc", "Mfcc", {"wav"});
  graph.ints("threes", {2}, {-1, 3}).node("else", "Reshape", {"other", "threes"});
  graph.node("shape", "Shape", {"mfcc"}).node("computed", "Reshape", {"mfcc", "shape"});
  graph.ints("rows", {2}, {-1, 40}).node("row", "Reshape", {"mfcc", "rows"}).node("y", "Relu", {"row"});
  TensorflowOptions options;
  options.outputs = {"y"};
  Diagnostics warnings;
  const Graph read = parse_tensorflow(graph.build(), options, &warnings);
  ASSERT_EQ(read.inputs.size(), 1u);
  EXPECT_EQ(read.value(read.inputs[0]).name, "mfcc");
  EXPECT_EQ(read.value(read.inputs[0]).shape, (Shape{1, 40}));
  EXPECT_MENTIONS(to_string(warnings.warnings().at(0)), "node 'mfcc' (Mfcc): is left to the host");
}

TEST(TensorflowReader, OtherUnknownSizesAreAskedFor) {
  GraphDefText graph;
  graph.placeholder("x", {-1, -1, 4}).node("y", "Relu", {"x"});
  EXPECT_MENTIONS(error_of(graph.build()),
                  "inputs: axes without a size: x.1; give each a size: --shape x.1=N");
  TensorflowOptions options;
  options.dimensions = {{"x.1", 7}, {"z.0", 1}};
  Diagnostics warnings;
  EXPECT_EQ(parse_tensorflow(graph.build(), options, &warnings).values[0].shape, (Shape{1, 7, 4}));
  EXPECT_EQ(warnings.warnings().back().message, "no input has an axis of this name");
  options.dimensions = {{"x.1", 0}};
  EXPECT_MENTIONS(error_of(graph.build(), options), "node 'x' (Placeholder): axis 1 cannot be 0");
}

TEST(TensorflowReader, ArgMaxIsLeftToTheReader) {
  GraphDefText graph = relu();
  graph.ints("axis", {}, {1}).node("class", "ArgMax", {"y", "axis"});
  Diagnostics warnings;
  const Graph scores = parse_tensorflow(graph.build(), {}, &warnings);
  EXPECT_EQ(ops(scores), "Relu");
  EXPECT_MENTIONS(to_string(warnings.warnings().at(0)), "node 'class' (ArgMax): is left to the reader");
  TensorflowOptions options;
  options.keep_arg_max = true;
  const Graph kept = parse_tensorflow(graph.build(), options);
  EXPECT_EQ(ops(kept), "Relu ArgMax");
  EXPECT_EQ(kept.value(kept.outputs[0]).type, ElementType::kI64);
  graph.node("softmax", "Softmax", {"y"});
  const Graph only = parse_tensorflow(graph.build());
  EXPECT_EQ(ops(only), "Relu Softmax");
  EXPECT_EQ(only.outputs.size(), 1u);
}

TEST(TensorflowReader, AnArgMaxOfNothingIsNamed) {
  GraphDefText graph = relu();
  EXPECT_MENTIONS(error_of(graph.node("class", "ArgMax").build_saved_model({{"a", "class:0"}})),
                  "node 'class' (ArgMax)");
}

TEST(TensorflowReader, ConstantsOfEveryForm) {
  GraphDefText graph;
  graph.placeholder("x", {-1, 3});
  const auto listed = [](int type, const std::string& values) {
    return type_attribute("dtype", type) +
           attribute("value", bytes(8, number(1, type) + bytes(2, shape_text({3})) + values));
  };
  graph.node("f", "Const", {}, listed(kFloat, single(5, 2.5f)));                      // repeated
  graph.node("h", "Const", {}, listed(19, number(13, 0x3C00) + number(13, 0x4000)));  // halves
  graph.node("i", "Const", {}, listed(kInt64, number(10, 1) + number(10, 2) + number(10, 3)));
  graph.node("hf", "Cast", {"h"}, type_attribute("DstT", kFloat));
  graph.node("if", "Cast", {"i"}, type_attribute("DstT", kFloat));
  graph.node("y", "AddN", {"x", "f", "hf", "if"});
  const Graph read = parse_tensorflow(graph.build());
  std::map<std::string, std::vector<float>> values;
  for (const Value& value : read.values) {
    if (value.constant) values[value.name] = value.constant->to_floats();
  }
  EXPECT_EQ(values["f"], (std::vector<float>{2.5f, 2.5f, 2.5f}));
  EXPECT_EQ(values["h"], (std::vector<float>{1, 2, 2}));
  EXPECT_EQ(values["i"], (std::vector<float>{1, 2, 3}));
}

TEST(TensorflowReader, WrongConstantsAreNamed) {
  const auto with = [](const std::string& value) {
    GraphDefText graph = relu();
    graph.node("c", "Const", {}, value).node("z", "Add", {"y", "c"});
    return error_of(graph.build());
  };
  EXPECT_MENTIONS(with(""), "node 'c' (Const): has no value");
  EXPECT_MENTIONS(with(tensor_attribute("value", kFloat, {4}, "12345678")),
                  "node 'c' (Const): holds 8 bytes for f32[4], which takes 16");
  EXPECT_MENTIONS(with(tensor_attribute("value", kString, {1}, "x")), "holds elements of DT_STRING");
  EXPECT_MENTIONS(with(tensor_attribute("value", 77, {1}, "x")), "holds elements of type 77");
  EXPECT_MENTIONS(with(tensor_attribute("value", kFloat, {-1}, "x")), "holds a tensor of unknown shape");
  EXPECT_MENTIONS(with(tensor_attribute("value", kFloat, {1 << 20, 1 << 20}, "")),
                  "expands to 4398046511104 bytes, which are not in the file");
  EXPECT_MENTIONS(with(attribute("value", bytes(8, number(1, kFloat) + bytes(2, shape_text({1})) +
                                                       single(5, 1) + single(5, 2)))),
                  "holds 2 values for 1 elements");
}

TEST(TensorflowReader, VariablesNeedValues) {
  GraphDefText graph;
  graph.placeholder("x", {1, 4}).variable("w", {4, 3}).variable("b", {3});
  graph.node("m", "MatMul", {"x", "w/read"}).node("y", "BiasAdd", {"m", "b/read"});
  const std::string message = error_of(graph.build());
  EXPECT_MENTIONS(message, "2 problems");
  EXPECT_MENTIONS(message,
                  "node 'w' (VariableV2): has no value in the file; freeze the model, or draw weights with "
                  "--fill-weights");
  TensorflowOptions options;
  options.fill_gain = 3;
  const Graph filled = parse_tensorflow(graph.build(), options);
  ASSERT_EQ(ops(filled), "MatMul Add");
  // The first draw of stream 1000 (weights of fan-in 4) and of stream 1001 (a bias).
  const auto first = [](uint64_t seed) {
    LcgStream stream(seed);
    return 2 * stream.next() - 1;
  };
  EXPECT_EQ(filled.constant_input(filled.nodes[0], 1)->data<float>()[0], first(1000) * std::sqrt(0.75f));
  EXPECT_EQ(filled.constant_input(filled.nodes[1], 1)->data<float>()[0], first(1001) * 0.1f);
  TensorflowOptions shapes_only;
  shapes_only.allow_missing_weights = true;
  Diagnostics warnings;
  EXPECT_EQ(ops(parse_tensorflow(graph.build(), shapes_only, &warnings)), "MatMul Add");
  EXPECT_EQ(to_string(warnings.warnings().at(0)),
            "graph: 2 variables have no value in the file: random stand-ins are used");
}

// What exporters note as the output of a VarHandleOp is the handle.
TEST(TensorflowReader, VariablesBehindHandlesHaveTheirOwnShape) {
  const std::string handle = attribute("_output_shapes", bytes(1, bytes(7, "")));
  GraphDefText graph;
  graph.placeholder("x", {-1, 8, 8, 1});
  graph.node("w", "VarHandleOp", {},
             type_attribute("dtype", kFloat) + shape_attribute("shape", {3, 3, 1, 2}) + handle);
  graph.node("r", "ReadVariableOp", {"w"}, type_attribute("dtype", kFloat));
  graph.node("y", "Conv2D", {"x", "r"},
             string_attribute("padding", "SAME") + ints_attribute("strides", {1, 1, 1, 1}));
  TensorflowOptions options;
  options.fill_gain = 3;
  const Graph read = parse_tensorflow(graph.build(), options);
  EXPECT_EQ(read.value(read.outputs.at(0)).shape, (Shape{1, 8, 8, 2}));
}

TEST(TensorflowReader, NamesMustBeUtf8) {
  GraphDefText node = relu();
  node.node("z\xff", "Neg", {"y"});
  EXPECT_EQ(error_of(node.build()),
            "node 'z\\xff': its name is not UTF-8; rename it in the exporting program");
  GraphDefText op = relu();
  op.node("z", "N\xc3", {"y"}).node("\xed\xa0\x80", "Neg", {"y"});
  EXPECT_MENTIONS(error_of(op.build()), "operator 'N\\xc3': its name is not UTF-8");
  EXPECT_MENTIONS(error_of(op.build()), "node '\\xed\\xa0\\x80': its name is not UTF-8");
  GraphDefText fine;
  fine.placeholder("x", {1, 4})
      .node(
          "gr\xc3\xb6\xc3\x9f"
          "e",
          "Relu", {"x"});
  EXPECT_EQ(error_of(fine.build()), "no error");
}

TEST(TensorflowReader, BilinearResizingGivesFloats) {
  GraphDefText graph;
  graph.placeholder("x", {1, 1, 2, 1}, 4).ints("size", {2}, {1, 4}).floats("half", {}, {0.5f});  // DT_UINT8
  graph.node("big", "ResizeBilinear", {"x", "size"}).node("y", "Mul", {"big", "half"});
  const Graph read = parse_tensorflow(graph.build());
  EXPECT_EQ(read.value(read.outputs.at(0)).type, ElementType::kF32);
  EXPECT_EQ(read.value(read.outputs[0]).shape, (Shape{1, 1, 4, 1}));
  GraphDefText nearest;
  nearest.placeholder("x", {1, 1, 2, 1}, 4).ints("size", {2}, {1, 4});
  nearest.node("y", "ResizeNearestNeighbor", {"x", "size"});
  const Graph kept = parse_tensorflow(nearest.build());
  EXPECT_EQ(kept.value(kept.outputs.at(0)).type, ElementType::kU8);
}

TEST(TensorflowReader, VariablesThatCannotBeFilledAreNamed) {
  GraphDefText graph;
  graph.placeholder("x", {1, 4}).variable("odd", {4}).variable("huge", {1 << 20, 1 << 20});
  graph.node("p", "Pow", {"x", "odd/read"}).node("y", "Mul", {"p", "huge/read"});
  TensorflowOptions options;
  options.fill_gain = 1;
  const std::string message = error_of(graph.build(), options);
  EXPECT_MENTIONS(message, "node 'odd' (VariableV2): cannot be filled: nothing reads it as a float weight");
  EXPECT_MENTIONS(message, "node 'huge' (VariableV2): has no usable shape or type");
}

TEST(TensorflowReader, FunctionsArePutInPlace) {
  GraphDefText graph;
  graph.placeholder("x", {1, 4});
  graph.node("call", "PartitionedCall", {"x"}, attribute("f", bytes(10, bytes(1, "net"))));
  graph.node("y", "Tanh", {"call:1"});
  graph.function("inner", {"a"}, {node_text("n", "Neg", {"a"})}, {{"o", "n:y:0"}});
  graph.function("net", {"a"}, {node_text("r", "Relu", {"a"}), node_text("c", "inner", {"r:activations:0"})},
                 {{"first", "r:activations:0"}, {"second", "c:o:0"}});
  const Graph read = parse_tensorflow(graph.build());
  EXPECT_EQ(ops(read), "Relu Neg Tanh");
  EXPECT_EQ(read.nodes[1].name, "call/c/n");
  graph.node("bad", "StatefulPartitionedCall", {}, attribute("f", bytes(10, bytes(1, "net"))));
  EXPECT_MENTIONS(error_of(graph.build()), "node 'bad' gives 0 arguments to function 'net', which takes 1");
}

// Each output of a function that another one calls directly, also one called as an operator calls its second.
TEST(TensorflowReader, OutputsOfInnerCallsAreThoseOfTheirName) {
  const std::vector<std::pair<std::string, std::string>> results = {
      {"p", "n:y:0"}, {"indices", "r:activations:0"}, {"q", "t:y:0"}, {"output", "e:y:0"}};
  const std::vector<std::string> expected = {"Neg", "Relu", "Tanh", "Exp"};
  for (size_t i = 0; i < results.size(); ++i) {
    GraphDefText graph;
    graph.placeholder("x", {1, 4}).node("outer", "outer", {"x"}).node("y", "Abs", {"outer"});
    graph.function("four", {"a"},
                   {node_text("n", "Neg", {"a"}), node_text("r", "Relu", {"a"}),
                    node_text("t", "Tanh", {"a"}), node_text("e", "Exp", {"a"})},
                   results);
    graph.function("outer", {"a"}, {node_text("call", "four", {"a"})},
                   {{"o", "call:" + results[i].first + ":0"}});
    EXPECT_EQ(ops(parse_tensorflow(graph.build())), expected[i] + " Abs");
  }
  GraphDefText wrong;
  wrong.placeholder("x", {1, 4}).node("y", "outer", {"x"});
  wrong.function("one", {"a"}, {node_text("n", "Neg", {"a"})}, {{"p", "n:y:0"}});
  wrong.function("outer", {"a"}, {node_text("call", "one", {"a"})}, {{"o", "call:q:0"}});
  EXPECT_EQ(error_of(wrong.build()),
            "function 'outer' reads output 'q' of function 'one', which has none of that name");
}

// Names and whatever else is written again and again.
TEST(TensorflowReader, FunctionsMustNotExpandToFarMoreThanTheFile) {
  const auto called = [](const std::string& name, const std::string& body, int count) {
    GraphDefText graph;
    std::vector<std::string> nodes;
    for (int i = 0; i < count; ++i) nodes.push_back(node_text("n" + std::to_string(i), "Neg", {"a"}, body));
    graph.placeholder("x", {1, 4}).node(name, "f", {"x"}).node("z", "f", {name});
    return error_of(graph.function("f", {"a"}, nodes, {{"o", "n0:y:0"}}).build());
  };
  EXPECT_EQ(called("y", "", 500), "no error");
  EXPECT_MENTIONS(called(std::string(200000, 'y'), "", 500), "its functions expand to over ");
  EXPECT_EQ(called("y", string_attribute("note", std::string(1000, 'n')), 100), "no error");
  // One node with many inputs, which are all the same argument.
  GraphDefText wide;
  wide.placeholder(std::string(100000, 'x'), {1, 4}).node("y", "f", {std::string(100000, 'x')});
  wide.function("f", {"a"}, {node_text("n", "AddN", std::vector<std::string>(2000, "a"))}, {{"o", "n:y:0"}});
  EXPECT_MENTIONS(error_of(wide.build()), "its functions expand to over ");
}

TEST(TensorflowReader, FunctionsThatDoNotFitAreNamed) {
  const auto calling = [](const std::string& name) {
    GraphDefText graph;
    graph.placeholder("x", {1, 4});
    return graph.node("y", "PartitionedCall", {"x"}, attribute("f", bytes(10, bytes(1, name))));
  };
  EXPECT_MENTIONS(error_of(calling("lost").build()), "calls function 'lost', which is not in the file");
  GraphDefText loop = calling("f");
  loop.function("f", {"a"}, {node_text("again", "f", {"a"})}, {{"o", "again:o:0"}});
  EXPECT_MENTIONS(error_of(loop.build()), "its functions call each other over 32 levels deep");
  GraphDefText wide = calling("f");
  wide.function("f", {"a"}, {node_text("p", "f", {"a"}), node_text("q", "f", {"p:o:0"})}, {{"o", "q:o:0"}});
  EXPECT_MENTIONS(error_of(wide.build()), "its functions expand to over 200000 nodes");
  GraphDefText open = calling("f");
  open.library += bytes(1, bytes(1, bytes(1, "f") + bytes(2, bytes(1, "a")) + bytes(3, bytes(1, "o"))));
  EXPECT_MENTIONS(error_of(open.build()), "function 'f' does not return its output 'o'");
}

}  // namespace
}  // namespace tilewright
