// Random networks of concatenations along channels, rows and columns, of their parts, of pieces that slices
// leave and of borders that are repeated or mirrored: on the overlay parts and pieces lie in one image. The
// bits are those of the reference.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/graph/inference/shape_inference.h"

namespace tilewright {
namespace {

class JoinBuilder {
 public:
  explicit JoinBuilder(uint64_t seed) : random_(seed) {}

  Graph build() {
    const Shape shape{random_.chance(0.2) ? 2 : 1, random_.between(1, 40), random_.between(1, 9),
                      random_.between(1, 9)};
    for (int64_t i = random_.between(1, 2); i > 0; --i) {
      values_.push_back(graph_.add_input("image" + std::to_string(i), ElementType::kI8, shape));
    }
    values_.push_back(scaled(values_.back()));
    for (int64_t i = random_.between(3, 8); i > 0; --i) values_.push_back(any_operator());
    graph_.outputs = {values_.back()};
    if (random_.chance(0.5) && values_.size() > 4) graph_.outputs.push_back(values_[values_.size() - 2]);
    if (random_.chance(0.5)) graph_.outputs[0] = scaled(graph_.outputs[0]);
    graph_.remove_dead();
    return std::move(graph_);
  }

 private:
  const Shape& shape(ValueId v) const { return graph_.value(v).shape; }
  ValueId pick() { return values_[size_t(random_.between(0, int64_t(values_.size()) - 1))]; }

  ValueId add(const char* op, std::vector<ValueId> inputs, Attributes attributes, const char* domain = "") {
    const std::string name = "n" + std::to_string(graph_.nodes.size());
    const ValueId result = graph_.add_value(name + "_y", ElementType::kI8, Shape{1});
    Node& node = graph_.add_node(name, op, std::move(inputs), {result}, domain);
    node.attributes = std::move(attributes);
    const Shape inferred = infer_node(graph_, node)[0].shape;
    graph_.value(result).shape = inferred;
    return result;
  }
  ValueId numbers(std::vector<int64_t> values) {
    return graph_.add_constant("c", Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values)));
  }

  ValueId scaled(ValueId x) {
    const int64_t bias = random_.between(-40, 40);
    return add("QRequantize", {x}, {{"multiplier", int64_t{1}}, {"shift", int64_t{1}}, {"bias", bias}},
               kTilewrightDomain);
  }

  ValueId slice(ValueId x) {
    const int axis = int(random_.between(1, 3));
    const int64_t size = shape(x)[axis], begin = random_.between(0, size - 1);
    return add("Slice", {x, numbers({begin}), numbers({random_.between(begin + 1, size)}), numbers({axis})},
               {});
  }

  ValueId border(ValueId x) {
    const bool edge = random_.chance(0.5);
    std::vector<int64_t> pads(8, 0);
    for (const size_t axis : {2, 3}) {
      const int64_t most = std::min<int64_t>(3, edge ? 3 : shape(x)[int(axis)] - 1);
      pads[axis] = random_.between(0, most);
      pads[axis + 4] = random_.between(0, most);
    }
    return add("Pad", {x, numbers(pads)}, {{"mode", std::string(edge ? "edge" : "reflect")}});
  }

  // Of values that fit, some of them made to.
  ValueId join(ValueId x) {
    const int axis = int(random_.between(1, 3));
    std::vector<ValueId> parts{x};
    for (int64_t i = random_.between(1, 3); i > 0; --i) {
      ValueId part = random_.chance(0.3) ? x : pick();
      for (int a = 1; a < 4; ++a) {
        if (a != axis && shape(part)[a] != shape(x)[a]) part = x;
      }
      if (random_.chance(0.5)) part = scaled(part);
      if (random_.chance(0.3)) part = cut(part, axis);
      parts.push_back(part);
    }
    for (size_t i = parts.size(); i > 1; --i)
      std::swap(parts[i - 1], parts[size_t(random_.between(0, int64_t(i) - 1))]);
    return add("Concat", parts, {{"axis", int64_t(random_.chance(0.5) ? axis : axis - 4)}});
  }

