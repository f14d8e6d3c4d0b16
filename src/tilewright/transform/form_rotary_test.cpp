#include "tilewright/transform/normalize/form_rotary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_seed_testing.h"
#include "support/transform/layer_builder_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

// One way to write the turning of two halves.
struct RotarySpelling {
  bool whole_tables = false;  // x * cosines + (-b, a) * sines; otherwise four products
  bool split = false;         // Split instead of two Slices
  bool swaps_products = false, swaps_sums = false;
  int leading_ones = 0;  // axes of size 1 before those of the tables
};

// Where a graph differs from a rotary embedding.
enum class RotaryFault {
  kNone,
  kOtherAxis,      // halves of the tokens, not of the head
  kHalvesSwapped,  // (b, a)
  kSignsSwapped,   // a * cosine + b * sine
  kOtherCosines,   // in one of the products
  kTablesOfHeads,  // angles that differ from head to head
  kProductIsRead,
  kComputedTables,
  kCount
};

class RotaryBuilder {
 public:
  RotaryBuilder(const RotarySpelling& spelling, RotaryFault fault, uint64_t seed)
      : b_(seed), s_(spelling), fault_(fault) {}

  Graph build(const Shape& shape) {
    shape_ = shape;
    x_ = b_.input(shape);
    axis_ = shape.rank() - (fault_ == RotaryFault::kOtherAxis ? 2 : 1);
    half_ = shape[axis_] / 2;
    halves();
    if (fault_ == RotaryFault::kHalvesSwapped) std::swap(first_, second_);
    const ValueId y = s_.whole_tables ? rotated() : points();
    std::vector<ValueId> outputs{b_.relu(y)};
    if (fault_ == RotaryFault::kProductIsRead) outputs.push_back(product_);
    return b_.finish(outputs);
  }

 private:
  void halves() {
    if (s_.split) {
      const int64_t half = half_;
      first_ =
          b_.node("Split", {x_, b_.integers({half, shape_[axis_] - half})}, {{"axis", int64_t{axis_}}}, 2);
      second_ = b_.graph().nodes.back().outputs[1];
      return;
    }
    const auto slice = [&](int64_t begin, int64_t end) {
      return b_.node("Slice",
                     {x_, b_.integers({begin}), b_.integers({end}), b_.integers({axis_ - shape_.rank()})});
    };
    first_ = slice(0, half_);
    second_ = slice(half_, INT64_MAX);
  }

  ValueId table(bool whole, double phase) {
    const int64_t tokens = shape_[shape_.rank() - 2], width = shape_[shape_.rank() - 1] / 2 * (whole ? 2 : 1);
    std::vector<int64_t> dims(size_t(s_.leading_ones), 1);
    const bool of_heads = fault_ == RotaryFault::kTablesOfHeads;
    if (of_heads) dims = {shape_[shape_.rank() - 3]};
    dims.insert(dims.end(), {tokens, width});
    Tensor tensor(ElementType::kF32, Shape(dims));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const int64_t pair = i % width % (width / (whole ? 2 : 1));
      tensor.set_number(i, std::sin(phase + 0.37 * double(i / width) * std::pow(0.8, double(pair))));
    }
    if (fault_ != RotaryFault::kComputedTables) return b_.constant(tensor);
    return b_.input(Shape(dims), "table");
  }

  ValueId product(ValueId value, ValueId factor) {
    return product_ = b_.node("Mul", s_.swaps_products ? std::vector<ValueId>{factor, value}
                                                       : std::vector<ValueId>{value, factor});
  }
  ValueId sum(ValueId a, ValueId b) { return s_.swaps_sums ? b_.add(b, a) : b_.add(a, b); }
  ValueId joined(ValueId a, ValueId b) { return b_.node("Concat", {a, b}, {{"axis", int64_t{axis_}}}); }

  ValueId points() {
    const ValueId cosines = table(false, 1.57), sines = table(false, 0);
    const ValueId others = fault_ == RotaryFault::kOtherCosines ? table(false, 1.6) : cosines;
    const bool adds = fault_ == RotaryFault::kSignsSwapped;
    const ValueId real = b_.node(adds ? "Add" : "Sub", {product(first_, cosines), product(second_, sines)});
    return joined(real, sum(product(first_, sines), product(second_, others)));
  }

  ValueId rotated() {
    const ValueId cosines = table(true, 1.57), sines = table(true, 0);
    const bool adds = fault_ == RotaryFault::kSignsSwapped;
    const ValueId turned = joined(adds ? second_ : b_.node("Neg", {second_}), first_);
    return sum(product(x_, cosines), product(turned, sines));
  }

  LayerBuilder b_;
  const RotarySpelling s_;
  const RotaryFault fault_;
  Shape shape_;
  ValueId x_ = kNoValue, first_ = kNoValue, second_ = kNoValue, product_ = kNoValue;
  int axis_ = 0;
  int64_t half_ = 0;
};

