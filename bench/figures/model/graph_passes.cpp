// graph_passes: nodes and arithmetic intensity of the shared ONNX models before and after the graph passes.
// Weight-less topologies (light_*) are filled first, so that the nodes that stand for their weights do not
// count.
//
// Intensity is MACs per byte: every operator reads its inputs and weights once and writes its outputs
// ("unfused"), or groups of operators do (src/tilewright/transform/fusion_groups.h, "fused"). Not included:
// files that no reader accepts. Exits non-zero if a listed model is missing.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/transform/pipeline.h"

namespace {

using namespace tilewright;

constexpr const char* kModels[] = {
    "dory_frontnet/Frontnet",
    "onnx_from_tflite/ad_autoencoder_fp32",
    "onnx_from_tflite/ad_autoencoder_qdq",
    "onnx_from_tflite/ic_resnet8_fp32",
    "onnx_from_tflite/ic_resnet8_qdq",
    "onnx_from_tflite/kws_dscnn_fp32",
    "onnx_from_tflite/kws_dscnn_qdq",
    "onnx_from_tflite/mobilenet_v1_0.25_128_fp32",
    "onnx_from_tflite/mobilenet_v1_0.25_128_qdq",
    "onnx_from_tflite/mobilenet_v2_1.0_224_fp32",
    "onnx_from_tflite/mobilenet_v2_1.0_224_qdq",
    "onnx_from_tflite/vww_mobilenet_fp32",
    "onnx_from_tflite/vww_mobilenet_qdq",
    "onnx_light_topologies/light_bvlc_alexnet",
    "onnx_light_topologies/light_inception_v1",
    "onnx_light_topologies/light_resnet50",
    "onnx_light_topologies/light_squeezenet",
    "onnx_light_topologies/light_vgg19",
    "onnx_mnist8/model",
    "onnx_seeded/dcgan_generator_seeded",
    "onnx_seeded/fast_style_seeded_224",
    "onnx_shape_only/mobilenetv2_noweights",
    "onnx_shape_only/resnet18_noweights",
    "onnx_squeezenet10/squeezenet1.0_fp16",
    "onnx_squeezenet10/squeezenet1.0_fp32",
    "onnx_super_resolution10/model",
    "onnx_ultraface/ultraface_rfb320",
};

std::string json_of(const char* name, const PassReport& report, double seconds) {
  char line[400];
  std::snprintf(line, sizeof line,
                "{\"model\": \"%s\", \"nodes_before\": %d, \"nodes_after\": %d, \"macs\": %lld, "
                "\"macs_per_byte_unfused_before\": %.3f, \"macs_per_byte_unfused_after\": %.3f, "
                "\"macs_per_byte_fused_after\": %.3f, \"passes_s\": %.3f}",
                name, report.nodes_before, report.nodes_after, static_cast<long long>(report.after.macs),
                report.before.unfused(), report.after.unfused(), report.after.fused(), seconds);
  return line;
}

}  // namespace

int main() {
  std::string models;
  int nodes_before = 0, nodes_after = 0, count = 0;
  std::printf("%-46s %6s %6s  %21s %6s\n", "model", "before", "after", "MACs/byte: was, is", "fused");
  for (const char* name : kModels) {
    const auto path = outside_models() / (std::string(name) + ".onnx");
    if (!std::filesystem::exists(path)) {
      std::fprintf(stderr, "missing: %s\n", path.c_str());
      return 1;
    }
    OnnxOptions options;
    options.dimensions["batch_size"] = 1;
    options.allow_missing_weights = true;
    try {
      Graph graph = read_onnx(path, options);
      if (std::string(name).find("/light_") != std::string::npos)
        graph = fill_lcg_weights(std::move(graph), {});
      PassReport report;
      const auto start = std::chrono::steady_clock::now();
      optimize(graph, &report);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      std::printf("%-46s %6d %6d  %10.2f %10.2f %6.2f\n", name, report.nodes_before, report.nodes_after,
                  report.before.unfused(), report.after.unfused(), report.after.fused());
      models += (models.empty() ? "" : ", ") + json_of(name, report, elapsed.count());
      nodes_before += report.nodes_before;
      nodes_after += report.nodes_after;
      ++count;
    } catch (const Error& error) {
      std::fprintf(stderr, "%s: %s\n", name, error.what());
      return 1;
    }
  }
  std::printf(
      "{\"figure\": \"graph_passes\", \"models\": %d, \"nodes_before\": %d, \"nodes_after\": %d, \"list\": "
      "[%s]}\n",
      count, nodes_before, nodes_after, models.c_str());
  return count == 0;
}