  // Pieces of one value, from the begin of a block of channels or not, read by layers of all kinds: windows
  // with strides and padding, maxima, sums and products of two, gates of one position, a dense layer.
  ValueId pieces(ValueId x) {
    const Shape whole = shape(x);
    const int axis = int(random_.between(1, 3));
    const int64_t half = axis == 1 && random_.chance(0.7) ? whole[1] / 32 * 16 : whole[axis] / 2;
    if (half == 0) return scaled(x);
    const ValueId first = add("Slice", {x, numbers({0}), numbers({half}), numbers({axis})}, {});
    const int64_t begin = random_.chance(0.7) ? half : whole[axis] - half;
    const ValueId second = add("Slice", {x, numbers({begin}), numbers({begin + half}), numbers({axis})}, {});
    switch (random_.between(0, 4)) {
      case 0: {
        const int64_t kernel = random_.between(1, 3), stride = random_.between(1, 2);
        return add("Concat", {window(first, kernel, stride), window(second, kernel, stride)},
                   {{"axis", int64_t{1}}});
      }
      case 1:
        return sum(first, second);
      case 2:
        return product(first, random_.chance(0.5) ? second : gate(second));
      case 3:
        return dense(random_.chance(0.5) ? first : second);
      default:
        return sum(scaled(first), add("Max", {first, second}, {}));
    }
  }

  ValueId numbers32(int64_t count, int64_t low, int64_t high) {
    Tensor tensor(ElementType::kI32, {count});
    for (int64_t e = 0; e < count; ++e) tensor.set_integer(e, random_.between(low, high));
    return graph_.add_constant("p", std::move(tensor));
  }
  // A layer with weights [outputs, ..]: bias, multiplier and shift by channel.
  ValueId weighted(const char* op, ValueId x, Shape of, Attributes attributes) {
    const int64_t outputs = of[0];
    return add(
        op, {x, drawn(std::move(of)), numbers32(outputs, -500, 500), numbers32(1, 1, 1), numbers32(1, 4, 8)},
        std::move(attributes), kTilewrightDomain);
  }
  ValueId drawn(Shape of) {
    Tensor tensor(ElementType::kI8, std::move(of));
    for (int64_t e = 0; e < tensor.size(); ++e) tensor.set_integer(e, random_.between(-20, 20));
    return graph_.add_constant("w", std::move(tensor));
  }
  ValueId window(ValueId x, int64_t kernel, int64_t stride) {
    const int64_t pad = kernel / 2;
    const Attributes place = {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                              {"strides", std::vector<int64_t>{stride, stride}},
                              {"pads", std::vector<int64_t>(4, pad)}};
    if (random_.chance(0.3)) return add("MaxPool", {x}, place);
    return weighted("QConv", x, {random_.between(1, 20), shape(x)[1], kernel, kernel},
                    {{"strides", place.at("strides")}, {"pads", place.at("pads")}});
  }
  ValueId sum(ValueId a, ValueId b) {
    return add(
        "QAdd", {a, b},
        {{"multiplier_a", int64_t{1}}, {"multiplier_b", random_.between(-2, 2)}, {"shift", int64_t{1}}},
        kTilewrightDomain);
  }
  ValueId product(ValueId a, ValueId b) {
    return add("QMul", {a, b}, {{"multiplier", int64_t{1}}, {"shift", int64_t{6}}}, kTilewrightDomain);
  }
  // One position, or one channel, of a value.
  ValueId gate(ValueId x) {
    const int64_t one[] = {0, 1};
    if (random_.chance(0.5)) return add("Slice", {x, numbers({0}), numbers({1}), numbers({1})}, {});
    return add("Slice", {x, numbers({one[0], 0}), numbers({one[1], 1}), numbers({2, 3})}, {});
  }
  ValueId dense(ValueId x) {
    const int64_t batch = shape(x)[0], size = shape(x).element_count() / batch;
    const ValueId flat = add("Flatten", {x}, {});
    const ValueId y = weighted("QGemm", flat, {random_.between(1, 40), size}, {});
    return add("Reshape", {y, numbers({batch, shape(y)[1], 1, 1})}, {});
  }