struct RotaryCase {
  RotarySpelling spelling;
  Shape shape;
};

RotaryCase random_rotary(Random& random) {
  RotaryCase drawn;
  std::vector<int64_t> dims;
  for (int64_t axes = random.between(0, 2); axes > 0; --axes) dims.push_back(random.between(1, 3));
  dims.insert(dims.end(), {random.between(1, 6), 2 * random.between(1, 5)});
  drawn.shape = Shape(dims);
  drawn.spelling = {random.chance(0.5), random.chance(0.5), random.chance(0.5), random.chance(0.5),
                    int(random.between(0, drawn.shape.rank() - 2))};
  return drawn;
}

std::vector<Tensor> turned_samples(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    Tensor x(ElementType::kF32, graph.value(id).shape);
    for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, 4 * random.uniform() - 2);
    inputs.push_back(std::move(x));
  }
  return run(graph, inputs);
}

void expect_alike(const Graph& after, const Graph& before, uint64_t seed) {
  const std::vector<Tensor> got = turned_samples(after, seed), wanted = turned_samples(before, seed);
  for (size_t k = 0; k < wanted.size(); ++k)
    for (int64_t i = 0; i < wanted[k].size(); ++i)
      ASSERT_NEAR(got[k].number_at(i), wanted[k].number_at(i), 1e-5) << i;
}

TEST(FormRotaryClass, EverySpellingBecomesOneOperator) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(300); ++i) {
    const RotaryCase drawn = random_rotary(random);
    SCOPED_TRACE(fmt::format("seed {}, case {}, {}", test_seed(), i, to_string(drawn.shape)));
    const Graph graph = RotaryBuilder(drawn.spelling, RotaryFault::kNone, uint64_t(i)).build(drawn.shape);
    const Graph formed = form_rotary(graph);
    ASSERT_EQ(ops(formed), "RotaryEmbedding Relu") << ops(graph);
    const Node& node = formed.nodes[0];
    const int rank = drawn.shape.rank();
    EXPECT_EQ(formed.value(node.input(1)).shape, (Shape{drawn.shape[rank - 2], drawn.shape[rank - 1] / 2}));
    expect_alike(formed, graph, uint64_t(i));
    ASSERT_EQ(ops(optimize(graph)), ops(formed)) << ops(graph);
  }
}

TEST(FormRotaryClass, NearMissesStay) {
  Random random(test_seed());
  std::vector<int> seen(size_t(RotaryFault::kCount), 0);
  for (int64_t i = 0; i < test_cases(400); ++i) {
    RotaryCase drawn = random_rotary(random);
    RotarySpelling& s = drawn.spelling;
    const auto fault = RotaryFault(random.between(1, int64_t(RotaryFault::kCount) - 1));
    const int rank = drawn.shape.rank();
    if (fault == RotaryFault::kOtherAxis) drawn.shape[rank - 2] = drawn.shape[rank - 1] = 4;
    if (fault == RotaryFault::kOtherAxis && !s.whole_tables) continue;  // tables do not broadcast
    if (fault == RotaryFault::kOtherCosines && s.whole_tables) continue;
    if (fault == RotaryFault::kTablesOfHeads && (rank < 3 || drawn.shape[rank - 3] < 2)) continue;
    ++seen[size_t(fault)];
    SCOPED_TRACE(fmt::format("seed {}, case {}, fault {}", test_seed(), i, int(fault)));
    const Graph graph = RotaryBuilder(s, fault, uint64_t(i)).build(drawn.shape);
    EXPECT_EQ(ops(form_rotary(graph)), ops(graph));
  }
  for (size_t fault = 1; fault < seen.size(); ++fault) EXPECT_GT(seen[fault], 3) << fault;
}

// The first half of each head turned, the rest behind it.
TEST(FormRotary, APartOfAHeadStays) {
  LayerBuilder b;
  const ValueId x = b.input({2, 3, 8});
  const auto part = [&](int64_t begin, int64_t end) {
    return b.node("Slice", {x, b.integers({begin}), b.integers({end}), b.integers({2})});
  };
  const ValueId cosines = b.uniform({3, 2}), sines = b.uniform({3, 2}), first = part(0, 2),
                second = part(2, 4);
  const auto product = [&](ValueId a, ValueId c) { return b.node("Mul", {a, c}); };
  const ValueId real = b.node("Sub", {product(first, cosines), product(second, sines)});
  const ValueId imaginary = b.add(product(first, sines), product(second, cosines));
  const Graph graph = b.finish({b.node("Concat", {real, imaginary, part(4, 8)}, {{"axis", int64_t{2}}})});
  EXPECT_EQ(ops(form_rotary(graph)), ops(graph));
}

}  // namespace
}  // namespace tilewright
