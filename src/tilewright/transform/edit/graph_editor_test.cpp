#include "tilewright/transform/edit/graph_editor.h"

#include <gtest/gtest.h>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

TEST(GraphEditor, KnowsProducersAndReadersThroughEdits) {
  LayerBuilder b;
  const ValueId x = b.input({2});
  const ValueId p = b.relu(x), q = b.node("Neg", {p}), r = b.add(q, p);
  GraphEditor editor(b.finish({r}));
  EXPECT_EQ(editor.producer(p), 0);
  EXPECT_EQ(editor.only_reader(p), kNoNode);
  EXPECT_EQ(editor.only_reader(q), 2);
  EXPECT_EQ(editor.only_reader(r), kNoNode);  // a graph output
  editor.set_input(2, 1, x);
  EXPECT_EQ(editor.only_reader(p), 1);
  EXPECT_EQ(editor.sole_producer(1, 0, "Relu"), 0);
  EXPECT_EQ(editor.sole_producer(1, 0, "Neg"), kNoNode);
  editor.redirect_readers(p, x);
  EXPECT_FALSE(editor.is_read(p));
  EXPECT_EQ(editor.readers(x).size(), 3u);
  EXPECT_EQ(ops(std::move(editor).finish()), "Neg Add");
}

TEST(GraphEditor, ReadsOfOneNodeTwiceCountTwice) {
  LayerBuilder b;
  const ValueId p = b.relu(b.input({2}));
  GraphEditor editor(b.finish({b.add(p, p)}));
  EXPECT_EQ(editor.readers(p).size(), 2u);
  EXPECT_EQ(editor.only_reader(p), kNoNode);
  editor.redirect_readers(p, editor.graph().inputs[0]);
  EXPECT_EQ(editor.node(1).inputs, (std::vector<ValueId>{0, 0}));
}

TEST(GraphEditor, InsertedNodesAreSortedIn) {
  LayerBuilder b;
  const ValueId x = b.input({2});
  const ValueId p = b.relu(x);
  GraphEditor editor(b.finish({b.node("Neg", {p})}));
  const ValueId between = editor.add_value("between", ElementType::kF32, {2});
  editor.insert("tanh", "Tanh", {p}, {between});
  editor.set_input(1, 0, between);
  EXPECT_EQ(ops(std::move(editor).finish()), "Relu Tanh Neg");
}

TEST(GraphEditor, BypassRefusesAnotherShape) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({2, 3}));
  GraphEditor editor(b.finish({b.relu(b.reshape(x, {3, 2}))}));
  EXPECT_FALSE(editor.bypass(1));
}

}  // namespace
}  // namespace tilewright
