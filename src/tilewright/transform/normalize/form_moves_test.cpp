#include "tilewright/transform/normalize/form_moves.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

class MoveBuilder {
 public:
  Graph graph;
  ValueId input(Shape shape) { return graph.add_input("x", ElementType::kI8, std::move(shape)); }
  std::vector<ValueId> node(const char* op, std::vector<ValueId> inputs, int results,
                            Attributes attributes = {}) {
    std::vector<ValueId> outputs;
    for (int i = 0; i < results; ++i) outputs.push_back(graph.add_value("y", ElementType::kI8, Shape{1}));
    Node& added = graph.add_node("n" + std::to_string(++count_), op, std::move(inputs), outputs);
    added.attributes = std::move(attributes);
    const auto inferred = infer_node(graph, added);
    for (size_t i = 0; i < outputs.size(); ++i) graph.value(outputs[i]).shape = inferred[i].shape;
    return outputs;
  }
  ValueId numbers(std::vector<int64_t> values) {
    return graph.add_constant("c", Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values)));
  }

 private:
  int count_ = 0;
};

// The operators after the pass, whose results stay.
std::string formed(const Graph& graph) {
  const Graph after = form_moves(graph);
  Diagnostics problems;
  verify(after, problems);
  EXPECT_TRUE(problems.ok()) << (problems.ok() ? "" : to_string(problems.errors()[0]));
  Random random(82);
  Tensor x(ElementType::kI8, graph.value(graph.inputs[0]).shape);
  for (int64_t i = 0; i < x.size(); ++i) x.set_integer(i, random.between(-128, 127));
  const std::vector<Tensor> expected = run(graph, {x}), got = run(after, {x});
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(got[i].identical(expected[i])) << i;
  EXPECT_EQ(output_names(after), output_names(graph));
  return ops(after);
}

TEST(FormMoves, ASplitIsSlices) {
  for (const int64_t axis : {1, -1, 2}) {
    MoveBuilder b;
    const ValueId x = b.input({1, 6, 4, 8});
    const int64_t size = b.graph.value(x).shape[int(axis < 0 ? axis + 4 : axis)];
    b.graph.outputs = b.node("Split", {x, b.numbers({1, size - 1})}, 2, {{"axis", axis}});
    EXPECT_EQ(formed(b.graph), "Slice Slice");
  }
}

TEST(FormMoves, AChannelShuffleGathers) {
  MoveBuilder b;
  const ValueId apart = b.node("Reshape", {b.input({2, 12, 3, 2}), b.numbers({2, 3, 4, 3, 2})}, 1)[0];
  const ValueId turned = b.node("Transpose", {apart}, 1, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}})[0];
  b.graph.outputs = b.node("Reshape", {turned, b.numbers({2, 12, 3, 2})}, 1);
  EXPECT_EQ(formed(b.graph), "Gather");
  MoveBuilder other;  // rows change places as well
  const ValueId parts =
      other.node("Reshape", {other.input({1, 4, 4, 2}), other.numbers({1, 2, 2, 4, 2})}, 1)[0];
  const ValueId mixed =
      other.node("Transpose", {parts}, 1, {{"perm", std::vector<int64_t>{0, 3, 1, 2, 4}}})[0];
  other.graph.outputs = other.node("Reshape", {mixed, other.numbers({1, 4, 4, 2})}, 1);
  EXPECT_EQ(formed(other.graph), "Reshape Transpose Reshape");
}

TEST(FormMoves, PartsBelongToOneConcat) {
  MoveBuilder b;
  const ValueId x = b.input({1, 4, 2, 2});
  const ValueId once = b.node("Concat", {x, x}, 1, {{"axis", int64_t{1}}})[0];
  const ValueId twice = b.node("Concat", {once, x}, 1, {{"axis", int64_t{1}}})[0];
  b.graph.outputs = {twice};
  EXPECT_EQ(formed(b.graph), "QRequantize Concat QRequantize Concat");
  MoveBuilder rows;
  const ValueId y = rows.input({1, 4, 2, 2});
  rows.graph.outputs = rows.node("Concat", {y, y}, 1, {{"axis", int64_t{2}}});
  EXPECT_EQ(formed(rows.graph), "QRequantize QRequantize Concat");
}

// Images become rows on the host, so the Concat is the host's, and needs no copies; a row stays a row.
TEST(FormMoves, PartsThatTheHostMakesAreNotCopied) {
  for (const bool row : {false, true}) {
    MoveBuilder b;
    std::vector<ValueId> parts;
    const ValueId x = b.input({1, 5, row ? 1 : 4, 4});
    for (int i = 0; i < 2; ++i)
      parts.push_back(b.node("Reshape", {x, b.numbers({1, 5, row ? 4 : 16})}, 1)[0]);
    b.graph.outputs = b.node("Concat", parts, 1, {{"axis", int64_t{2}}});
    EXPECT_EQ(formed(b.graph),
              row ? "Reshape Reshape QRequantize QRequantize Concat" : "Reshape Reshape Concat");
  }
}

// Slices of rows and columns, put together; the image is a copy, since the slices read it as well.
TEST(FormMoves, ABorderThatIsRepeatedOrMirroredIsSlicesSideBySide) {
  for (const std::string mode : {"edge", "reflect"}) {
    MoveBuilder b;
    const ValueId x = b.input({1, 3, 4, 5});
    b.graph.outputs =
        b.node("Pad", {x, b.numbers({0, 0, 1, 0, 0, 0, 0, 2})}, 1, {{"mode", std::string(mode)}});
    EXPECT_EQ(formed(b.graph), "Slice Slice Slice Concat Slice Slice QRequantize Concat Concat") << mode;
  }
  Random random(83);
  for (int round = 0; round < 60; ++round) {
    const bool row = random.chance(0.2), edge = random.chance(0.5);
    MoveBuilder b;
    const ValueId x = row ? b.input({1, 2, random.between(1, 7)})
                          : b.input({2, 3, random.between(1, 7), random.between(1, 7)});
    const Shape shape = b.graph.value(x).shape;
    const int rank = shape.rank();
    std::vector<int64_t> pads(size_t(2 * rank), 0);
    for (int axis = 2; axis < rank; ++axis) {
      const int64_t most = edge ? 4 : std::min<int64_t>(4, shape[axis] - 1);
      pads[size_t(axis)] = random.between(0, most);
      pads[size_t(axis + rank)] = random.between(0, most);
    }
    b.graph.outputs =
        b.node("Pad", {x, b.numbers(pads)}, 1, {{"mode", std::string(edge ? "edge" : "reflect")}});
    const std::string after = formed(b.graph);
    const bool none = std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; });
    EXPECT_EQ(after.find("Pad") != std::string::npos, none) << after;
  }
}

}  // namespace
}  // namespace tilewright
