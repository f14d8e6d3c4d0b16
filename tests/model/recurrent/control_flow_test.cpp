// Control flow, sequences, foreign operators and cuts of ONNX files: what they compute, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "model/recurrent/control_flow_networks.h"
#include "support/error_text_testing.h"
#include "support/frontend/model_builder_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

using namespace onnx_testing;

std::vector<float> results_of(const std::vector<std::byte>& file, const std::vector<Tensor>& inputs) {
  return run(parse_onnx(file), inputs)[0].to_floats();
}

std::string error_of(const ModelText& model) {
  return error_text([&] { parse_onnx(model.build()); });
}

Tensor numbers(std::initializer_list<float> values) {
  return Tensor::of<float>(Shape{int64_t(values.size())}, values);
}

// y = x + 10 if the initializer `c` is true, else 2 x.
ModelText branches(bool taken, bool constant = true) {
  ModelText yes, no, model;
  yes.node("add", "Add", {"x", "ten"}, {"y"}).output("y");
  no.node("double", "Add", {"x", "x"}, {"z"}).output("z");
  model.input("x", "3").output("r").initializer(floats("ten", {1}, {10}));
  if (constant) {
    model.initializer(tensor("c", 9, {}, std::string(1, char(taken))));
  } else {
    model.input("c", "1", 9);
  }
  model.node("choice", "If", {"c"}, {"r"},
             graph_attribute("then_branch", yes.graph()) + graph_attribute("else_branch", no.graph()));
  return model;
}

