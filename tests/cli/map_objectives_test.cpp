// `tilewright map` on layers of its own: objectives against one another, fronts against the table, batches.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

std::string convolution(Random& random) {
  return "name: layer\nconvolution: {batch: " + std::to_string(random.between(1, 4)) +
         ", input_channels: " + std::to_string(random.between(3, 64)) +
         ", output_channels: " + std::to_string(random.between(3, 64)) +
         ", input: " + std::to_string(random.between(9, 40)) +
         ", kernel: " + std::to_string(random.chance(0.5) ? 1 : 3) + "}\n";
}

TEST(MapObjectivesClass, DataflowsAreSearchedForEachObjective) {
  const int64_t cases = test_cases(3);
  const auto folder = fresh_folder("map_objectives");
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    // Of these the search charges what is reported.
    const char* flows[] = {"os_b", "os_c"};
    const std::string base = "map --workload " + text_file(folder, "layer.yaml", convolution(random)) +
                             " --hardware eyeriss-256 --dataflow " + flows[random.between(0, 1)];
    const Json energy = json_of(base)["runs"][0], fast = json_of(base + " --objective latency")["runs"][0],
               product = json_of(base + " --objective edp")["runs"][0];
    const auto edp = [](const Json& run) {
      return run["energy"].get<double>() * run["cycles"].get<double>();
    };
    for (const Json* other : {&energy, &fast, &product}) {
      EXPECT_LE(fast["cycles"].get<double>(), (*other)["cycles"].get<double>() * (1 + 1e-9));
    }
    for (const Json* other : {&energy, &fast}) EXPECT_LE(edp(product), edp(*other) * (1 + 1e-9));
    EXPECT_LE(energy["energy"].get<double>(), product["energy"].get<double>() * (1 + 1e-9));
    EXPECT_TRUE(product["proven"]);
  }
  RecordProperty("cases", int(cases));
}

TEST(MapObjectives, AFrontUnderATimeLimitIsNowhereWorseThanTheTable) {
  const auto folder = fresh_folder("map_front_time");
  const std::string layer = text_file(
      folder, "layer.yaml",
      "name: prime\nconvolution: {input_channels: 29, output_channels: 31, input: 19, kernel: 3}\n");
  const Json report =
      json_of("map --workload " + layer + " --hardware arch-unified --imperfect --pareto --time 0.6s");
  const Json& table = report["runs"][0];
  double least = 1e300;
  for (const Json& point : report["front"]["points"]) least = std::min(least, point["energy"].get<double>());
  EXPECT_LE(least, table["energy"].get<double>() * (1 + 1e-9));
}

TEST(MapObjectives, TheBatchIsThatOfTheLayers) {
  const auto folder = fresh_folder("map_batch");
  const std::string eight = "name: eight\ndense: {batch: 8, inputs: 4, outputs: 4}\n";
  const std::string machine = " --hardware arch-unified";
  const std::string alone = "map --workload " + text_file(folder, "eight.yaml", eight) + machine;
  EXPECT_EQ(json_of(alone)["batch"], 8);
  EXPECT_EQ(json_of(alone + " --batch 3")["batch"], 24);
  const CommandResult text = command(alone);
  EXPECT_NE(text.output.find("batch 8, physical rules"), std::string::npos) << text.output;
  const std::string both =
      "map --workload " +
      text_file(
          folder, "both.yaml",
          "- " + std::string("{name: eight, dense: "
                             "{batch: 8, inputs: 4, outputs: 4}}\n- {name: two, dense: {batch: 2, inputs: 4, "
                             "outputs: 4}}\n")) +
      machine;
  EXPECT_TRUE(json_of(both)["batch"].is_null());
  // Another tool's problem, whose K is no matrix product's.
  const std::string problem =
      text_file(folder, "problem.yaml", "problem: {R: 1, S: 1, P: 2, Q: 2, C: 2, K: 4, N: 5}\n");
  const std::string timeloop = "map --timeloop " + problem + machine;
  EXPECT_EQ(json_of(timeloop)["batch"], 5);
  EXPECT_EQ(json_of(timeloop + " --batch 2")["batch"], 10);
}

}  // namespace
}  // namespace tilewright
