// Random chains of dense layers as constant pipelines against the network's own evaluation, and what is
// refused; staircases of finishes as products.
#include "tilewright/pipeline/constant/constant_network.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "support/netlist/evaluator_testing.h"
#include "support/netlist/flatten_testing.h"
#include "support/pipeline/dense_network_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist_testing.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/constant/step_scale.h"

namespace tilewright::pipeline {
namespace {

TEST(ConstantNetworks, EqualTheNetworkInEveryCycle) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(60); ++i) {
    const Network network = random_dense_network(random, i % 10 == 0 ? 24 : 8);
    SCOPED_TRACE(fmt::format("seed {}, case {}", test_seed(), i));
    ConstantNetworkOptions options;
    options.levels = int(random.between(1, 6));
    options.solve.attempts = 1;
    const ConstantNetwork made = build_constant_network(network, options);
    netlist::require_verified(made.design, netlist::BoxLibrary(), "constant network");
    netlist::Evaluator evaluator({made.design.top, {netlist::flatten(made.design)}});
    const NetworkTensor& in = network.tensors[0];
    const NetworkTensor& out = network.tensors.back();
    const int enable = evaluator.port("enable"), in_valid = evaluator.port("in_valid");
    const int out_valid = evaluator.port("out_valid");
    evaluator.reset();
    std::deque<std::vector<int32_t>> due;
    for (int cycle = 0; cycle < made.latency + 40; ++cycle) {
      const bool step = random.chance(0.8), valid = random.chance(0.7);
      const std::vector<int32_t> input = random_input(in, random);
      for (size_t e = 0; e < input.size(); ++e) {
        const int64_t bit = in.bipolar ? (input[e] > 0 ? 1 : 0) : input[e];
        evaluator.set(evaluator.port(fmt::format("in{}", e)), netlist::low_bits(uint64_t(bit), in.bits));
      }
      evaluator.set(enable, step), evaluator.set(in_valid, valid);
      if (step) due.push_back(valid ? evaluate(network, input).back() : std::vector<int32_t>());
      evaluator.settle();
      evaluator.edge();
      evaluator.settle();
      if (!step || int(due.size()) < made.latency) continue;
      ASSERT_EQ(evaluator.get(out_valid) != 0, !due.front().empty());
      for (size_t e = 0; e < due.front().size(); ++e) {
        const int64_t element = out.bipolar ? (due.front()[e] > 0 ? 1 : 0) : due.front()[e];
        ASSERT_EQ(evaluator.get(evaluator.port(fmt::format("out{}", e))),
                  netlist::low_bits(uint64_t(element), range_bits(made.outputs[e])))
            << "element " << e << ", cycle " << cycle;
      }
      due.pop_front();
    }
  }
}

TEST(ConstantNetworks, ScalesKeepEveryStep) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(200); ++i) {
    const int bits = int(random.between(1, 8));
    const int64_t reach = int64_t{1} << random.between(3, 17);
    const NumberRange sums{-random.between(0, reach), random.between(1, reach)};
    const Requantization scale = random_scale(random, double(1 << bits) / double(2 * reach));
    const int64_t low = random.chance(0.5) ? 0 : -(1 << (bits - 1)), high = low + (1 << bits) - 1;
    const int64_t zero_point = random.chance(0.5) ? 0 : random.between(low, high);
    const auto element = [&](int64_t sum) {
      return clip(scaled(int32_t(sum), scale) + zero_point, low, high);
    };
    const StepScale found = fit_steps(element, sums, decode_scale(scale), zero_point);
    for (int64_t sum = sums.low; sum <= sums.high; ++sum) {
      ASSERT_EQ(found.element_of(sum), element(sum))
          << fmt::format("seed {}, case {}: sum {}", test_seed(), i, sum);
    }
  }
}

TEST(ConstantNetworks, PowersOfTwoNeedNoProduct) {
  const Requantization scale = encode_scale(1.0 / 64);
  const StepScale found = fit_steps([&](int64_t sum) { return clip(scaled(int32_t(sum), scale), 0, 127); },
                                    {-20000, 20000}, decode_scale(scale), 0);
  EXPECT_EQ(found.factor, 1);
  EXPECT_EQ(found.shift, 6);
  // A sign is one bit of a sum.
  const StepScale sign =
      fit_steps([](int64_t sum) { return int64_t{sum >= 37 ? 1 : 0}; }, {-1000, 1000}, 0.37, 0);
  EXPECT_EQ(sign.factor, 1);
  EXPECT_EQ((36 + sign.offset) >> sign.shift, 0);
  EXPECT_EQ((1000 + sign.offset) >> sign.shift, 1);
}

TEST(ConstantNetworks, OtherLayersAreNamed) {
  Random random(test_seed());
  Network network = random_dense_network(random, 4);
  network.layers[0].kind = LayerKind::kAveragePool;
  try {
    build_constant_network(network);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what())
                  .find("layer 'dense0' (constant weights): it is no product of all channels (average); "
                        "constant weights "
                        "take a chain of dense layers; use --form auto"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tilewright::pipeline