TEST(ControlFlow, IfTakesItsBranchOrChoosesBetweenBoth) {
  const Tensor x = numbers({1, 2, 3});
  EXPECT_EQ(results_of(branches(true).build(), {x}), (std::vector<float>{11, 12, 13}));
  EXPECT_EQ(results_of(branches(false).build(), {x}), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(parse_onnx(branches(true).build()).nodes.size(), 2u);  // the sum, and the name of the output
  Tensor condition(ElementType::kBool, {1});
  EXPECT_EQ(results_of(branches(true, false).build(), {x, condition}), (std::vector<float>{2, 4, 6}));
  condition.set_integer(0, 1);
  EXPECT_EQ(results_of(branches(true, false).build(), {x, condition}), (std::vector<float>{11, 12, 13}));
}

TEST(ControlFlow, LoopsOfKnownLengthAreUnrolled) {
  // a_(i+1) = a_i + x + i over 4 iterations, with every a as a scan output.
  const std::vector<float> all = results_of(loop_file(4), {numbers({1, -1})});
  std::vector<float> expected;
  float a[2] = {0, 0};
  for (int i = 0; i < 4; ++i) {
    a[0] += 1 + float(i);
    a[1] += -1 + float(i);
    expected.insert(expected.end(), {a[0], a[1]});
  }
  EXPECT_EQ(all, expected);
  const Graph graph = parse_onnx(loop_file(4));
  EXPECT_EQ(to_string(graph.value(graph.outputs[0]).shape), "4x2");
}

TEST(ControlFlow, ScansWalkInBothDirections) {
  for (const bool reverse : {false, true}) {
    ModelText body, model;
    body.input("sum", "2").input("row", "2").node("add", "Add", {"sum", "row"}, {"next"});
    body.node("copy", "Identity", {"next"}, {"seen"}).output("next").output("seen");
    model.input("x", "3x2").output("all").initializer(floats("zero", {2}, {0, 0}));
    model.node("walk", "Scan", {"zero", "x"}, {"last", "all"},
               graph_attribute("body", body.graph()) + int_attribute("num_scan_inputs", 1) +
                   ints_attribute("scan_input_directions", {reverse}) +
                   ints_attribute("scan_output_directions", {reverse}));
    const Tensor x = Tensor::of<float>({3, 2}, {1, 2, 10, 20, 100, 200});
    EXPECT_EQ(results_of(model.build(), {x}), reverse ? (std::vector<float>{111, 222, 110, 220, 100, 200})
                                                      : (std::vector<float>{1, 2, 11, 22, 111, 222}));
  }
}

TEST(ControlFlow, WhatCannotBeUnrolledIsRefusedWithAWayOut) {
  ModelText body, model;
  body.input("i", "", 7)
      .input("c", "", 9)
      .input("a", "2")
      .node("n", "Add", {"a", "a"}, {"b"})
      .output("c", "", 9)
      .output("b");
  model.input("x", "2").input("count", "", 7).output("y");
  model.node("loop", "Loop", {"count", "", "x"}, {"y"}, graph_attribute("body", body.graph()));
  EXPECT_EQ(error_of(model),
            "node 'loop' (Loop): its number of iterations depends on the data; export the model with a loop "
            "of fixed length");
  ModelText inner;
  inner.node("bad", "Unique", {"x"}, {"y"}).output("y");
  ModelText nested;
  nested.input("x", "3").output("r").initializer(tensor("c", 9, {}, std::string(1, '\1')));
  nested.node("choice", "If", {"c"}, {"r"},
              graph_attribute("then_branch", inner.graph()) + graph_attribute("else_branch", inner.graph()));
  EXPECT_EQ(error_of(nested),
            "node 'bad' (Unique): operator is not supported; the size of its output depends on the data: end "
            "the network before it (--output-node) and select on the host");
  ModelText shapes = branches(true, false);
  ModelText yes, no;
  yes.node("cut", "Concat", {"x", "x"}, {"y"}, int_attribute("axis", 0)).output("y");
  no.node("copy", "Identity", {"x"}, {"y"}).output("y");
  ModelText different;
  different.input("x", "3").input("c", "1", 9).output("r");
  different.node("choice", "If", {"c"}, {"r"},
                 graph_attribute("then_branch", yes.graph()) + graph_attribute("else_branch", no.graph()));
  EXPECT_EQ(error_of(different),
            "node 'choice' (If): its condition depends on the data, and its branches give results of "
            "different shapes; fix the condition when the model is exported");
  EXPECT_EQ(
      error_text([] { parse_onnx(loop_file(1000000)); }),
      "node 'loop' (Loop): has more than 4096 iterations; export the model with a loop of fixed length");
  ModelText missing;
  missing.input("x", "3").output("r").node("n", "If", {"x"}, {"r"});
  EXPECT_EQ(error_of(missing),
            "2 problems\n  node 'n' (If): has no graph in attribute 'then_branch'\n"
            "  node 'n' (If): has no graph in attribute 'else_branch'");
}

TEST(ControlFlow, SequencesLeaveTensorsAlone) {
  // x [2, 5] split into parts of 2 along axis 1; the last two, and x itself, joined again.
  const std::vector<float> joined =
      results_of(sequence_file(), {Tensor::of<float>({2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})});
  EXPECT_EQ(joined, (std::vector<float>{2, 3, 4, 0, 1, 2, 3, 4, 7, 8, 9, 5, 6, 7, 8, 9}));
  ModelText model;
  model.input("x", "4")
      .output("y")
      .node("list", "SequenceConstruct", {"x", "x"}, {"l"})
      .node("sum", "Relu", {"l"}, {"y"});
  EXPECT_EQ(error_of(model), "node 'sum' (Relu): reads 'l', which is a sequence and not a tensor");
  ModelText position;
  position.input("x", "4").output("y").initializer(tensor("p", 7, {}, raw(std::vector<int64_t>{2})));
  position.node("list", "SequenceConstruct", {"x", "x"}, {"l"}).node("at", "SequenceAt", {"l", "p"}, {"y"});
  EXPECT_EQ(error_of(position), "node 'at' (SequenceAt): has the position 2 in a sequence of 2");
  ModelText output;
  output.input("x", "4").output("l").node("list", "SequenceConstruct", {"x", "x"}, {"l"});
  EXPECT_EQ(
      error_of(output),
      "output 'l': is a sequence; end the network with the tensors in it (SequenceAt, ConcatFromSequence)");
}

TEST(Microsoft, OperatorsOnQuantisedNumbersFollowTheirFormula) {
  const auto quantized = [](double x, double scale, int zero) {
    return std::clamp(std::nearbyint(x / scale) + zero, 0.0, 255.0);
  };
  Tensor a(ElementType::kU8, {1, 2, 2, 2}), b = a;
  for (int64_t i = 0; i < a.size(); ++i) {
    a.set_integer(i, 17 * i + 3);
    b.set_integer(i, 250 - 31 * i);
  }
  const std::vector<Tensor> outputs = run(parse_onnx(microsoft_file()), {a, b});
  ASSERT_EQ(outputs.size(), 6u);
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = 0.1 * double(a.integer_at(i) - 10), y = 0.2 * double(b.integer_at(i) - 120);
    EXPECT_EQ(outputs[0].integer_at(i), quantized(x + y, 0.25, 100)) << i;
    EXPECT_EQ(outputs[1].integer_at(i), quantized(x * y, 0.25, 100)) << i;
    EXPECT_EQ(outputs[2].integer_at(i), quantized(1 / (1 + std::exp(-x)), 1.0 / 256, 0)) << i;
    EXPECT_EQ(outputs[3].integer_at(i), quantized(y < 0 ? 0.1 * y : y, 0.25, 100)) << i;
  }
  EXPECT_EQ(to_string(outputs[4].shape()), "1x4x2x2");
  EXPECT_EQ(outputs[4].integer_at(0), quantized(0.1 * double(a.integer_at(0) - 10), 0.25, 100));
  EXPECT_EQ(outputs[4].integer_at(8), quantized(0.2 * double(b.integer_at(0) - 120), 0.25, 100));
  double mean = 0;
  for (int64_t i = 0; i < 4; ++i) mean += 0.1 * double(a.integer_at(i) - 10) / 4;
  EXPECT_EQ(outputs[5].integer_at(0), quantized(mean, 0.25, 100));
}

