// Every ONNX model of the shared folder through the graph passes: the node count never grows, the operators
// that the passes are there to remove are gone, and where the network is small enough to run twice here, the
// optimised graph computes what the file says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>

#include "model_files.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct ModelCase {
  const char* model;
  int nodes;                        // after the passes
  std::set<std::string> gone = {};  // operators that the file has and the result must not have
  enum { kInFile, kConstantOfShape, kMissing } weights = kInFile;
  bool run = true;
  double tolerance = 2e-5;
  std::map<std::string, int64_t> dimensions = {};
};

void PrintTo(const ModelCase& model, std::ostream* out) { *out << model.model; }

std::string case_name(const ::testing::TestParamInfo<ModelCase>& info) {
  std::string text = info.param.model;
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return text;
}

Graph load(const ModelCase& model) {
  OnnxOptions options;
  options.dimensions = model.dimensions;
  options.allow_missing_weights = model.weights == ModelCase::kMissing;  // zeros stand in for them
  return read_onnx(models_folder() / model.model, options);
}

std::vector<Tensor> lcg_inputs(const Graph& graph) {
  std::vector<Tensor> inputs;
  LcgStream stream(1);
  for (const ValueId id : graph.inputs) {
    inputs.push_back(lcg_input(graph.value(id).type, graph.value(id).shape, stream));
  }
  return inputs;
}

// "Conv:26 Relu:26".
std::string operators(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes) ++counts[node.op];
  std::string text;
  for (const auto& [op, count] : counts) text += (text.empty() ? "" : " ") + op + ":" + std::to_string(count);
  return text;
}

class OptimizeModels : public ::testing::TestWithParam<ModelCase> {};

TEST_P(OptimizeModels, SameResultsFromFewerNodes) {
  const ModelCase& model = GetParam();
  const Graph graph = load(model);
  PassReport report;
  const Graph optimized = optimize(graph, &report);
  std::printf("%s\n%s%s\n", model.model, to_string(report).c_str(), operators(optimized).c_str());

  EXPECT_EQ(optimized.nodes.size(), size_t(model.nodes));
  EXPECT_LE(optimized.nodes.size(), graph.nodes.size());
  for (const std::string& op : model.gone) {
    const auto is_op = [&](const Node& node) { return node.op == op; };
    EXPECT_TRUE(std::any_of(graph.nodes.begin(), graph.nodes.end(), is_op)) << op;
    EXPECT_FALSE(std::any_of(optimized.nodes.begin(), optimized.nodes.end(), is_op)) << op;
  }
  ASSERT_EQ(optimized.outputs.size(), graph.outputs.size());
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    EXPECT_EQ(optimized.value(optimized.outputs[k]).name, graph.value(graph.outputs[k]).name);
  }
  if (!model.run) return;
  const std::vector<Tensor> inputs = lcg_inputs(graph);
  std::vector<Tensor> expected, actual;
  if (model.weights == ModelCase::kConstantOfShape) {
    // Equal weights everywhere would hide differences; the rule's weights do not.
    const Graph filled = fill_lcg_weights(graph, {.gain = lcg_gain_of(model.model).value_or(3)});
    expected = run(filled, inputs);
    actual = run(optimize(filled), inputs);
  } else {
    expected = run(graph, inputs);
    actual = run(optimized, inputs);
  }
  for (size_t k = 0; k < expected.size(); ++k) {
    const double error = relative_error(actual[k], expected[k]);
    std::printf("output %zu: relative error %.2g\n", k, error);
    EXPECT_LE(error, model.tolerance);
  }
}

