// What is no network for the pipeline. Whole networks: tests/pipeline_number_types.
#include "tilewright/pipeline/network/network.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {
namespace {

TEST(ExtractNetwork, RefusesAGraphWithoutIntegerLayers) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 3});
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 3});
  graph.add_node("relu", "Relu", {x}, {y});
  graph.outputs = {y};
  try {
    extract_network(graph);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("no integer layer with weights"), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright::pipeline