TEST(Microsoft, OthersAreRefusedByNameWithAWayOut) {
  ModelText model;
  model.input("x", "1x4x8").output("y").node("attention", "QAttention", {"x"}, {"y"}, "", "com.microsoft");
  EXPECT_EQ(
      error_of(model),
      "node 'attention' (QAttention): operator of domain 'com.microsoft' is not supported; export the float "
      "model without ONNX Runtime's graph optimisations, and quantise it with 'tilewright quantize'");
  ModelText incomplete;
  incomplete.input("x", "4", 2).output("y").node("sum", "QLinearAdd", {"x"}, {"y"}, "", "com.microsoft");
  EXPECT_EQ(error_of(incomplete),
            "3 problems\n  node 'sum' (QLinearAdd): input 1 is missing\n"
            "  node 'sum' (QLinearAdd): input 3 is missing\n  node 'sum' (QLinearAdd): input 6 is missing");
}

TEST(FirstOpsets, ScalersAndCropsOfExportedPictureNetworks) {
  ModelText model;
  model.opset = 1;
  model.input("x", "1x2x3x3").output("y");
  model.node("scale", "ImageScaler", {"x"}, {"s"},
             float_attribute("scale", 2) + floats_attribute("bias", {1, -1}));
  model.node("cut", "Crop", {"s"}, {"y"}, ints_attribute("border", {1, 0, 0, 2}));
  Tensor x(ElementType::kF32, {1, 2, 3, 3});
  for (int64_t i = 0; i < 18; ++i) x.set_number(i, double(i));
  EXPECT_EQ(results_of(model.build(), {x}), (std::vector<float>{3, 5, 19, 21}));
}

TEST(OutputNodes, CutTheNetworkBeforeWhatCannotRun) {
  ModelText model;
  model.input("x", "4").input("other", "4").output("picked");
  model.node("relu", "Relu", {"x"}, {"r"})
      .node("pick", "Unique", {"r"}, {"picked"})
      .node("loose", "Neg", {"other"}, {"n"});
  OnnxOptions options;
  options.outputs = {"relu"};
  const Graph graph = parse_onnx(model.build(), {}, options);
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "r");
  options.outputs = {"nothing"};
  EXPECT_EQ(error_text([&] {
              parse_onnx(model.build(), {}, options);
            }).find("output 'nothing': is neither a node nor what a node computes"),
            13u);
}

