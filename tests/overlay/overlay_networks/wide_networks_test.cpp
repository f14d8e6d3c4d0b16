// Networks of 16-bit activations on the overlay: what one layer stores as planes the next one reads, on the
// functional and on the cycle simulator, bit for bit as on the host.
#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program/program_engine.h"
#include "tilewright/overlay/referee/checker.h"

namespace tilewright::overlay_networks {
namespace {

class WideNetwork {
 public:
  explicit WideNetwork(uint64_t seed) : random_(seed) {}

  // Convolutions, depthwise ones, pools and copies of 16 and at times 8 bits; then all of the image at once.
  Graph build() {
    ValueId x = graph_.add_input(
        "x", type(0.8),
        {random_.between(1, 2), random_.between(1, 20), random_.between(7, 10), random_.between(11, 14)});
    for (int64_t layers = random_.between(2, 4); layers > 0; --layers) x = layer(x);
    x = dense(flattened(x));
    graph_.outputs = {x};
    return std::move(graph_);
  }

 private:
  ElementType type(double wide) { return random_.chance(wide) ? ElementType::kI16 : ElementType::kI8; }

  ValueId constant(ElementType type, Shape shape, int64_t low, int64_t high) {
    Tensor tensor(type, std::move(shape));
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random_.between(low, high));
    return graph_.add_constant("c", std::move(tensor));
  }

  // The sum of `terms` products, brought to the width of y.
  int64_t shift(ValueId x, ElementType y, int64_t terms, int64_t weight_bits) {
    const int64_t width = bit_width(graph_.value(x).type) + weight_bits - 1 - bit_width(y);
    int64_t bits = 31 + width;
    for (; terms > 4; terms /= 4) ++bits;
    return std::max<int64_t>(bits, 32);
  }

  Attributes output(ElementType type) {
    Attributes attributes{{"y_zero_point", random_.between(-50, 50)}};
    if (type == ElementType::kI16) attributes["output_bits"] = int64_t{16};
    if (random_.chance(0.3)) attributes["clip_low"] = int64_t{0};
    return attributes;
  }

  ValueId emit(const std::string& op, std::vector<ValueId> inputs, ElementType type, Shape shape,
               Attributes attributes) {
    const ValueId y = graph_.add_value("v", type, std::move(shape));
    attributes.merge(output(type));
    graph_.add_node(op + std::to_string(graph_.nodes.size()), op, std::move(inputs), {y}, kTilewrightDomain)
        .attributes = std::move(attributes);
    return y;
  }

  ValueId layer(ValueId x) {
    const Shape shape = graph_.value(x).shape;
    const ElementType y = type(0.7);
    const int64_t kind = random_.between(0, 3), channels = shape[1];
    if (kind == 2) {
      return emit("QAveragePool", {x}, y, {shape[0], channels, shape[2] - 1, shape[3] - 2},
                  {{"kernel_shape", std::vector<int64_t>{2, 3}},
                   {"bias", random_.between(-100, 100)},
                   {"multiplier", random_.between(1 << 30, INT32_MAX)},
                   {"shift", shift(x, y, 6, 1)}});
    }
    if (kind == 3) {
      return emit("QRequantize", {x}, y, shape,
                  {{"bias", random_.between(-100, 100)},
                   {"multiplier", random_.between(1 << 30, INT32_MAX)},
                   {"shift", shift(x, y, 1, 1)}});
    }
    const int64_t group = kind == 1 ? channels : 1, outputs = kind == 1 ? channels : random_.between(1, 40);
    const int64_t kernel = random_.between(1, 3), terms = channels / group * kernel * kernel;
    const int64_t pad = random_.chance(0.5) ? kernel / 2 : 0;
    const bool twice = random_.chance(0.3);
    const int64_t by = shift(x, y, terms, 8) + (twice ? 64 : 0);
    return emit("QConv",
                {x, constant(ElementType::kI8, {outputs, channels / group, kernel, kernel}, -128, 127),
                 constant(ElementType::kI32, {outputs}, -3000, 3000),
                 constant(ElementType::kI32, {outputs}, 1 << 30, INT32_MAX),
                 constant(ElementType::kI32, {outputs}, by, by + 1)},
                y, {shape[0], outputs, shape[2] + 2 * pad - kernel + 1, shape[3] + 2 * pad - kernel + 1},
                {{"group", group},
                 {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                 {"pad_value", random_.between(-100, 100)}});
  }

  ValueId flattened(ValueId x) {
    const Shape shape = graph_.value(x).shape;
    const ValueId y =
        graph_.add_value("flat", graph_.value(x).type, {shape[0], shape.count(1, shape.rank())});
    graph_.add_node("flatten", "Flatten", {x}, {y});
    return y;
  }

  ValueId dense(ValueId x) {
    const Shape shape = graph_.value(x).shape;
    const ElementType y = type(0.7);
    const int64_t outputs = random_.between(1, 20), by = shift(x, y, shape[1], 8);
    return emit(
        "QGemm",
        {x, constant(ElementType::kI8, {outputs, shape[1]}, -128, 127),
         constant(ElementType::kI32, {outputs}, -3000, 3000),
         constant(ElementType::kI32, {1}, 1 << 30, INT32_MAX), constant(ElementType::kI32, {1}, by, by + 1)},
        y, {shape[0], outputs}, {});
  }

  Random random_;
  Graph graph_;
};

Tensor random_image(Random& random, const Value& value) {
  Tensor tensor(value.type, value.shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set_integer(i, random.between(lowest(value.type), highest(value.type)));
  return tensor;
}

void expect_program_like_host(const Graph& graph, const OverlayHardware& hardware, uint64_t seed) {
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) nodes.push_back(NodeId(i));
  overlay::OverlayProgram program = overlay::compile_overlay(graph, nodes, hardware);
  Diagnostics diagnostics;
  const auto uops = std::span(program.memory).subspan(program.uop_address, program.uop_bytes);
  overlay::check_program(
      hardware, {program.instruction_bytes(), uops, program.uop_address, program.memory.size()}, diagnostics);
  for (const Diagnostic& problem : diagnostics.errors()) ADD_FAILURE() << to_string(problem);
  Random random(seed);
  const Tensor x = random_image(random, graph.value(graph.inputs[0]));
  const Tensor expected = Executor(graph).run({x})[0];
  for (const auto kind : {overlay::ProgramEngineKind::kFunctional, overlay::ProgramEngineKind::kCycle}) {
    overlay::ProgramEngineOptions options;
    options.kind = kind;
    const auto engine = overlay::make_program_engine(hardware, options);
    const Tensor actual =
        overlay::run_overlay(program, {{graph.inputs[0], x}}, *engine, nullptr).at(graph.outputs[0]);
    ASSERT_TRUE(actual.identical(expected)) << to_string(actual.type(), actual.shape());
  }
}

TEST(WideNetworks, BitIdenticalToTheHost) {
  constexpr const char* kFiles[] = {"overlay-16x16", "overlay-4x16x16", "overlay-8x8", "overlay-tiny"};
  int compared = 0;
  for (uint64_t seed = 1; seed <= 48; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OverlayHardware hardware = read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") +
                                                           kFiles[seed % std::size(kFiles)] + ".yaml");
    try {
      expect_program_like_host(WideNetwork(seed).build(), hardware, seed);
      ++compared;
    } catch (const Error& error) {
      // All inputs of an output must be there at once, which the smallest scratchpads have no room for.
      ASSERT_EQ(error.kind(), ErrorKind::kInfeasible) << error.what();
    }
  }
  EXPECT_GE(compared, 30);
}

}  // namespace
}  // namespace tilewright::overlay_networks
