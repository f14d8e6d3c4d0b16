#include "tilewright/overlay/program/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"

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
  EXPECT_NE(text.find("no row functions"), std::string::npos) << text;
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

Tensor random_tensor(Random& random, ElementType type, const Shape& shape, int64_t low, int64_t high) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

// A QConv of `weights`, its result shifted by `shifts`.
ValueId add_conv(Graph& graph, ValueId x, Tensor weights, Tensor shifts, int64_t pad) {
  const auto constant = [&](Tensor tensor) {
    return graph.add_constant(fmt::format("c{}", graph.values.size()), std::move(tensor));
  };
  const Shape from = graph.value(x).shape, kernel = weights.shape();
  const Shape to{1, kernel[0], from[2] + 2 * pad - kernel[2] + 1, from[3] + 2 * pad - kernel[3] + 1};
  const std::string name = fmt::format("conv{}", graph.nodes.size());
  const std::vector<ValueId> inputs = {x, constant(std::move(weights)),
                                       constant(Tensor(ElementType::kI32, Shape{kernel[0]})),
                                       constant(Tensor::of<int32_t>({1}, {1})), constant(std::move(shifts))};
  const ValueId y = graph.add_value(name, ElementType::kI8, to);
  graph.add_node(name, "QConv", inputs, {y}, kTilewrightDomain).attributes["pads"] =
      std::vector<int64_t>(4, pad);
  return y;
}

// Runs all nodes of a graph of one input and one output, and compares with the host.
void expect_as_on_the_host(const Graph& graph, const OverlayHardware& hardware, Random& random,
                           const std::map<std::string, Schedule>& schedules = {}) {
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) nodes.push_back(NodeId(n));
  const Tensor x = random_tensor(random, ElementType::kI8, graph.value(graph.inputs[0]).shape, -128, 127);
  OverlayProgram program = compile_overlay(graph, nodes, hardware, schedules);
  FunctionalSimulator simulator(hardware);
  const Tensor y = run_overlay(program, {{graph.inputs[0], x}}, simulator).at(graph.outputs[0]);
  EXPECT_TRUE(y.identical(tilewright::Executor(graph).run({x})[0]));
}

// Layers of the same sizes share a schedule only where the parameters of both fit beside it: shifts that
// differ by channel take more of them.
void expect_shared_schedules_fit(int64_t channels, int64_t height, int64_t depth, Random& random) {
  OverlayHardware hardware;
  hardware.accumulator_buffer_bytes = depth * hardware.accumulator_bytes();
  Graph graph;
  ValueId y = graph.add_input("x", ElementType::kI8, {1, channels, height, 6});
  for (int layer = 0; layer < 2; ++layer) {
    Tensor shifts(ElementType::kI32, {channels});
    for (int64_t c = 0; c < channels; ++c) shifts.set_integer(c, layer == 0 ? 8 : 6 + c % 2 * 12);
    y = add_conv(graph, y, random_tensor(random, ElementType::kI8, {channels, channels, 3, 3}, -9, 9),
                 std::move(shifts), 1);
  }
  graph.outputs = {y};
  expect_as_on_the_host(graph, hardware, random);
}

TEST(Program, SharedSchedulesFitEveryLayer) {
  Random random(2);
  expect_shared_schedules_fit(32, 5, 64, random);
}

TEST(ProgramClass, SharedSchedulesFitEveryLayer) {
  const int64_t cases = test_cases(24);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    expect_shared_schedules_fit(16 * random.between(1, 2), random.between(2, 8), 32 << random.between(0, 2),
                                random);
  }
}

// 65,792 weights of one block, more than a LOAD can count.
TEST(Program, WeightsOfManyLoadsRun) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  hardware.block_in = hardware.block_out = 4;
  hardware.weight_buffer_bytes = 1 << 21;
  hardware.input_buffer_bytes = 1 << 19;
  hardware.uop_buffer_bytes = 1 << 14;
  Random random(3);
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, {1, 1, 257, 256});
  graph.outputs = {add_conv(graph, x, random_tensor(random, ElementType::kI8, {1, 1, 257, 256}, -9, 9),
                            Tensor::of<int32_t>({1}, {12}), 0)};
  expect_as_on_the_host(graph, hardware, random, {{"conv0", {1, 1, 1, 1, 1}}});
}

// Rows and columns of tiles that are longer than a field of LOAD and STORE, with padding and without.
TEST(Program, TilesOfManyTransfersRun) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  hardware.block_in = hardware.block_out = 2;
  hardware.weight_buffer_bytes = 1 << 10;
  hardware.input_buffer_bytes = 1 << 19;
  hardware.accumulator_buffer_bytes = 1 << 21;
  hardware.uop_buffer_bytes = 1 << 12;
  Random random(4);
  for (const bool tall : {false, true}) {
    for (const int64_t pad : {0, 1}) {
      SCOPED_TRACE(::testing::Message() << "tall " << tall << ", pad " << pad);
      const int64_t length = 66000;
      Graph graph;
      const ValueId x =
          graph.add_input("x", ElementType::kI8, tall ? Shape{1, 2, length, 3} : Shape{1, 2, 3, length});
      graph.outputs = {add_conv(graph, x, random_tensor(random, ElementType::kI8, {2, 2, 3, 3}, -9, 9),
                                Tensor::of<int32_t>({1}, {6}), pad)};
      const int64_t rows = tall ? 65700 : 1, cols = tall ? 1 : 65700;
      Schedule schedule{1, rows, cols, 1, 1};
      schedule.virtual_threads = 1;
      expect_as_on_the_host(graph, hardware, random, {{"conv0", schedule}});
    }
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
