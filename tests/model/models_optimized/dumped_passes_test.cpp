// Every stage of the passes is a valid ONNX file: written, checked by the reader and read back, it is the
// same graph.
#include <gtest/gtest.h>

#include "model/own_networks/own_networks.h"
#include "support/frontend/graph_equality_testing.h"
#include "support/transform/random_graph_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

int check_every_stage(const Graph& graph) {
  int stages = 0;
  optimize(graph, nullptr, [&](const std::string& pass, const Graph& after) {
    EXPECT_EQ(describe_difference(after, parse_onnx(format_onnx(after))), "") << pass;
    ++stages;
  });
  return stages;
}

TEST(DumpedPasses, OfRandomGraphs) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    EXPECT_GE(check_every_stage(random_graph(seed)), int(pass_names().size()));
  }
}

TEST(DumpedPasses, OfNetworks) {
  for (const char* name : kTrainedNetworks) {
    SCOPED_TRACE(name);
    check_every_stage(read_onnx(fashion_file(name)));
    check_every_stage(quantized_network(name));
  }
  for (const zoo::Network& network : zoo::networks()) {
    SCOPED_TRACE(network.name);
    check_every_stage(network.build(network.small));
  }
}

}  // namespace
}  // namespace tilewright
