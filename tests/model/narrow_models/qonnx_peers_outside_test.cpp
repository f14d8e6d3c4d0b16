// QONNX networks of other exporters (biases of 16 bits, integers as parameters, operators without a domain)
// against the values of their own definition.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

struct Peer {
  const char* name;
  double tolerance;  // of the real values
};

int64_t best(const Tensor& scores) {
  int64_t index = 0;
  for (int64_t i = 1; i < scores.size(); ++i) {
    if (scores.number_at(i) > scores.number_at(index)) index = i;
  }
  return index;
}

TEST(QonnxPeers, GiveTheirReferenceValues) {
  const std::filesystem::path folder = outside_models() / "qonnx_peers";
  for (const Peer& peer : {Peer{"nn2fpga_resnet8", 0}, Peer{"mlperf_kws_w3a3", 1e-5}}) {
    SCOPED_TRACE(peer.name);
    const auto file = [&](const char* ending) { return folder / (std::string(peer.name) + ending); };
    const Graph graph = optimize(read_onnx(file(".onnx")));
    const Tensor input = read_npy(file(".ref.in0.npy")), expected = read_npy(file(".ref.out0.npy"));
    const Tensor found = run(graph, {input})[0];
    ASSERT_EQ(found.size(), expected.size());
    for (int64_t i = 0; i < found.size(); ++i) {
      EXPECT_LE(std::fabs(found.number_at(i) - expected.number_at(i)), peer.tolerance) << "element " << i;
    }
    const Graph integers = integerize(graph);
    EXPECT_EQ(best(run(integers, {input})[0]), best(expected));
  }
}

}  // namespace
}  // namespace tilewright
