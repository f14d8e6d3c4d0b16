// Float networks in wide fixed point (Q10.22): random ones against their float results, and trained ones by
// the classes they choose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include "model/own_networks/own_networks.h"
#include "model_data.h"
#include "support/transform/random_graph_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/fixed_point/fixed_point_check.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

constexpr int kQ22 = 22;

// 10 log10(sum a^2 / sum (a - b)^2) over all outputs.
double signal_to_noise_db(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double signal = 1e-12, noise = 1e-24;
  for (size_t i = 0; i < a.size(); ++i) {
    for (int64_t e = 0; e < a[i].size(); ++e) {
      const double x = a[i].number_at(e), error = x - b[i].number_at(e);
      signal += x * x;
      noise += error * error;
    }
  }
  return 10 * std::log10(signal / noise);
}

TEST(FixedPointNetworks, RandomOnesFollowFloat) {
  constexpr uint64_t kSeed = 71000;
  constexpr int kNetworks = 100;
  int64_t macs = 0, fixed_macs = 0;
  std::map<std::string, int> reasons;
  std::vector<double> quality;
  for (uint64_t seed = kSeed; seed < kSeed + kNetworks; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Graph graph = random_graph(seed);
    if (seed % 3 != 0) graph = optimize(std::move(graph));
    FixedPointReport report;
    const Graph fixed = to_fixed_point(graph, kQ22, &report);
    Diagnostics problems;
    verify(fixed, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    macs += report.total_macs();
    fixed_macs += report.fixed_macs();
    for (const FixedPointRecord& record : report.records) {
      if (!record.fixed_op.empty() || record.macs == 0) continue;
      EXPECT_TRUE(record.op == "ConvTranspose" || record.reason == "its bias differs between rows")
          << record.op << ": " << record.reason;
      ++reasons[record.op + ": " + record.reason];
    }
    const Tensor x = uniform_samples(graph.value(graph.inputs[0]).shape, 1, -1, 1, seed);
    EXPECT_FALSE(check_fixed_point(fixed, {x}).may_wrap());
    quality.push_back(signal_to_noise_db(run(graph, {x}), run(fixed, {x})));
    EXPECT_GT(quality.back(), 60);
  }
  std::sort(quality.begin(), quality.end());
  std::cout << kNetworks << " networks, " << 100.0 * double(fixed_macs) / double(macs)
            << "% of the MACs in fixed point; signal to noise: median " << quality[kNetworks / 2]
            << " dB, least " << quality.front() << " dB\n";
  for (const auto& [reason, count] : reasons) std::cout << count << " x " << reason << "\n";
  EXPECT_GE(double(fixed_macs), 0.9 * double(macs));
}

TEST(FixedPointNetworks, SurviveAFile) {
  const Graph fixed = to_fixed_point(optimize(random_graph(71500)), kQ22);
  const Graph read = parse_onnx(format_onnx(fixed));
  const Tensor x = uniform_samples(fixed.value(fixed.inputs[0]).shape, 1, -1, 1, 5);
  const std::vector<Tensor> before = run(fixed, {x}), after = run(optimize(read), {x});
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].identical(after[i]));
}

// Pixels of 0..1 and sums of a few tens: well within the 10 integer bits of Q10.22.
class TrainedInFixedPoint : public testing::TestWithParam<const char*> {};

TEST_P(TrainedInFixedPoint, KeepsItsAnswers) {
  const FashionImages test = fashion_test_images(200);
  const Graph graph = trained_network(GetParam());
  FixedPointReport report;
  const Graph fixed = to_fixed_point(graph, kQ22, &report);
  EXPECT_EQ(report.fixed_mac_share(), 1.0);
  EXPECT_TRUE(report.warnings.empty());
  const AccuracyReport accuracy = compare_accuracy(graph, fixed, {test.images}, test.labels, 1);
  const FixedPointCheck check = check_fixed_point(fixed, {test.images}, 1);
  std::cout << to_string(accuracy) << to_string(report) << to_string(check);
  EXPECT_GE(accuracy.float_correct, 174);  // 87 %
  EXPECT_EQ(accuracy.agreements, 200);
  EXPECT_EQ(check.saturated(), 0);
  EXPECT_FALSE(check.may_wrap());
}

INSTANTIATE_TEST_SUITE_P(Fashion, TrainedInFixedPoint, testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

// Pixels of 0 to 255 make sums in the thousands: too much for Q10.22, which the check says.
TEST(FixedPointNetworks, TooFewIntegerBitsAreNoticed) {
  FashionImages test = fashion_test_images(20);
  for (float& pixel : test.images.mutable_data<float>()) pixel *= 255;
  const Graph graph = trained_lenet();
  EXPECT_GT(check_fixed_point(to_fixed_point(graph, kQ22), {test.images}, 1).saturated(), 100);
  EXPECT_EQ(check_fixed_point(to_fixed_point(graph, 12), {test.images}, 1).saturated(), 0);
}

}  // namespace
}  // namespace tilewright
