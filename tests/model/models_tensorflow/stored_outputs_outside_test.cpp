// TensorFlow models of others against their stored outputs, as read and after the graph passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/samples/samples.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = outside_models();

double largest_difference(const Tensor& a, const fs::path& stored) {
  const Tensor b = read_npy(kModels / stored);
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (int64_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a.number_at(i) - b.number_at(i)));
  return worst;
}

// The model as it was read and behind the graph passes: both must give the stored output.
void expect_stored(const Graph& graph, const Tensor& input, const fs::path& stored, double tolerance) {
  EXPECT_LE(largest_difference(run(graph, {input})[0], stored), tolerance);
  EXPECT_LE(largest_difference(run(optimize(graph), {input})[0], stored), tolerance) << "after the passes";
}

Tensor reference_input(const Graph& graph) {
  LcgStream stream(1);
  return lcg_input(ElementType::kF32, graph.value(graph.inputs[0]).shape, stream);
}

Tensor read_floats(const fs::path& file, const Shape& shape) {
  std::istringstream numbers(read_text_file(file));
  Tensor result(ElementType::kF32, shape);
  for (float& value : result.mutable_data<float>()) {
    double number = 0;
    numbers >> number;
    value = float(number);
  }
  EXPECT_TRUE(numbers) << file << " ends early";
  return result;
}

TEST(TensorflowModels, LenetGivesItsStoredOutputs) {
  LoadOptions with_hidden;
  with_hidden.output_nodes = {"fc1/Relu"};
  const Graph graph = load_model(kModels / "tf_lenet/lenet.pb");
  const Graph hidden = load_model(kModels / "tf_lenet/lenet.pb", with_hidden);
  const Tensor digit = read_floats(kModels / "tf_lenet/7.csv", {1, 784});
  expect_stored(graph, digit, "tf_lenet/lenet.7csv.fc2_BiasAdd.ref.npy", 2e-5);
  expect_stored(hidden, digit, "tf_lenet/lenet.7csv.fc1_Relu.ref.npy", 2e-5);
  expect_stored(graph, reference_input(graph), "tf_lenet/lenet.lcg.fc2_BiasAdd.ref.npy", 2e-5);
  expect_stored(hidden, reference_input(graph), "tf_lenet/lenet.lcg.fc1_Relu.ref.npy", 2e-5);
  const Tensor scores = run(graph, {digit})[0];
  EXPECT_EQ(argmax(scores), 7);
  EXPECT_NEAR(scores.number_at(7), 8.4888, 5e-5);
}

TEST(TensorflowModels, LenetClassifiesNinetyEightOfTheFirstHundredDigits) {
  const Executor executor(optimize(load_model(kModels / "tf_lenet/lenet.pb")));
  std::istringstream lines(read_text_file(kModels / "data_mnist/mnist_test_first100.csv"));
  int count = 0, right = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++count) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    int64_t label = -1;
    numbers >> label;
    Tensor image(ElementType::kF32, Shape{1, 784});
    for (float& pixel : image.mutable_data<float>()) {
      ASSERT_TRUE(numbers >> pixel);
      pixel /= 255;
    }
    right += argmax(executor.run({image})[0]) == label;
  }
  EXPECT_EQ(count, 100);
  EXPECT_EQ(right, 98);
}

TEST(TensorflowModels, Cifar10NetGivesItsStoredLogits) {
  const Graph graph = load_model(kModels / "tf_cifar10_cnn/cifar10_cnn.pb");
  ASSERT_EQ(graph.value(graph.outputs[0]).name, "fully_connect_2/logits");
  const float mean[3] = {125.3f, 123.0f, 113.9f}, deviation[3] = {63.0f, 62.1f, 66.7f};
  Tensor input = reference_input(graph);
  const auto pixels = input.mutable_data<float>();
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = (255 * pixels[i] - mean[i % 3]) / deviation[i % 3];
  expect_stored(graph, input, "tf_cifar10_cnn/cifar10_cnn.logits.ref.npy", 1e-4);
}

TEST(TensorflowModels, KeptArgMaxIsTheClass) {
  LoadOptions options;
  options.keep_arg_max = true;
  const Graph classes = load_model(kModels / "tf_cifar10_cnn/cifar10_cnn.pb", options);
  const Graph scores = load_model(kModels / "tf_cifar10_cnn/cifar10_cnn.pb");
  const Tensor input = reference_input(scores);
  EXPECT_EQ(run(classes, {input})[0].integer_at(0), argmax(run(scores, {input})[0]));
}

TEST(TensorflowModels, KeywordSpottersBeginAtTheirFeatures) {
  for (const char* name : {"DS_CNN_S", "CNN_S", "DNN_S"}) {
    SCOPED_TRACE(name);
    const fs::path folder = "tf_kws_graphdef";
    const fs::path file = kModels / folder / (std::string(name) + ".pb");
    const Graph graph = load_model(file);
    ASSERT_EQ(graph.inputs.size(), 1u);
    EXPECT_EQ(graph.value(graph.inputs[0]).name, "Mfcc");
    const fs::path stored = folder / (std::string(name) + ".ref.out.npy");
    expect_stored(graph, reference_input(graph), stored, 1e-5);
    // The same by name, in the shape that the front end would give.
    LoadOptions options;
    options.feeds["Mfcc"] =
        graph.value(graph.inputs[0]).shape[1] == 490 ? Shape{1, 49, 10} : Shape{1, 25, 10};
    const Graph fed = load_model(file, options);
    EXPECT_EQ(graph.value(graph.inputs[0]).shape.element_count(), options.feeds["Mfcc"].element_count());
    expect_stored(fed, reference_input(fed), stored, 1e-5);
  }
}

TEST(TensorflowModels, ResNet50WithDrawnWeightsGivesItsStoredSoftmax) {
  const fs::path file = "tf_resnet50_official/saved_model.pb";
  LoadOptions options;
  options.fill_gain = 3;
  const Graph graph = load_model(kModels / file, options);
  ASSERT_EQ(graph.outputs.size(), 1u);
  ASSERT_EQ(graph.value(graph.outputs[0]).name, "probabilities");
  expect_stored(graph, reference_input(graph), "tf_resnet50_official/resnet50.lcg.softmax.ref.npy", 1e-4);
  options.output_nodes = {"resnet_model/final_dense"};
  const Graph logits =
      load_model(kModels / "tf_resnet50_official", options);  // the folder stands for its file
  EXPECT_LE(largest_difference(run(optimize(logits), {reference_input(graph)})[0],
                               "tf_resnet50_official/resnet50.lcg.logits.ref.npy"),
            2e-3);
}

}  // namespace
}  // namespace tilewright
