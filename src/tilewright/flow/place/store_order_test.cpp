// Several stores to one array, from expressions to arrays.
#include <gtest/gtest.h>

#include <set>

#include "support/flow/store_programs_testing.h"
#include "support/random_seed_testing.h"

namespace tilewright {
namespace {

using namespace store_programs;

const std::string kPresets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";

FabricRun run_text(const std::string& text, const std::string& fabric, int ii, int iterations) {
  const PlaceRequest request = request_of(text, find_fabric(fabric, kPresets), ii, 20);
  const PlaceReport report = place(request);
  EXPECT_GE(report.best, 0) << report.points.back().note;
  return run_on_fabric(mapped_program(request, report.points.at(size_t(report.best))), {}, iterations);
}

TEST(StoreOrder, TheLaterOfTwoStoresToOneElementStays) {
  const FabricRun run = run_text("y[i] = i * 3; y[i] = i + 1000", "streaming-engine", 4, 20);
  EXPECT_EQ(run.check.wrong, 0) << run.check.first;
  ASSERT_EQ(run.outputs.at(0).first, "y");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run.outputs[0].second.integer_at(i), i + 1000);
}

// Arrays that a store or, on fabrics without memories of their own, an output writes.
TEST(StoreOrder, EveryStoredArrayIsAnOutputOnce) {
  const auto names = [](const std::string& text, const char* fabric) {
    std::multiset<std::string> found;
    for (const auto& output : run_text(text, fabric, 4, 5).outputs) found.insert(output.first);
    return found;
  };
  for (const char* fabric : {"mesh-4x4", "streaming-engine"}) {
    EXPECT_EQ(names("y[i] = i * 3; z[i] = i + 1", fabric), (std::multiset<std::string>{"y", "z"})) << fabric;
  }
  EXPECT_EQ(names("d = i * 3; y[i] = i + 1", "mesh-4x4"), (std::multiset<std::string>{"d", "y"}));
  EXPECT_EQ(names("d = i * 3", "mesh-4x4"), std::multiset<std::string>{"d"});
}

TEST(StoreOrder, TheLaterIterationStays) {
  for (const char* fabric : {"mesh-4x4", "streaming-engine"}) {
    const FabricRun run = run_text("y[i + 1] = i * 5 + 7; y[i] = 0 - i", fabric, 3, 9);
    EXPECT_EQ(run.check.wrong, 0) << run.check.first;
    ASSERT_EQ(run.outputs.at(0).second.size(), 10);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(run.outputs[0].second.integer_at(i), -i);
    EXPECT_EQ(run.outputs[0].second.integer_at(9), 8 * 5 + 7);
  }
}

TEST(StoreOrder, WhatNothingOrdersIsRefused) {
  try {
    place(request_of("y[i] = x[i]; y[i] = w[i] + 1", find_fabric("streaming-engine", kPresets), 4, 20));
    FAIL() << "placed";
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what()).find("may store the same element of 'y', and nothing orders their flows"),
        std::string::npos)
        << error.what();
  }
  // At an II of 1 every iteration's stores overlap those of the next.
  const PlaceReport report =
      place(request_of("y[i % 3] = i; y[i % 5] = i * 2", find_fabric("mesh-4x4", kPresets), 1, 20));
  EXPECT_LT(report.best, 0);
  EXPECT_NE(report.points.back().note.find("may overwrite an element of 'y'"), std::string::npos)
      << report.points.back().note;
}

// Random programs on lines, rings and meshes at random II.
TEST(StoreOrderClass, ArraysEqualTheProgramsOrRefusalsSayWhy) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(40);
  Random random(seed);
  int64_t ran = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const Program program = Maker(random).run();
    const char* fabrics[] = {"streaming-engine", "mesh-4x4", "ring-8", "hycube-3x3"};
    const char* fabric = fabrics[random.between(0, 3)];
    const int ii = int(random.between(1, 6)), iterations = int(random.between(1, 40));
    const Outcome outcome = run_program(program, find_fabric(fabric, kPresets), ii, iterations, random, 10);
    ASSERT_FALSE(outcome.wrong) << "seed " << seed << " case " << i << " on " << fabric << " II " << ii
                                << ": " << text(program) << "\n"
                                << outcome.problem;
    ran += outcome.refused.empty();
  }
  RecordProperty("cases", int(cases));
  RecordProperty("ran", int(ran));
  EXPECT_GT(ran, cases / 10);
}

}  // namespace
}  // namespace tilewright
