// What the writer makes of the project's networks, held against the ONNX library's checker and shape
// inference.
#include <gtest/gtest.h>

#include "model/onnx_nodes/checker_comparison.h"
#include "model/own_networks/own_networks.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

TEST(OnnxCheckerNetworks, AcceptsWhatTheWriterMakes) {
  for (const char* name : kTrainedNetworks) {
    SCOPED_TRACE(name);
    expect_accepted_by_checker(trained_network(name));
    expect_accepted_by_checker(quantized_network(name));
  }
  for (const zoo::Network& network : zoo::networks()) {
    SCOPED_TRACE(network.name);
    expect_accepted_by_checker(network.build(network.small));
  }
}

}  // namespace
}  // namespace tilewright
