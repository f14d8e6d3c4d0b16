// Damaged files end in a message, whatever is damaged.
#include <gtest/gtest.h>

#include "spatial/timeloop_files/current_files.h"
#include "spatial/timeloop_files/damaged_text.h"
#include "spatial/timeloop_files/flat_files.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/spatial/mapspace/mapspace_text.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright {
namespace {

const std::filesystem::path kArrayPresets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

std::string failure(const std::string& text) {
  try {
    import_timeloop(std::vector<TimeloopText>{{"a.yaml", text}});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TimeloopMalformed, EveryProblemOfAProblemFile) {
  EXPECT_EQ(failure("problem:\n"
                    "  shape:\n"
                    "    dimensions: [C, M]\n"
                    "    data_spaces:\n"
                    "    - {name: A, projection: [[[C]], [[X]], [[M, q]], [[]]]}\n"
                    "    - {name: B, projection: 3}\n"
                    "    - {name: Z, projection: [[[M]]], read_write: perhaps}\n"
                    "  instance: {C: 0}\n"),
            "8 problems\n"
            "  a.yaml:8 (C): 0 is not in 1..1099511627776\n"
            "  a.yaml:8 (M): the instance gives no size of this dimension\n"
            "  a.yaml:5 (projection): the shape has no dimension 'X'\n"
            "  a.yaml:5 (projection): 'q' is neither a coefficient of the shape nor an integer\n"
            "  a.yaml:5 (projection): a term is [dimension] or [dimension, coefficient]\n"
            "  a.yaml:6 (projection): a list of ranks is expected\n"
            "  a.yaml:7 (read_write): true or false is expected\n"
            "  a.yaml:5 (read_write): no data space is written (read_write: true)");
}

// A range that cannot be read is not one instance.
TEST(TimeloopMalformed, RangesOfInstancesThatCannotBeRead) {
  for (const char* range : {"0..n-1", "..15", "0..", "3..0", "-1..4", "0..15*2", "0..1073741824"}) {
    const std::string name = std::string("PE[") + range + "]";
    const std::string told = failure(
        "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    local:\n"
        "    - {name: DRAM, class: DRAM}\n    subtree:\n    - name: \"" +
        name +
        "\"\n      local:\n"
        "      - {name: \"MAC[0..1]\", class: intmac}\n      - {name: \"" +
        name + "\", class: intmac}\n");
    const std::string problem = "(name): '" + name + "' does not end in a range of at most 2^30 instances";
    const size_t at = told.find(problem);
    ASSERT_NE(at, std::string::npos) << told;
    EXPECT_NE(told.find(problem, at + 1), std::string::npos) << told;
    EXPECT_EQ(told.find("'MAC[0..1]'"), std::string::npos) << told;
  }
}

TEST(TimeloopMalformed, EveryProblemOfAnArchitecture) {
  EXPECT_EQ(failure("arch:\n"
                    "  arithmetic: {name: MACs, instances: 250, meshX: 16, word_bits: 16}\n"
                    "  storage:\n"
                    "  - {name: RegFile, instances: 256, meshX: 16, entries: -4, word_bits: 16}\n"
                    "  - {name: Buffer, instances: 3, entries: much, word_bits: 99}\n"
                    "  - {name: Buffer, instances: 1, technology: DRAM}\n"
                    "ERT: {tables: [{name: RegFile, actions: [{name: read, energy: -1}]}]}\n"),
            "9 problems\n"
            "  a.yaml:7 (energy): -1 is not in 0..1000000000000000\n"
            "  a.yaml:6 (Buffer): the energy table has no such component\n"
            "  a.yaml:5 (word_bits): 99 is not in 1..64\n"
            "  a.yaml:5 (entries): 'much' is not a number: there is no parameter 'much'\n"
            "  a.yaml:5 (name): a second component 'Buffer'\n"
            "  a.yaml:4 (RegFile): 256 instances (meshX 16) cannot be fed evenly by 3 (meshX 3)\n"
            "  a.yaml:4 (entries): -4 is not in 0..1099511627776\n"
            "  a.yaml:2 (MACs): 250 instances (meshX 16) cannot be fed evenly by 256 (meshX 16)\n"
            "  a.yaml:2 (MACs): the energy table has no such component");
  EXPECT_EQ(failure("architecture: {version: 0.4}\n"),
            "a.yaml:1 (architecture): neither storage levels, nor a subtree, nor nodes");
  EXPECT_EQ(failure("architecture: {nodes: &n [!Parallel {nodes: *n}, !Parallel {nodes: *n}]}\n"),
            "a.yaml:1:45: an alias inside the node that it refers to; write it out");
  EXPECT_EQ(failure("arch: 3\nproblem: 4\nmapping: 5\nERT: 6\nvariables: 7\n"),
            "4 problems\n"
            "  a.yaml:5 (variables): a map is expected\n"
            "  a.yaml:4 (ERT): a list of tables is expected\n"
            "  a.yaml:1 (architecture): a map is expected\n"
            "  a.yaml:2 (problem): a map is expected");
}

TEST(TimeloopMalformed, DamagedFilesNeverCrash) {
  const std::vector<std::vector<TimeloopText>> sets{
      {{"machine", kFlatMachine},
       {"energies", kFlatEnergies},
       {"problem", kFlatProblem},
       {"mapping", kFlatMapping}},
      {{"machine", kFlatMachine},
       {"energies", kFlatEnergies},
       {"problem", kFlatProblem},
       {"space", kFlatConstraints}},
      {{"nodes", kNodes}, {"problem", kProblem}, {"table", kTable}}};
  expect_messages_for_damage(sets, 2000);
}

TEST(TimeloopMalformed, OwnFormsSurviveDamageToo) {
  std::vector<std::string> texts;
  for (const std::string& name : array_preset_names(kArrayPresets)) {
    texts.push_back(read_text_file(kArrayPresets / (name + ".yaml")));
  }
  const Workload conv = conv2d_workload("c", ConvShape{});
  const ArrayHardware array = find_array_hardware("arch-unified", kArrayPresets);
  texts.push_back(print_workload(conv));
  texts.push_back(
      "convolution: {batch: 4, input_channels: 3, output_channels: 8, input: 9, kernel: [3, 2], pad: 1}\n");
  texts.push_back(
      "levels:\n- {level: buffer, temporal: R=1, spatial_x: M others=1, order: C R S, keep: weight}\n");
  int refused = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const std::string text = damaged(texts[seed % texts.size()], random);
    const auto survives = [&](auto read) {
      try {
        read();
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::kInternal) << "seed " << seed << ": " << error.what();
        ++refused;
      }
    };
    survives([&] { parse_array_hardware(text, "damaged"); });
    survives([&] { parse_workloads(text, "damaged"); });
    survives([&] { parse_mapspace(text, "damaged", conv, array); });
  }
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace tilewright
