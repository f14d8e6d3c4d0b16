#include "tilewright/overlay/program/program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewright::overlay {
namespace {

// x -> requantize -> y.
Graph small_graph() {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, 20, 3, 3});
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, 20, 3, 3});
  Node& node = graph.add_node("halve", "QRequantize", {x}, {y}, kTilewrightDomain);
  node.attributes["shift"] = int64_t{1};
  graph.outputs = {y};
  return graph;
}

const NodeId kFirst[] = {0};

std::string message_of(auto&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Program, InputsAreChecked) {
  const Graph graph = small_graph();
  OverlayProgram program = compile_overlay(graph, kFirst, {});
  FunctionalSimulator simulator({});
  EXPECT_NE(message_of([&] {
              run_overlay(program, {}, simulator);
            }).find("input 'x' of the overlay program is missing"),
            std::string::npos);
  const std::string wrong = message_of([&] {
    run_overlay(program, {{graph.inputs[0], Tensor(ElementType::kI8, Shape{1, 20, 3, 4})}}, simulator);
  });
  EXPECT_NE(wrong.find("i8[1x20x3x4], not i8[1x20x3x3]"), std::string::npos) << wrong;
}

TEST(Program, SchedulesThatDoNotFitAreAllReported) {
  const Graph graph = small_graph();
  Schedule schedule{1, 3, 3, 2, 1};
  schedule.virtual_threads = 7;
  schedule.rows = 0;
  const std::string text = message_of([&] { compile_overlay(graph, kFirst, {}, {{"halve", schedule}}); });
  EXPECT_NE(text.find("0 is not positive"), std::string::npos) << text;
  EXPECT_NE(text.find("7 is neither 1 nor 2"), std::string::npos) << text;
}

TEST(Program, TensorsBeyondTheAddressableMemoryAreInfeasible) {
  Graph graph = small_graph();
  for (Value& value : graph.values) value.shape = Shape{1, 16, 1 << 18, 1 << 15};
  try {
    compile_overlay(graph, kFirst, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    EXPECT_NE(std::string(error.what()).find("alone needs 137438953472 bytes of memory"), std::string::npos)
        << error.what();
  }
}

TEST(Program, MemoryIsBounded) {
  OverlayHardware hardware;
  hardware.dram_bytes = 4096;
  const std::string text = message_of([&] { compile_overlay(small_graph(), kFirst, hardware); });
  EXPECT_NE(text.find("bytes of memory"), std::string::npos) << text;
}

TEST(Program, UnsupportedNodesAreNamed) {
  Graph graph = small_graph();
  graph.nodes[0].op = "QSoftmax";
  const std::string text = message_of([&] { compile_overlay(graph, kFirst, {}); });
  EXPECT_NE(text.find("node 'halve'"), std::string::npos) << text;
  EXPECT_NE(text.find("no lowering for QSoftmax"), std::string::npos) << text;
}

TEST(Program, LongRowsRunOnThePlainInstructions) {
  // One row of 70,000 positions, with padding at both ends: longer than a row stride could say.
  Graph graph;
  const int64_t width = 70000;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, 1, 1, width});
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, 1, 1, width});
  Node& node = graph.add_node("pool", "MaxPool", {x}, {y});
  node.attributes["kernel_shape"] = std::vector<int64_t>{1, 3};
  node.attributes["pads"] = std::vector<int64_t>{0, 1, 0, 1};
  graph.outputs = {y};
  OverlayProgram program = compile_overlay(graph, kFirst, {});
  FunctionalSimulator simulator({});
  Tensor row(ElementType::kI8, Shape{1, 1, 1, width});
  for (int64_t i = 0; i < width; ++i) row.set_integer(i, i * 37 % 251 - 125);
  const Tensor out = run_overlay(program, {{x, row}}, simulator).at(y);
  for (int64_t i = 0; i < width; ++i) {
    int64_t expected = row.integer_at(i);
    if (i > 0) expected = std::max(expected, row.integer_at(i - 1));
    if (i + 1 < width) expected = std::max(expected, row.integer_at(i + 1));
    ASSERT_EQ(out.integer_at(i), expected) << i;
  }
}

TEST(Program, ReportSaysWhatWasEmitted) {
  const Graph graph = small_graph();
  const OverlayProgram program = compile_overlay(graph, kFirst, {});
  ASSERT_EQ(program.layers.size(), 1u);
  EXPECT_EQ(program.layers[0].name, "halve");
  EXPECT_EQ(program.instruction_bytes().size(), program.instruction_count * 16);
  EXPECT_GT(program.layers[0].instructions, 0u);
  EXPECT_LE(program.layers[0].instructions, program.instruction_count);
  EXPECT_EQ(program.inputs.size(), 1u);
  EXPECT_EQ(program.outputs.size(), 1u);
  EXPECT_NE(program.inputs[0].address, program.outputs[0].address);
}

}  // namespace
}  // namespace tilewright::overlay
