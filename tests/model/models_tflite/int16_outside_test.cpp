// The MLPerf Tiny networks with activations of 16 bits: their 8-bit files, widened here, against what
// TFLite's runtime gave for the widened files.
#include <gtest/gtest.h>

#include <cmath>

#include "support/frontend/tflite_widened_testing.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

struct WidenedNetwork {
  const char* name;
  // Of the runtime (as WebAssembly), in steps of the output's scale: the first outputs, and the
  // sum of all, each times its position.
  std::vector<int64_t> first;
  int64_t outputs, weighted_sum;
};

const WidenedNetwork kNetworks[] = {
    {"kws_dscnn_int8",
     {-14603, -12418, -12263, -1640, -22268, -24750, -13114, -30632, -24663, 18077, -32768, 15233},
     12,
     -898331},
    {"ic_resnet8_int8",
     {-20660, -15533, -6606, -3308, -32271, -24832, 4284, -27748, -8917, -26171},
     10,
     -929082},
    {"ad_autoencoder_int8",
     {-17058, -12224, -10636, -7573, -5747, -4041, -6710, -6703, -7381, -6658, -6867, -6947},
     640,
     -2509966669},
    {"vww_mobilenet_int8", {31342, -30683}, 2, -30024},
};

// The stored input, in real numbers that 16 bits represent exactly.
Tensor real_input(const Tensor& stored, const Graph& graph, const tflite_schema::ModelT& narrow) {
  const tflite_schema::SubGraphT& sub = *narrow.subgraphs[0];
  const auto& quantization = *sub.tensors[size_t(sub.inputs[0])]->quantization;
  const Node* border = nullptr;
  for (const Node& node : graph.nodes) {
    if (node.is("QuantizeLinear") && border == nullptr) border = &node;
  }
  const float scale = graph.value(border->input(1)).constant->data<float>()[0];
  Tensor real(ElementType::kF32, stored.shape());
  for (int64_t i = 0; i < real.size(); ++i) {
    const double number =
        double(quantization.scale[0]) * double(stored.integer_at(i) - quantization.zero_point[0]);
    real.set_number(i, double(float(std::llround(number / double(scale))) * scale));
  }
  return real;
}

TEST(Int16Networks, HaveTheBitsOfTheRuntime) {
  for (const WidenedNetwork& network : kNetworks) {
    SCOPED_TRACE(network.name);
    const std::filesystem::path base = outside_models() / "tflite_mlperf_tiny" / network.name;
    const std::vector<std::byte> narrow = read_file(base.string() + ".tflite");
    const Graph graph = parse_tflite(tflite_testing::WidenedFile(narrow).build());
    const Tensor x = real_input(read_npy(base.string() + ".ref.in0.npy"), graph,
                                *tflite_schema::UnPackModel(narrow.data()));
    IntegerizeReport report;
    const Graph integer = integerize(optimize(graph), &report);
    EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
    const Tensor y = run(integer, {x})[0];
    const float scale = integer.value(integer.nodes.back().input(1)).constant->data<float>()[0];
    ASSERT_EQ(y.size(), network.outputs);
    int64_t sum = 0;
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t steps = std::lround(y.number_at(i) / double(scale));
      sum += (i + 1) * steps;
      if (i < int64_t(network.first.size())) EXPECT_EQ(steps, network.first[size_t(i)]) << i;
    }
    EXPECT_EQ(sum, network.weighted_sum);
  }
}

}  // namespace
}  // namespace tilewright
