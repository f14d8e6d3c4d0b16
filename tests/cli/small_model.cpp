#include "small_model.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

Tensor random_tensor(const Shape& shape, uint64_t seed) {
  Tensor tensor(ElementType::kF32, shape);
  Random random(seed);
  for (float& value : tensor.mutable_data<float>()) value = float(random.uniform() - 0.5);
  return tensor;
}

ValueId add_convolution(Graph& graph, const std::string& name, ValueId input, int64_t channels) {
  const Shape in = graph.value(input).shape;
  const ValueId weights =
      graph.add_constant(name + "_weights", random_tensor({channels, in[1], 3, 3}, uint64_t(channels)));
  const ValueId result = graph.add_value(name + "_out", ElementType::kF32, {in[0], channels, in[2], in[3]});
  graph.add_node(name, "Conv", {input, weights}, {result}).attributes["pads"] =
      std::vector<int64_t>{1, 1, 1, 1};
  const ValueId positive = graph.add_value(name + "_relu", ElementType::kF32, graph.value(result).shape);
  graph.add_node(name + "_relu", "Relu", {result}, {positive});
  return positive;
}

ValueId add_dense(Graph& graph, const std::string& name, ValueId input, int64_t outputs) {
  const int64_t inputs = graph.value(input).shape.element_count();
  const ValueId flat = graph.add_value(name + "_flat", ElementType::kF32, {1, inputs});
  graph.add_node(name + "_flatten", "Flatten", {input}, {flat});
  const ValueId weights = graph.add_constant(name + "_weights", random_tensor({inputs, outputs}, 9));
  const ValueId result = graph.add_value(name + "_out", ElementType::kF32, {1, outputs});
  graph.add_node(name, "MatMul", {flat, weights}, {result});
  return result;
}

}  // namespace

const SmallModel& small_model() {
  static const SmallModel model = [] {
    const std::filesystem::path folder = fresh_folder("small_model");
    Graph graph;
    graph.name = "small";
    const ValueId x = graph.add_input("x", ElementType::kF32, {1, 2, 6, 6});
    const ValueId first = add_convolution(graph, "module", x, 4);
    const ValueId second = add_convolution(graph, "module_", first, 6);
    graph.outputs = {add_dense(graph, "reg", second, 3)};
    const SmallModel made{folder / "small.onnx", folder / "images.npy"};
    write_onnx(made.path, graph);
    write_npy(made.images, random_tensor({8, 2, 6, 6}, 1));
    return made;
  }();
  return model;
}

SmallModel dense_model(const std::filesystem::path& folder) {
  Graph graph;
  graph.name = "dense";
  ValueId value = graph.add_input("x", ElementType::kF32, {1, 12});
  for (const int64_t outputs : {10, 6, 3}) {
    const std::string name = "layer" + std::to_string(outputs);
    value = add_dense(graph, name, value, outputs);
    if (outputs == 3) break;
    const ValueId positive = graph.add_value(name + "_relu", ElementType::kF32, graph.value(value).shape);
    graph.add_node(name + "_relu", "Relu", {value}, {positive});
    value = positive;
  }
  graph.outputs = {value};
  const SmallModel made{folder / "dense.onnx", folder / "dense.npy"};
  write_onnx(made.path, graph);
  write_npy(made.images, random_tensor({4, 12}, 2));
  return made;
}

std::string calibrated() { return "--calibration " + small_model().images.string(); }

std::vector<std::string> small_model_forms() {
  const std::string fixed = " --number-type q10.22", integer = " " + calibrated();
  std::vector<std::string> all;
  for (const char* form : {"--form streaming", "--form processors"}) {
    for (const std::string& number : {integer, fixed}) all.push_back(form + number);
  }
  return all;
}

CommandResult expect_success(const std::string& arguments) {
  CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, 0) << arguments << "\n" << result.output;
  return result;
}

std::filesystem::path small_design(const std::string& name, const std::string& options) {
  const std::filesystem::path folder = fresh_folder(name) / "design";
  expect_success("generate " + small_model().path.string() + " --device xc7z020 " + options + " -o " +
                 folder.string());
  return folder;
}

std::filesystem::path batch_model(const std::filesystem::path& folder) {
  Graph graph;
  graph.name = "batch";
  const ValueId x = graph.add_input("x", ElementType::kF32, {4, 2, 6, 6});
  const ValueId one = add_convolution(graph, "one", x, 4), other = add_convolution(graph, "other", x, 3);
  const ValueId both = graph.add_value("both", ElementType::kF32, {4, 7, 6, 6});
  graph.add_node("both", "Concat", {one, other}, {both}).attributes["axis"] = int64_t{1};
  graph.outputs = {add_convolution(graph, "last", both, 5)};
  const std::filesystem::path path = folder / "batch.onnx";
  write_onnx(path, graph);
  return path;
}

std::filesystem::path unsupported_model(const std::filesystem::path& folder) {
  Graph graph;
  graph.name = "unsupported";
  ValueId value = add_convolution(graph, "first", graph.add_input("x", ElementType::kF32, {1, 2, 6, 6}), 4);
  for (const char* name : {"middle_one", "middle_two"}) {
    const ValueId next = graph.add_value(std::string(name) + "_out", ElementType::kF32, {1, 4, 6, 6});
    graph.add_node(name, "Sin", {value}, {next});
    value = add_convolution(graph, std::string(name) + "_behind", next, 4);
  }
  graph.outputs = {add_dense(graph, "last", value, 3)};
  const std::filesystem::path path = folder / "unsupported.onnx";
  write_onnx(path, graph);
  return path;
}

}  // namespace tilewright