TEST(TreeEnsembles, SumTheLeavesThatTheirDefinitionReaches) {
  const float nan = std::nanf("");
  const std::vector<std::vector<float>> samples = {{0.3f, -0.8f}, {-0.5f, nan}, {0.9f, 0.1f}};
  const Tensor x = Tensor::of<float>({3, 2}, {0.3f, -0.8f, -0.5f, nan, 0.9f, 0.1f});
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Forest regressor{.trees = 4, .seed = seed};
    const auto sums = forest_sums(regressor, samples);
    const std::vector<float> y = results_of(forest_file(regressor), {x});
    for (size_t i = 0; i < 6; ++i) ASSERT_NEAR(y[i], sums[i / 2][i % 2], 1e-5);
    const Forest classifier{.trees = 4, .classes = 3, .seed = seed};
    const auto scores = forest_sums(classifier, samples);
    const std::vector<Tensor> found = run(parse_onnx(forest_file(classifier)), {x});
    for (size_t i = 0; i < 3; ++i) {
      const auto best = std::max_element(scores[i].begin(), scores[i].end()) - scores[i].begin();
      ASSERT_EQ(found[0].integer_at(int64_t(i)), 10 * (best + 1));
      for (size_t k = 0; k < 3; ++k) ASSERT_NEAR(found[1].number_at(int64_t(3 * i + k)), scores[i][k], 1e-5);
    }
    const Forest boosted{.trees = 4, .classes = 2, .transform = "LOGISTIC", .seed = seed};
    const auto margins = forest_sums(boosted, samples);
    const std::vector<Tensor> binary = run(parse_onnx(forest_file(boosted)), {x});
    for (size_t i = 0; i < 3; ++i) {
      const double margin = margins[i][1];
      ASSERT_EQ(binary[0].integer_at(int64_t(i)), margin > 0 ? 20 : 10);
      ASSERT_NEAR(binary[1].number_at(int64_t(2 * i + 1)), 1 / (1 + std::exp(-margin)), 1e-5);
      ASSERT_NEAR(binary[1].number_at(int64_t(2 * i)), 1 / (1 + std::exp(margin)), 1e-5);
    }
  }
}

TEST(TreeEnsembles, DamagedOnesAreRefused) {
  const auto refused = [](const std::string& attributes) {
    ModelText model;
    model.input("x", "3x2")
        .output("y")
        .node("trees", "TreeEnsembleRegressor", {"x"}, {"y"}, attributes, "ai.onnx.ml");
    return error_of(model);
  };
  const auto nodes = [](std::vector<int64_t> ids, std::vector<int64_t> yes, std::vector<int64_t> no,
                        std::vector<std::string> modes, int64_t feature = 0) {
    const size_t count = ids.size();
    return ints_attribute("nodes_treeids", std::vector<int64_t>(count)) +
           ints_attribute("nodes_nodeids", ids) + ints_attribute("nodes_truenodeids", yes) +
           ints_attribute("nodes_falsenodeids", no) + strings_attribute("nodes_modes", modes) +
           ints_attribute("nodes_featureids", std::vector<int64_t>(count, feature)) +
           floats_attribute("nodes_values", std::vector<float>(count));
  };
  const std::string where = "node 'trees' (TreeEnsembleRegressor): ";
  EXPECT_EQ(refused(""), where + "its lists of nodes have different lengths, or none");
  EXPECT_EQ(refused(nodes({0, 0}, {0, 0}, {0, 0}, {"LEAF", "LEAF"})), where + "has node 0 of tree 0 twice");
  EXPECT_EQ(refused(nodes({0, 1}, {1, 0}, {5, 0}, {"BRANCH_LEQ", "LEAF"})),
            where + "node 0 of tree 0 has a child that does not exist");
  EXPECT_EQ(refused(nodes({0, 1, 2}, {1, 0, 0}, {2, 0, 0}, {"BRANCH_LEQ", "LEAF", "LEAF"}, 7)),
            where + "node 0 of tree 0 reads feature 7 of 2");
  // Two nodes that are each other's child: there is no root.
  EXPECT_EQ(refused(nodes({0, 1}, {1, 0}, {1, 0}, {"BRANCH_LEQ", "BRANCH_LEQ"})),
            where + "has a node with two parents");
  EXPECT_EQ(refused(nodes({0}, {0}, {0}, {"LEAF"})),
            where + "its lists of weights have different lengths, or none");
}

}  // namespace
}  // namespace tilewright
