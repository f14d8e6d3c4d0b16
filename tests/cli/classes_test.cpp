// Models that give the class numbers themselves, and outputs without elements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "command.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

Tensor random_floats(const Shape& shape, uint64_t seed) {
  Tensor tensor(ElementType::kF32, shape);
  Random random(seed);
  for (float& value : tensor.mutable_data<float>()) value = float(random.uniform() - 0.5);
  return tensor;
}

// [1, 16] times [16, 4], the index of the largest of the four.
void write_classifier(const fs::path& file) {
  Graph graph;
  graph.name = "classifier";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 16});
  const ValueId scores = graph.add_value("scores", ElementType::kF32, {1, 4});
  graph.add_node("dense", "MatMul", {x, graph.add_constant("weights", random_floats({16, 4}, 1))}, {scores});
  const ValueId number = graph.add_value("number", ElementType::kI64, {1});
  Node& node = graph.add_node("largest", "ArgMax", {scores}, {number});
  node.attributes["axis"] = int64_t{1};
  node.attributes["keepdims"] = int64_t{0};
  graph.outputs = {number};
  write_onnx(file, graph);
}

TEST(CliClasses, RunAndQuantizeTakeTheNumberItself) {
  const fs::path folder = fresh_folder("classes");
  const std::string model = (folder / "m.onnx").string(), images = (folder / "x.npy").string();
  const std::string labels = (folder / "labels.npy").string(), quantised = (folder / "q.onnx").string();
  write_classifier(model);
  constexpr int64_t kSamples = 20;
  write_npy(images, random_floats({kSamples, 16}, 2));
  // What the model says, so that it is always right.
  CommandResult result = command("run " + model + " --input " + images + " --output " + labels);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const Tensor said = read_npy(labels);
  int64_t largest = 0;
  for (int64_t i = 0; i < said.size(); ++i) largest = std::max(largest, said.integer_at(i));
  ASSERT_GT(largest, 0);
  result = command("run " + model + " --input " + images + " --labels " + labels);
  EXPECT_TRUE(contains(result.output, "top-1 accuracy 100.00 % (20 of 20)")) << result.output;
  const std::string quantize = "quantize " + model + " --calibration " + images + " -o " + quantised;
  for (const char* type : {"", " --number-type q10.22"}) {
    result = command(quantize + type + " --labels " + labels);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_TRUE(contains(result.output, "accuracy: float 100.00%")) << result.output;
  }
}

TEST(CliClasses, OutputsWithoutElementsAreWritten) {
  const fs::path folder = fresh_folder("no_classes");
  Graph graph;
  graph.name = "empty";
  const ValueId x = graph.add_input("x", ElementType::kF32, {2, 3});
  const ValueId positive = graph.add_value("positive", ElementType::kF32, {2, 3});
  graph.add_node("positive", "Relu", {x}, {positive});
  const ValueId zero = graph.add_constant("zero", Tensor::of<int64_t>(Shape{1}, {0}));
  const ValueId none = graph.add_value("none", ElementType::kF32, {0, 3});
  graph.add_node("cut", "Slice", {positive, zero, zero, zero}, {none});
  graph.outputs = {none};
  write_onnx(folder / "m.onnx", graph);
  write_npy(folder / "x.npy", random_floats({2, 3}, 1));
  write_npy(folder / "labels.npy", Tensor::of<int64_t>(Shape{2}, {0, 1}));
  const std::string call = fmt::format("run {0}/m.onnx --input {0}/x.npy", folder.string());
  CommandResult result = command(call + " --output " + (folder / "y.npy").string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(read_npy(folder / "y.npy").shape(), (Shape{0, 3}));
  result = command(call + " --labels " + (folder / "labels.npy").string());
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_TRUE(contains(result.output, "--labels: the first output has shape 0x3, which has no elements"))
      << result.output;
}

}  // namespace
}  // namespace tilewright
