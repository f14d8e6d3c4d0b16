// Networks of the project through the graph module.
#include "model/own_networks/own_networks.h"

#include <gtest/gtest.h>

#include "model/graph_models/graph_checks.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

TEST(OwnNetworks, VerifyInferPrintAndParse) {
  for (const char* name : kTrainedNetworks) {
    SCOPED_TRACE(name);
    const Graph quantised = quantized_network(name);
    expect_sound(trained_network(name));
    expect_sound(quantised);
    expect_sound(integerize(quantised));
  }
  expect_sound(parse_onnx(signs_network_file(1)));
  for (const zoo::Network& network : zoo::networks()) expect_sound(network.build(network.small));
  for (const zoo::Network& network : zoo::tensorflow_networks()) expect_sound(network.build(network.small));
}

TEST(OwnNetworks, DamagedGraphsGiveDiagnosticsOnly) { expect_diagnostics_only(quantized_lenet(), 500); }

}  // namespace
}  // namespace tilewright
