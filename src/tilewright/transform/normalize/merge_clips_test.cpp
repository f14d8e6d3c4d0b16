#include "tilewright/transform/normalize/merge_clips.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

const float kNone = std::numeric_limits<float>::infinity();

ValueId scalar(LayerBuilder& b, float value) { return b.constant(Tensor::scalar(value)); }
ValueId clip(LayerBuilder& b, ValueId x, float low, float high) {
  return b.node("Clip",
                {x, low == -kNone ? kNoValue : scalar(b, low), high == kNone ? kNoValue : scalar(b, high)});
}

// The operators after the pass, with the same results on a ramp from -10 to 10.
std::string after(const std::function<ValueId(LayerBuilder&, ValueId)>& add) {
  LayerBuilder b;
  const ValueId x = b.input({41});
  const Graph graph = b.finish({add(b, x)}), merged = merge_clips(graph);
  Tensor ramp(ElementType::kF32, {41});
  for (int64_t k = 0; k < 41; ++k) ramp.set_number(k, double(k - 20) / 2);
  EXPECT_EQ(run(graph, {ramp})[0].to_floats(), run(merged, {ramp})[0].to_floats());
  return ops(merged);
}

TEST(MergeClips, OneForm) {
  EXPECT_EQ(after([](auto& b, ValueId x) { return clip(b, x, 0, kNone); }), "Relu");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.node("Max", {scalar(b, 0), x}); }), "Relu");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.node("Max", {x, scalar(b, -1)}); }), "Clip");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.node("Min", {x, scalar(b, 3)}); }), "Clip");
}

TEST(MergeClips, TwoBecomeOne) {
  EXPECT_EQ(after([](auto& b, ValueId x) {
              return b.node("Min", {b.node("Max", {x, scalar(b, 0)}), scalar(b, 6)});
            }),
            "Clip");
  EXPECT_EQ(after([](auto& b, ValueId x) { return clip(b, b.relu(x), -3, 6); }), "Clip");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.relu(clip(b, x, -3, 6)); }), "Clip");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.relu(clip(b, x, -3, kNone)); }), "Relu");
  EXPECT_EQ(after([](auto& b, ValueId x) { return clip(b, clip(b, x, -4, 2), -1, 5); }), "Clip");
  EXPECT_EQ(after([](auto& b, ValueId x) { return clip(b, clip(b, x, 3, 5), -1, 1); }), "Clip");  // all 1
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.relu(b.relu(clip(b, b.relu(x), -1, 2))); }), "Clip");
}

TEST(MergeClips, DoesNotFire) {
  EXPECT_EQ(after([](auto& b, ValueId x) {
              const ValueId y = b.relu(x);
              return b.add(y, clip(b, y, -3, 6));  // two readers
            }),
            "Relu Clip Add");
  EXPECT_EQ(after([](auto& b, ValueId x) { return clip(b, x, 5, -5); }), "Clip");  // crossed
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.relu(clip(b, x, 5, -5)); }), "Clip Relu");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.node("Max", {x, b.uniform({41})}); }), "Max");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.node("Max", {x, b.node("Neg", {x})}); }), "Neg Max");
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.node("Max", {x, scalar(b, 0), scalar(b, 1)}); }), "Max");
  LayerBuilder b;  // the value between is a graph output
  const ValueId y = b.relu(b.input({2}));
  EXPECT_EQ(ops(merge_clips(b.finish({y, clip(b, y, 0, 6)}))), "Relu Clip");
}

}  // namespace
}  // namespace tilewright
