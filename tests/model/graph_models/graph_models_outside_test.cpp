// Networks of others through the graph module: what the reader makes passes the verifier, shape inference
// from nothing finds the same shapes, the text form gives back the same bits, and the multiply-accumulates
// are those known of the networks.
#include <gtest/gtest.h>

#include <filesystem>

#include "model/graph_models/graph_checks.h"
#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/inference/statistics.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = outside_models();

std::vector<fs::path> standard_models() {
  std::vector<fs::path> files;
  for (const char* folder :
       {"dory_frontnet", "onnx_from_tflite", "onnx_light_topologies", "onnx_mnist8", "onnx_seeded",
        "onnx_shape_only", "onnx_squeezenet10", "onnx_super_resolution10", "onnx_ultraface"}) {
    for (const auto& entry : fs::directory_iterator(kModels / folder)) {
      if (entry.path().extension() == ".onnx" && entry.path().filename() != "fsrcnn_int8_dtype.onnx") {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Graph read(const fs::path& file) {
  OnnxOptions options;
  options.allow_missing_weights = true;
  options.dimensions["batch_size"] = 1;
  Diagnostics warnings;
  return read_onnx(file, options, &warnings);
}

TEST(GraphModels, VerifyInferPrintAndParse) {
  const std::vector<fs::path> files = standard_models();
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    expect_sound(read(file));
  }
  std::cout << files.size() << " models\n";
}

TEST(GraphModels, MultiplyAccumulatesAreTheKnownOnes) {
  const auto macs = [](const char* file) { return statistics(read(kModels / file)).total.macs; };
  // torchvision's ResNet-18 at 224 x 224: 1.814 G in the convolutions, 512 x 1000 in the last layer.
  EXPECT_EQ(macs("onnx_shape_only/resnet18_noweights.onnx"), 1814073344);
  EXPECT_EQ(macs("onnx_shape_only/mobilenetv2_noweights.onnx"), 300774272);
}

TEST(GraphModels, DamagedGraphsGiveDiagnosticsOnly) {
  expect_diagnostics_only(read(kModels / "onnx_from_tflite" / "ic_resnet8_qdq.onnx"), 700);
}

}  // namespace
}  // namespace tilewright