const ModelCase kModels[] = {
    {"onnx_from_tflite/ad_autoencoder_fp32.onnx", 19},
    {"onnx_from_tflite/ad_autoencoder_qdq.onnx", 61},
    {"onnx_from_tflite/ic_resnet8_fp32.onnx", 23},
    {"onnx_from_tflite/ic_resnet8_qdq.onnx", 75},
    {"onnx_from_tflite/kws_dscnn_fp32.onnx", 22},
    {"onnx_from_tflite/kws_dscnn_qdq.onnx", 68},
    {"onnx_from_tflite/mobilenet_v1_0.25_128_fp32.onnx", 58},
    {"onnx_from_tflite/mobilenet_v1_0.25_128_qdq.onnx", 176},
    {"onnx_from_tflite/mobilenet_v2_1.0_224_fp32.onnx", 101},
    {"onnx_from_tflite/mobilenet_v2_1.0_224_qdq.onnx", 339},
    {"onnx_from_tflite/vww_mobilenet_fp32.onnx", 58},
    {"onnx_from_tflite/vww_mobilenet_qdq.onnx", 176},
    {"onnx_light_topologies/light_bvlc_alexnet.onnx",
     22,
     {"ConstantOfShape", "Dropout", "Reshape"},
     ModelCase::kConstantOfShape},
    {"onnx_light_topologies/light_inception_v1.onnx",
     142,
     {"ConstantOfShape", "Dropout", "AveragePool"},
     ModelCase::kConstantOfShape},
    {"onnx_light_topologies/light_resnet50.onnx",
     123,
     {"ConstantOfShape", "BatchNormalization", "Sum"},
     ModelCase::kConstantOfShape},
    {"onnx_light_topologies/light_squeezenet.onnx",
     65,
     {"ConstantOfShape", "Dropout"},
     ModelCase::kConstantOfShape},
    // Its two runs would take a minute.
    {"onnx_light_topologies/light_vgg19.onnx",
     44,
     {"ConstantOfShape", "Dropout"},
     ModelCase::kConstantOfShape,
     false},
    {"onnx_mnist8/model.onnx", 8, {"Add", "MatMul", "Reshape"}},
    {"onnx_seeded/dcgan_generator_seeded.onnx", 10, {"BatchNormalization"}},
    // Rounding differences grow in its instance normalisations
    // (tests/model/models_float/stored_outputs_outside_test.cpp).
    {"onnx_seeded/fast_style_seeded_224.onnx", 58, {}, ModelCase::kInFile, false},
    {"onnx_shape_only/mobilenetv2_noweights.onnx", 100, {}, ModelCase::kMissing, false},
    {"onnx_shape_only/resnet18_noweights.onnx", 49, {}, ModelCase::kMissing, false},
    {"onnx_squeezenet10/squeezenet1.0_fp16.onnx", 65, {"Dropout"}},
    {"onnx_squeezenet10/squeezenet1.0_fp32.onnx", 65, {"Dropout"}},
    {"onnx_super_resolution10/model.onnx",
     8,
     {"Reshape", "Transpose"},
     ModelCase::kInFile,
     true,
     2e-5,
     {{"batch_size", 1}}},
    {"onnx_ultraface/ultraface_rfb320.onnx", 125},
    {"qonnx_espcn/espcn_subpixel_float.onnx", 8},
    // All its numbers are integers in f32: exactly.
    {"dory_frontnet/Frontnet.onnx", 53, {"Add"}, ModelCase::kInFile, true, 0},
};

// A model that is added to the folder is added here.
TEST(OptimizeModelsList, CoversEveryFile) {
  std::set<std::string> listed = {"onnx_shape_only/fsrcnn_int8_dtype.onnx"};  // i8 where ONNX wants floats
  for (const ModelCase& model : kModels) listed.insert(model.model);
  for (const auto& folder : fs::directory_iterator(models_folder())) {
    const std::string name = folder.path().filename().string();
    if (name.rfind("onnx_", 0) != 0 || !folder.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(folder)) {
      if (file.path().extension() != ".onnx") continue;
      EXPECT_TRUE(listed.count(name + "/" + file.path().filename().string())) << file.path();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, OptimizeModels, ::testing::ValuesIn(kModels), case_name);

}  // namespace
}  // namespace tilewright
