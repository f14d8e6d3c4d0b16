#include "calibration_checks.h"

#include <gtest/gtest.h>

#include <iostream>

#include "shift_checks.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {

void for_each_calibration(const Graph& graph, const Tensor& images, const std::vector<int64_t>& labels,
                          int threads, const std::function<Graph(const QuantizeOptions&)>& quantised,
                          const std::function<void(const QuantizeOptions&, const AccuracyReport&)>& check) {
  for (const auto scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    for (const auto method : {CalibrationMethod::kMinMax, CalibrationMethod::kPercentile,
                              CalibrationMethod::kEntropy, CalibrationMethod::kSquaredError}) {
      QuantizeOptions options;
      options.scales = scales;
      options.calibration = method;
      const Graph qdq = quantised(options);
      IntegerizeReport coverage;
      const Graph integer = integerize(qdq, &coverage);
      Diagnostics problems;
      verify(qdq, problems);
      verify(integer, problems);
      ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
      EXPECT_EQ(coverage.integer_mac_share(), 1.0) << to_string(coverage);
      if (scales == ScaleKind::kPowerOfTwo) expect_only_shifts(integer);
      const AccuracyReport report = compare_accuracy(graph, integer, {images}, labels, threads);
      std::cout << (scales == ScaleKind::kReal ? "real scales, " : "powers of two, ") << "method "
                << int(method) << ": " << to_string(report);
      check(options, report);
    }
  }
}

}  // namespace tilewright
