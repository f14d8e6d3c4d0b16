#include "model/onnx_nodes/checker_comparison.h"

#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <map>

#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {

void expect_accepted_by_checker(const Graph& graph) {
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

}  // namespace tilewright
