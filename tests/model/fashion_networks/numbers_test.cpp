// The residual, the depthwise and the gated network as files and in integers: what they are and how often
// they are right.
#include <cstdlib>
#include <filesystem>

#include "facts.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"

namespace tilewright {
namespace {

TEST_P(FashionNetworks, TheFileIsWhatItsTableAndWeightsGive) {
  const Graph graph = read_onnx(fashion_file(GetParam().name));
  const std::vector<Tensor> parameters = parameters_in(graph);
  const std::vector<Shape> shapes = fashion::parameter_shapes(GetParam().table());
  ASSERT_EQ(parameters.size(), shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(parameters[i].shape(), shapes[i]) << i;
  EXPECT_TRUE(format_onnx(fashion::as_graph(GetParam().table(), parameters)) ==
              read_file(fashion_file(GetParam().name)));
  const NodeStatistics total = statistics(graph).total;
  EXPECT_EQ(total.parameters, GetParam().parameters);
  EXPECT_EQ(total.macs, GetParam().macs);
  EXPECT_LT(std::filesystem::file_size(fashion_file(GetParam().name)), 500'000u);
}

// Sums in another order may turn an answer or two.
TEST_P(FashionNetworks, KeepTheirAccuracyInEightBits) {
  const FashionImages test = fashion_test_images(1000);
  const Graph graph = trained_network(GetParam().name);
  for (const ScaleKind scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    QuantizeOptions options;
    options.scales = scales;
    const AccuracyReport report = compare_accuracy(
        graph, integerize(quantized_network(GetParam().name, options, 512)), {test.images}, test.labels, 1);
    EXPECT_LE(std::abs(report.float_correct - GetParam().float_1000), 2);
    const int64_t stated = scales == ScaleKind::kReal ? GetParam().int8_1000 : GetParam().plain_1000;
    EXPECT_LE(std::abs(report.quantized_correct - stated), 4)
        << report.quantized_correct << " right, " << stated << " stated";
  }
}

}  // namespace

TILEWRIGHT_ON_BOTH(FashionNetworks);
INSTANTIATE_TEST_SUITE_P(Gated, FashionNetworks, ::testing::Values(kGatedFacts),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace tilewright
