// Every network of the zoo, small: quantised on one sample and lowered to integers, in both kinds of scales.
// At least 99% of the multiply-accumulates must be integer.
#include <gtest/gtest.h>

#include "shift_checks.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

void expect_integer(const zoo::Network& network) {
  SCOPED_TRACE(network.name);
  const Graph graph = optimize(network.build(network.small));
  for (const ScaleKind scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    QuantizeOptions options;
    options.scales = scales;
    const Graph qdq = quantize(graph, {zoo::seeded_input(graph, 1)}, options);
    IntegerizeReport report;
    const Graph integer = integerize(qdq, &report);
    Diagnostics problems;
    verify(qdq, problems);
    verify(integer, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    EXPECT_GE(report.integer_mac_share(), 0.99) << to_string(report);
    if (scales == ScaleKind::kPowerOfTwo) expect_only_shifts(integer);
  }
}

TEST(QuantizeCoverage, TheZooIsInteger) {
  for (const zoo::Network& network : zoo::networks()) expect_integer(network);
  for (const zoo::Network& network : zoo::tensorflow_networks()) expect_integer(network);
}

}  // namespace
}  // namespace tilewright
