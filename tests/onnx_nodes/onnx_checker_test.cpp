// What the writer produces, held against the ONNX library's own checker and shape inference.
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <filesystem>
#include <map>

#include "outside.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class OnnxChecker : public testing::TestWithParam<const char*> {};

TEST_P(OnnxChecker, AcceptsWhatTheWriterMakes) {
  const fs::path file = outside_models() / GetParam();
  if (!fs::exists(file)) GTEST_SKIP() << file << " is missing";
  OnnxOptions options;
  options.allow_missing_weights = true;
  options.dimensions["batch_size"] = 1;
  const Graph graph = read_onnx(file, options);
  const std::vector<std::byte> bytes = format_onnx(graph);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromArray(bytes.data(), int(bytes.size())));
  EXPECT_NO_THROW(onnx::checker::check_model(model));

  // Their inference, from inputs and weights alone, finds the shapes that we wrote.
  std::map<std::string, onnx::TypeProto> written;
  for (const auto& info : model.graph().value_info()) written[info.name()] = info.type();
  EXPECT_EQ(written.size() + size_t(model.graph().output_size()), graph.nodes.size());
  model.mutable_graph()->clear_value_info();
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), {true, 1, true});
  int compared = 0;
  for (const auto& info : model.graph().value_info()) {
    const auto found = written.find(info.name());
    ASSERT_NE(found, written.end()) << info.name();
    EXPECT_EQ(found->second.DebugString(), info.type().DebugString()) << info.name();
    ++compared;
  }
  EXPECT_GE(compared * 10, int(written.size()) * 9);
}

INSTANTIATE_TEST_SUITE_P(
    SharedModels, OnnxChecker,
    testing::Values("onnx_from_tflite/ic_resnet8_qdq.onnx", "onnx_from_tflite/kws_dscnn_fp32.onnx",
                    "onnx_mnist8/model.onnx", "onnx_seeded/dcgan_generator_seeded.onnx",
                    "onnx_seeded/fast_style_seeded_224.onnx", "onnx_light_topologies/light_inception_v1.onnx",
                    "onnx_light_topologies/light_resnet50.onnx", "onnx_shape_only/mobilenetv2_noweights.onnx",
                    "onnx_squeezenet10/squeezenet1.0_fp16.onnx", "onnx_super_resolution10/model.onnx",
                    "onnx_ultraface/ultraface_rfb320.onnx"));

}  // namespace
}  // namespace tilewright
