// Every ONNX file among the shared models: read, and held against the operator counts of its provenance
// record.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = outside_models();

// "66 nodes: Conv:26 Relu:26 ..." of the record of `file`, without the Constant nodes, which become
// constants.
std::map<std::string, int> recorded_operators(const fs::path& file) {
  std::istringstream lines(read_text_file(file.parent_path() / "PROVENANCE.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(file.filename().string() + " |", 0) != 0) continue;
    std::map<std::string, int> counts;
    const std::string list = line.substr(line.rfind("nodes:") + 6);
    const std::regex entry("([A-Za-z0-9]+):([0-9]+)");
    for (std::sregex_iterator i(list.begin(), list.end(), entry), end; i != end; ++i) {
      counts[(*i)[1]] = std::stoi((*i)[2]);
    }
    counts.erase("Constant");
    return counts;
  }
  return {};
}

std::map<std::string, int> operators(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes) ++counts[node.op];
  return counts;
}

std::string model_error(const fs::path& file) {
  try {
    read_onnx(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SharedOnnxModels, StandardOnesHaveTheRecordedOperators) {
  int count = 0;
  for (const char* folder :
       {"dory_frontnet", "onnx_from_tflite", "onnx_light_topologies", "onnx_mnist8", "onnx_seeded",
        "onnx_shape_only", "onnx_squeezenet10", "onnx_super_resolution10", "onnx_ultraface", "qonnx_espcn"}) {
    for (const auto& entry : fs::directory_iterator(kModels / folder)) {
      const fs::path& file = entry.path();
      const bool is_standard =
          file.filename() != "fsrcnn_int8_dtype.onnx" && file.filename() != "espcn_subpixel_quant.onnx";
      if (file.extension() != ".onnx" || !is_standard) continue;
      SCOPED_TRACE(file.string());
      OnnxOptions options;
      options.allow_missing_weights = file.parent_path().filename() == "onnx_shape_only";
      if (file.parent_path().filename() == "onnx_super_resolution10") options.dimensions["batch_size"] = 1;
      Diagnostics warnings;
      const Graph graph = read_onnx(file, options, &warnings);
      EXPECT_EQ(operators(graph), recorded_operators(file));
      EXPECT_EQ(warnings.warnings().empty(), !options.allow_missing_weights);
      ++count;
    }
  }
  std::cout << count << " models read\n";
}

TEST(SharedOnnxModels, MissingWeightsAreNamed) {
  const fs::path file = kModels / "onnx_shape_only" / "resnet18_noweights.onnx";
  const std::string message = model_error(file);
  EXPECT_NE(message.find("initializer 'fc.weight'"), std::string::npos) << message;
  EXPECT_NE(message.find("external data file 'resnet18.external' is missing"), std::string::npos) << message;
}

TEST(SharedOnnxModels, AWorkloadOfIntegerTypedConvolutionsIsRead) {
  const fs::path file = kModels / "onnx_shape_only" / "fsrcnn_int8_dtype.onnx";
  Diagnostics warnings;
  EXPECT_EQ(read_onnx(file, {}, &warnings).nodes.size(), 8u);
  EXPECT_EQ(warnings.warnings().size(), 1u);
}

TEST(SharedOnnxModels, UnboundDimensionsAreNamed) {
  const fs::path file = kModels / "onnx_super_resolution10" / "model.onnx";
  const std::string message = model_error(file);
  EXPECT_NE(message.find("dynamic dimensions without a size: batch_size"), std::string::npos) << message;
  EXPECT_NE(message.find("--shape batch_size=N"), std::string::npos) << message;
}

TEST(SharedOnnxModels, QonnxQuantisersBecomeStandardOperators) {
  for (const char* file : {"finn_tfc_w1a1/model.onnx", "qonnx_tfc/TFC_1W1A.onnx", "qonnx_tfc/TFC_2W2A.onnx",
                           "qonnx_espcn/espcn_subpixel_quant.onnx"}) {
    SCOPED_TRACE(file);
    EXPECT_EQ(model_error(kModels / file), "");
    for (const Node& node : read_onnx(kModels / file).nodes) EXPECT_EQ(node.domain, "") << node.op;
  }
}

}  // namespace
}  // namespace tilewright
