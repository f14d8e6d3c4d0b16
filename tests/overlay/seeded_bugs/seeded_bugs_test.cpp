#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "planted_bugs.h"
#include "random_layer.h"

namespace tilewright::seeded_bugs {
namespace {

constexpr uint64_t kSeeds = 90;

struct Sample {
  uint64_t seed;
  random_layers::Case test;
  overlay::OverlayProgram program;
};

// Outputs that are all clipped to the same value would hide any bug.
bool says_something(const Tensor& expected) {
  const std::vector<int64_t> values = expected.to_integers();
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
}

std::optional<Sample> make_sample(uint64_t seed) {
  std::string file;
  const OverlayHardware hardware =
      random_layers::pick_hardware(seed, TILEWRIGHT_SOURCE_DIR "/hardware", &file);
  for (uint64_t attempt = 0; attempt < 20; ++attempt) {
    try {
      const auto kind = random_layers::pick_kind(seed, hardware);
      Sample sample{seed, random_layers::make_case(seed * 1000003 + attempt, kind, hardware), {}};
      if (!says_something(sample.test.expected)) continue;
      const Node& node = sample.test.graph.nodes.back();
      const overlay::OverlayLayer layer = overlay::extract_layer(sample.test.graph, node, hardware);
      const NodeId nodes[] = {NodeId(sample.test.graph.nodes.size()) - 1};
      sample.program =
          overlay::compile_overlay(sample.test.graph, nodes, hardware,
                                   {{node.name, random_layers::pick_schedule(seed, layer, hardware)}});
      return sample;
    } catch (const Error&) {
      // This overlay cannot run this operator: draw another.
    }
  }
  return std::nullopt;
}

// How a program is found out: by the checker, by the simulator, or by comparison. Empty: not at all.
std::string found_by(overlay::OverlayProgram program, const random_layers::Case& test) {
  Diagnostics diagnostics;
  overlay::check_program(program.hardware, random_layers::image_of(program), diagnostics);
  if (!diagnostics.ok()) return "checker";
  // What is not written must not pass for a result.
  for (const overlay::ProgramTensor& output : program.outputs) {
    const auto begin = program.memory.begin() + long(output.address);
    std::fill(begin, begin + long(output.bytes), std::byte{0x55});
  }
  try {
    overlay::FunctionalSimulator simulator(program.hardware);
    const auto outputs = overlay::run_overlay(program, test.inputs, simulator);
    if (!outputs.at(test.graph.outputs[0]).identical(test.expected)) return "comparison";
  } catch (const Error&) {
    return "simulator";
  }
  return diagnostics.warnings().empty() ? "" : "checker";
}

TEST(SeededBugs, AreAllFound) {
  std::vector<Sample> samples;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (auto sample = make_sample(seed)) samples.push_back(std::move(*sample));
  }
  ASSERT_GE(samples.size(), size_t(kSeeds) - 2);
  for (const Sample& sample : samples) {
    ASSERT_EQ(found_by(close_program(open_program(sample.program)), sample.test), "")
        << "seed " << sample.seed;
  }
  const std::vector<Bug> bugs = all_bugs();
  EXPECT_GE(bugs.size(), 20u);
  for (const Bug& bug : bugs) {
    int planted = 0;
    std::map<std::string, int> found;
    std::string missed;
    for (const Sample& sample : samples) {
      OpenProgram open = open_program(sample.program);
      if (!bug.plant(open)) continue;
      ++planted;
      const std::string how = found_by(close_program(std::move(open)), sample.test);
      ++found[how];
      if (how.empty()) missed += " " + std::to_string(sample.seed);
    }
    std::printf("%-60s planted %2d: checker %d, comparison %d, simulator %d, missed%s\n", bug.name.c_str(),
                planted, found["checker"], found["comparison"], found["simulator"],
                missed.empty() ? " none" : missed.c_str());
    EXPECT_GE(planted, 1) << bug.name;
    EXPECT_GE(planted - found[""], bug.must_find * planted) << bug.name << ": missed with seeds" << missed;
  }
}

}  // namespace
}  // namespace tilewright::seeded_bugs