  ValueId cut(ValueId x, int axis) {
    const int64_t end = random_.between(1, shape(x)[axis]);
    return add("Slice", {x, numbers({0}), numbers({end}), numbers({axis})}, {});
  }

  ValueId any_operator() {
    const ValueId x = random_.chance(0.6) ? values_.back() : pick();
    if (shape(x).element_count() > 20000) return slice(x);
    switch (random_.between(0, 7)) {
      case 0:
        return scaled(x);
      case 1:
        return slice(x);
      case 2:
        return border(x);
      case 3:
      case 4:
        return pieces(x);
      default:
        return join(x);
    }
  }

  Random random_;
  Graph graph_;
  std::vector<ValueId> values_;
};

TEST(JoinedNetworks, BitIdenticalToTheHost) {
  constexpr const char* kFiles[] = {"vta-default", "overlay-16x16", "overlay-8x8", "overlay-1x8x8-batch8"};
  HostModel slow;  // whatever can run on the overlay does
  slow.gbyte_per_s = slow.gmac_per_s = 1e-6;
  int64_t joins = 0, placed = 0, side_by_side = 0, slices = 0, free_slices = 0;
  for (int64_t i = 0; i < test_cases(120); ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OverlayHardware hardware = find_overlay_hardware(kFiles[size_t(i) % std::size(kFiles)],
                                                           std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
    const Compilation compilation = compile(JoinBuilder(seed).build(), hardware, slow);
    const Bundle& bundle = compilation.bundle;
    for (size_t n = 0; n < bundle.graph.nodes.size(); ++n) {
      const Node& node = bundle.graph.nodes[n];
      if (node.is("Slice")) {
        ++slices;
        free_slices += !bundle.nodes[n].on_host() && bundle.schedules.count(node.name) == 0 ? 1 : 0;
      }
      if (!node.is("Concat")) continue;
      ++joins;
      placed += bundle.nodes[n].on_host() ? 0 : 1;
      side_by_side += bundle.nodes[n].on_host() || (node.int_or("axis", 0) + 4) % 4 == 1 ? 0 : 1;
    }
    Random random(seed);
    std::vector<Tensor> inputs;
    for (const ValueId input : bundle.graph.inputs) {
      Tensor x(ElementType::kI8, bundle.graph.value(input).shape);
      for (int64_t e = 0; e < x.size(); ++e) x.set_integer(e, random.between(-128, 127));
      inputs.push_back(std::move(x));
    }
    const std::vector<Tensor> expected =
        Session(std::make_shared<const Engine>(bundle, Execution::kOnHost)).run(inputs);
    for (const auto kind : {overlay::ProgramEngineKind::kFunctional, overlay::ProgramEngineKind::kCycle}) {
      overlay::ProgramEngineOptions options;
      options.kind = kind;
      Session session(std::make_shared<const Engine>(bundle, Execution::kAsPlaced), options);
      for (int run = 0; run < 2; ++run) {
        const std::vector<Tensor> outputs = session.run(inputs);
        ASSERT_EQ(outputs.size(), expected.size());
        for (size_t o = 0; o < outputs.size(); ++o)
          ASSERT_TRUE(outputs[o].identical(expected[o])) << "output " << o;
      }
    }
  }
  std::printf("%ld of %ld concatenations on the overlay, %ld of them of rows or columns\n", long(placed),
              long(joins), long(side_by_side));
  std::printf("%ld of %ld slices without a copy\n", long(free_slices), long(slices));
  EXPECT_GT(free_slices, slices / 20);  // most begin inside a block, or are read by a Concat
  EXPECT_GT(placed, joins / 2);
  EXPECT_GT(side_by_side, joins / 5);
}

}  // namespace
}  // namespace tilewright
