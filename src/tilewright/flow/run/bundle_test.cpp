#include "tilewright/flow/run/bundle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tilewright/flow/model/container.h"
#include "tilewright/flow/run/engine.h"

namespace tilewright {
namespace {

// x i8 -> QConv 3x3 -> y, then a Softmax-free host operator.
Graph small_integer_graph() {
  Graph graph;
  graph.name = "small";
  const ValueId x = graph.add_input("x", ElementType::kI8, {1, 16, 8, 8});
  Tensor weights(ElementType::kI8, {16, 16, 3, 3});
  for (int64_t i = 0; i < weights.size(); ++i) weights.set_integer(i, i * 37 % 255 - 127);
  const ValueId w = graph.add_constant("w", std::move(weights));
  const ValueId b = graph.add_constant("b", Tensor(ElementType::kI32, {16}));
  const ValueId m = graph.add_constant("m", Tensor::of<int32_t>({1}, {1}));
  const ValueId s = graph.add_constant("s", Tensor::of<int32_t>({1}, {9}));
  const ValueId y = graph.add_value("y", ElementType::kI8, {1, 16, 8, 8});
  Node& conv = graph.add_node("conv", "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
  conv.attributes["strides"] = std::vector<int64_t>{1, 1};
  conv.attributes["pads"] = std::vector<int64_t>{1, 1, 1, 1};
  const ValueId t = graph.add_value("t", ElementType::kI8, {1, 8, 8, 16});
  graph.add_node("transpose", "Transpose", {y}, {t}).attributes["perm"] = std::vector<int64_t>{0, 2, 3, 1};
  graph.outputs = {t};
  return graph;
}

OverlayHardware wide() {
  OverlayHardware hardware;
  hardware.name = "wide";
  hardware.isa = IsaVersion::kWide;
  return hardware;
}

std::string error_of(const std::vector<std::byte>& bytes) {
  try {
    parse_bundle(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Bundle, RoundTripsAndRunsBitIdentically) {
  Compilation compilation = compile(small_integer_graph(), wide());
  compilation.bundle.meanings = {{"y", "conv_out", 0.25, -3}};
  const Bundle bundle = parse_bundle(format_bundle(compilation.bundle));
  EXPECT_EQ(bundle.hardware, compilation.bundle.hardware);
  EXPECT_EQ(bundle.nodes, compilation.bundle.nodes);
  EXPECT_EQ(bundle.schedules, compilation.bundle.schedules);
  EXPECT_EQ(bundle.meanings, compilation.bundle.meanings);
  ASSERT_EQ(bundle.nodes[0].target, kOverlay) << bundle.nodes[0].reason;
  EXPECT_TRUE(bundle.nodes[1].on_host());
  Tensor input(ElementType::kI8, {1, 16, 8, 8});
  for (int64_t i = 0; i < input.size(); ++i) input.set_integer(i, i * 91 % 256 - 128);
  Session functional(std::make_shared<const Engine>(bundle, Execution::kAsPlaced));
  Session host(std::make_shared<const Engine>(bundle, Execution::kOnHost));
  EXPECT_TRUE(functional.run({input})[0].identical(host.run({input})[0]));
  EXPECT_GT(functional.counters().gemm_uops, 0u);
  EXPECT_THROW(functional.run({}), Error);
  EXPECT_THROW(functional.run({Tensor(ElementType::kI8, {1, 16, 8, 7})}), Error);
}

TEST(Bundle, RetargetsToAnotherOverlay) {
  const Bundle bundle = compile(small_integer_graph(), wide()).bundle;
  OverlayHardware plain;
  plain.name = "plain";
  const Bundle moved = retarget(bundle, plain);
  EXPECT_EQ(moved.hardware, plain);
  EXPECT_EQ(moved.schedules, compile(small_integer_graph(), plain).bundle.schedules);
  EXPECT_FALSE(moved.nodes[0].on_host());
  // What does not fit the other overlay moves to the host.
  OverlayHardware small = wide();
  small.name = "small";
  small.accumulator_buffer_bytes = 2 * small.accumulator_bytes();
  small.weight_buffer_bytes = 2 * small.weight_bytes();
  const Bundle hosted = retarget(bundle, small);
  EXPECT_TRUE(hosted.nodes[0].on_host());
  EXPECT_NE(hosted.nodes[0].reason.find("its smallest tile does not fit"), std::string::npos)
      << hosted.nodes[0].reason;
  EXPECT_EQ(hosted.nodes, compile(small_integer_graph(), small).bundle.nodes);
  // What the host was given stays there: the overlay would be slower.
  Bundle on_host = bundle;
  on_host.nodes[0] = {kHost, "slower there"};
  on_host.schedules.clear();
  EXPECT_EQ(retarget(on_host, plain).nodes, on_host.nodes);
  OverlayHardware impossible = plain;
  impossible.batch = 3;
  EXPECT_THROW(retarget(bundle, impossible), Error);
}

// A view of what lies on the host has nothing to show on the overlay, by whatever operator it is spelled: of
// an input, of a layer that is too large for the overlay, of another view.
TEST(Bundle, ViewsOfTheHostsDataStayThere) {
  OverlayHardware small = wide();
  small.accumulator_buffer_bytes = 2 * small.accumulator_bytes();
  small.weight_buffer_bytes = 2 * small.weight_bytes();
  for (const char* op : {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}) {
    SCOPED_TRACE(op);
    Graph graph = small_integer_graph();
    graph.nodes.pop_back();
    const bool flat = std::string(op) == "Flatten", wider = std::string(op) == "Unsqueeze";
    const auto view = [&](ValueId from) {
      const std::vector<int64_t> source = graph.value(from).shape.dims();
      std::vector<int64_t> shape = source;
      if (wider) shape.push_back(1);
      if (!wider) shape = {source[0], graph.value(from).shape.element_count() / source[0]};
      std::vector<ValueId> inputs = {from};
      const auto add = [&](std::vector<int64_t> numbers) {
        const auto count = int64_t(numbers.size());
        inputs.push_back(graph.add_constant(fmt::format("c{}", graph.values.size()),
                                            Tensor(Shape{count}, std::span<const int64_t>(numbers))));
      };
      if (std::string(op) == "Reshape") add(shape);
      if (wider) add({int64_t(source.size())});
      if (std::string(op) == "Squeeze") add({2, 3});
      const ValueId to =
          graph.add_value(fmt::format("v{}", graph.values.size()), ElementType::kI8, Shape(shape));
      Node& node = graph.add_node(fmt::format("view{}", graph.nodes.size()), op, inputs, {to});
      if (flat) node.attributes["axis"] = int64_t{1};
      return to;
    };
    const ValueId x = graph.add_input("e", ElementType::kI8, wider ? Shape{1, 16, 1} : Shape{1, 16, 1, 1});
    graph.outputs = {view(x), graph.nodes[0].outputs[0]};
    if (flat || std::string(op) == "Reshape") graph.outputs[1] = view(graph.outputs[1]);
    const Bundle bundle = compile(graph, small).bundle;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      EXPECT_TRUE(bundle.nodes[n].on_host()) << graph.nodes[n].name;
      if (n == 0) continue;
      EXPECT_EQ(bundle.nodes[n].reason, "only re-shapes data that lies on the host");
    }
    const Bundle moved = retarget(compile(graph, wide()).bundle, small);
    EXPECT_EQ(moved.nodes, bundle.nodes);
  }
}

TEST(Bundle, NamesWhatIsWrongInsideASoundContainer) {
  const Sections good = parse_container(format_bundle(compile(small_integer_graph(), wide()).bundle));
  const auto with = [&](const std::string& name, const std::string& text) {
    Sections sections = good;
    sections[name].resize(text.size());
    std::memcpy(sections[name].data(), text.data(), text.size());
    return error_of(format_container(sections));
  };
  EXPECT_EQ(with("nodes.json", "{}"), "section 'nodes.json': is not a list");
  EXPECT_EQ(with("nodes.json", R"([{"node": "conv", "on": "moon"}])"),
            "2 problems\n  node 'conv': is neither on 'overlay' nor on 'host'\n"
            "  node 'transpose': is missing in section 'nodes.json'");
  EXPECT_EQ(with("nodes.json", R"([{"node": "conv", "on": "host"}, {"node": "transpose", "on": "overlay"}])")
                .rfind("node 'transpose': cannot run on the overlay: ", 0),
            0u);
  for (const char* list : {"[7]", "{}", R"([{"integer": "y", "source": "x", "zero_point": 0}])",
                           R"([{"integer": "y", "source": "x", "scale": 0.5}])",
                           R"([{"integer": "y", "source": "x", "scale": 0.5, "zero_point": 0.5}])"}) {
    EXPECT_EQ(with("meanings.json", list), "section 'meanings.json': is not a list of quantisations") << list;
  }
  Sections missing = good;
  missing.erase("hardware.yaml");
  EXPECT_EQ(error_of(format_container(missing)), "the bundle has no section 'hardware.yaml'");
}

}  // namespace
}  // namespace tilewright
