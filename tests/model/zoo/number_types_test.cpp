// The small benchmarks of the TensorFlow-to-FPGA paper in 8 bits and in its own number type, Q10.22: every
// layer is lowered, and the results stay close to float.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "tilewright/host/executor.h"
#include "tilewright/quantize/fixed_point/fixed_point_check.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

double signal_to_noise_db(const Tensor& exact, const Tensor& actual) {
  double signal = 0, noise = 1e-24;
  for (int64_t i = 0; i < exact.size(); ++i) {
    const double x = exact.number_at(i), error = x - actual.number_at(i);
    signal += x * x;
    noise += error * error;
  }
  return 10 * std::log10(signal / noise);
}

// Sixteen inputs in one array.
Tensor calibration_inputs(const Graph& graph) {
  Shape shape = graph.value(graph.inputs[0]).shape;
  const int64_t size = shape.element_count();
  shape[0] = 16;
  Tensor inputs(ElementType::kF32, shape);
  for (int64_t i = 0; i < 16; ++i) {
    std::ranges::copy(seeded_input(graph, uint64_t(100 + i)).data<float>(),
                      inputs.mutable_data<float>().begin() + i * size);
  }
  return inputs;
}

int64_t count(const Graph& graph, const char* op) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& node) { return node.is_tilewright(op); });
}

struct ExpectedTypes {
  const char* network;
  int64_t lookups;
  double least_int8_db, least_fixed_db;
};

// Measured when written: 37.4 and 38.9 dB in 8 bits, 106.6 and 86.1 dB in Q10.22.
constexpr ExpectedTypes kExpectedTypes[] = {{"cifar10_tutorial", 0, 34, 100}, {"djinn_asr", 6, 35, 80}};

TEST(ZooNumberTypes, EightBitsAndQ22StayCloseToFloat) {
  for (const ExpectedTypes& expected : kExpectedTypes) {
    SCOPED_TRACE(expected.network);
    const Graph real = optimize(network(expected.network).build({}));
    const Tensor input = seeded_input(real, 7);
    const Tensor exact = run(real, {input})[0];

    QuantizeOptions plain;
    plain.reconstruct = false;  // minutes, with the dense layers of speech recognition
    IntegerizeReport integers;
    const Graph integer = integerize(quantize(real, {calibration_inputs(real)}, plain), &integers);
    EXPECT_EQ(integers.integer_mac_share(), 1.0);
    EXPECT_EQ(count(integer, "QLookup"), expected.lookups);
    const double int8_db = signal_to_noise_db(exact, run(integer, {input})[0]);
    EXPECT_GT(int8_db, expected.least_int8_db);

    FixedPointReport report;
    const Graph fixed = to_fixed_point(real, 22, &report);
    EXPECT_EQ(report.fixed_mac_share(), 1.0);
    EXPECT_TRUE(report.warnings.empty());
    EXPECT_EQ(count(fixed, "FixedLookup"), expected.lookups);
    EXPECT_EQ(count(fixed, "FixedEncode"), 1);
    EXPECT_EQ(count(fixed, "FixedDecode"), 1);
    const double fixed_db = signal_to_noise_db(exact, run(fixed, {input})[0]);
    EXPECT_GT(fixed_db, expected.least_fixed_db);
    const FixedPointCheck check = check_fixed_point(fixed, {input}, 2);
    EXPECT_EQ(check.saturated(), 0);
    EXPECT_FALSE(check.may_wrap());
    std::cout << expected.network << ": signal to noise of the output " << int8_db << " dB in 8 bits, "
              << fixed_db << " dB in Q10.22; " << to_string(check);
  }
}

// Small sizes; what stays in float are response normalisations and transposed convolutions.
TEST(ZooNumberTypes, EveryNetworkRunsInQ22) {
  for (const Network& network : networks()) {
    SCOPED_TRACE(network.name);
    const Graph real = optimize(network.build(network.small));
    FixedPointReport report;
    const Graph fixed = to_fixed_point(real, 22, &report);
    const Tensor input = seeded_input(real, 7);
    const double db = signal_to_noise_db(run(real, {input})[0], run(fixed, {input})[0]);
    std::cout << network.name << ": " << db << " dB, " << 100 * report.fixed_mac_share() << "% of the MACs; "
              << to_string(check_fixed_point(fixed, {input}, 2));
    EXPECT_GT(db, 80);
    for (const FixedPointRecord& record : report.records) {
      EXPECT_TRUE(record.macs == 0 || record.op == "ConvTranspose" || !record.fixed_op.empty())
          << record.node;
    }
  }
}

}  // namespace
}  // namespace tilewright::zoo
