#include "tilewright/quantize/finetune/fine_tune.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/quantize/bit_trials.h"
#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"

namespace tilewright {
namespace {

struct Narrow {
  FloatGraph g;
  std::vector<Tensor> samples;
  QuantizeOptions recipe;
};

Narrow narrow_network(uint64_t seed, int bits) {
  Narrow narrow{residual_network(seed), {}, {}};
  narrow.samples = {narrow.g.numbers({48, 2, 8, 8}, -1, 1)};
  narrow.recipe.weight_bits = bits;
  narrow.recipe.activation_bits = bits + 1;
  return narrow;
}

FineTuneOptions few_runs(int threads) {
  FineTuneOptions options;
  options.runs = 3'200;
  options.batch = 16;
  options.rate = 0.02;
  options.shift = options.blend = false;
  options.threads = threads;
  return options;
}

// The network of the trained numbers computes what was trained: in the float of QDQ and in integers.
TEST(FineTune, LowersTheLossAndIsWrittenAsTrained) {
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Narrow narrow = narrow_network(seed, 2);
    RecipeFitter fitter(narrow.g.graph, narrow.samples, 1, {});
    NetworkQuantizer quantizer = fitter.quantizer(narrow.recipe);
    const PreparedNetwork& network = fitter.network(narrow.recipe);
    const BitWidths widths = chosen_widths(network, narrow.recipe);
    const RoundedNetwork start = quantizer.rounded(widths);
    ASSERT_EQ(fine_tuning_problem(network.graph, start), "");
    const FineTuneResult tuned = fine_tune(network.graph, start, narrow.samples, {}, few_runs(2));
    EXPECT_LT(tuned.loss_after, 0.95 * tuned.loss_before);
    EXPECT_EQ(tuned.steps, 3'200 / 16);

    // Not trained at all, the network is the quantiser's own.
    EXPECT_EQ(classify(quantizer.write(start), narrow.samples, 1),
              classify(quantizer.quantize(widths), narrow.samples, 1));
    FineTuneOptions none = few_runs(1);
    none.rate = 0;
    const FineTuneResult same = fine_tune(network.graph, start, narrow.samples, {}, none);
    EXPECT_EQ(same.loss_before, same.loss_after);
    for (size_t l = 0; l < start.layers.size(); ++l)
      EXPECT_TRUE(same.network.layers[l].integers.identical(start.layers[l].integers)) << l;

    NoiseMeter meter(narrow.g.graph, narrow.samples, 1);
    const double before = least_db(meter.measure(quantizer.write(start), {}).outputs);
    const double after = least_db(meter.measure(quantizer.write(tuned.network), {}).outputs);
    EXPECT_GT(after, before - 4);  // the loss that falls is not the noise
    EXPECT_EQ(classify(integerize(quantizer.write(tuned.network)), narrow.samples, 1),
              classify(quantizer.write(tuned.network), narrow.samples, 1));
    for (const RoundedLayer& layer : tuned.network.layers) {
      for (const int8_t integer : layer.integers.data<int8_t>()) EXPECT_LE(std::abs(integer), layer.highest);
    }
  }
}

TEST(FineTune, ASeedGivesTheSameNetworkWithAnyNumberOfThreads) {
  Narrow narrow = narrow_network(test_seed(), 3);
  RecipeFitter fitter(narrow.g.graph, narrow.samples, 1, {});
  NetworkQuantizer quantizer = fitter.quantizer(narrow.recipe);
  const PreparedNetwork& network = fitter.network(narrow.recipe);
  const RoundedNetwork start = quantizer.rounded(chosen_widths(network, narrow.recipe));
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 48; ++i) labels.push_back(i % 10);
  const FineTuneResult one = fine_tune(network.graph, start, narrow.samples, labels, few_runs(1));
  const FineTuneResult three = fine_tune(network.graph, start, narrow.samples, labels, few_runs(3));
  EXPECT_EQ(one.loss_after, three.loss_after);
  for (size_t l = 0; l < start.layers.size(); ++l) {
    EXPECT_TRUE(one.network.layers[l].integers.identical(three.network.layers[l].integers));
    EXPECT_EQ(one.network.layers[l].scales, three.network.layers[l].scales);
    EXPECT_EQ(one.network.layers[l].bias, three.network.layers[l].bias);
  }
  FineTuneOptions other = few_runs(1);
  other.seed = 2;
  EXPECT_NE(fine_tune(network.graph, start, narrow.samples, labels, other).loss_after, one.loss_after);
}

TEST(FineTune, EndsInTimeAndRefusesWhatItCannotUse) {
  Narrow narrow = narrow_network(test_seed(), 3);
  RecipeFitter fitter(narrow.g.graph, narrow.samples, 1, {});
  NetworkQuantizer quantizer = fitter.quantizer(narrow.recipe);
  const PreparedNetwork& network = fitter.network(narrow.recipe);
  const RoundedNetwork start = quantizer.rounded(chosen_widths(network, narrow.recipe));
  FineTuneOptions options = few_runs(1);
  options.runs = int64_t{1} << 40;
  options.seconds = 0.2;
  EXPECT_GT(fine_tune(network.graph, start, narrow.samples, {}, options).steps, 0);
  const Deadline over(0);
  EXPECT_THROW(fine_tune(network.graph, start, narrow.samples, {}, options, &over), Expired);
  EXPECT_THROW(fine_tune(network.graph, start, narrow.samples, {1, 2, 3}, options), Error);

  QuantizeOptions shifts = narrow.recipe;
  shifts.scales = ScaleKind::kPowerOfTwo;
  BitTrials trials(narrow.g.graph, narrow.samples, shifts, 4);
  EXPECT_EQ(trials.fine_tuning_problem(), "scales that are powers of two are not trained");
  BitTrials fine(narrow.g.graph, narrow.samples, narrow.recipe, 4);
  EXPECT_EQ(fine.fine_tuning_problem(), "");
}

}  // namespace
}  // namespace tilewright
