#include "tilewright/spatial/taxonomy/study_machine.h"

#include <gtest/gtest.h>

#include "tilewright/spatial/taxonomy/equal_area.h"

namespace tilewright::study {
namespace {

const std::filesystem::path kPresets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

std::string machine_problems(const std::string& text) {
  try {
    parse_study_machine(text, "test");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(StudyMachine, PresetsHaveTheirSection) {
  for (const auto& [name, pes] : {std::pair("eyeriss-256", 256), std::pair("eyeriss-512", 512),
                                  std::pair("eyeriss-1024", 1024), std::pair("eyeriss-chip", 168)}) {
    const StudyMachine machine = study_machine(read_array_hardware(kPresets / (std::string(name) + ".yaml")));
    EXPECT_EQ(machine.name, name);
    EXPECT_EQ(machine.pes, pes);
    EXPECT_EQ(machine.energy, AccessEnergy{});
  }
}

TEST(StudyMachine, SectionAndArrayMustAgree) {
  ArrayHardware hardware = read_array_hardware(kPresets / "eyeriss-256.yaml");
  hardware.levels[1].fanout_x = 8;
  hardware.word_bits = 8;
  try {
    study_machine(hardware);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "2 problems\n  eyeriss-256, study (pes): 256, but the array has 128\n"
                 "  eyeriss-256, study (word_bytes): 2, but the array has 1");
  }
  hardware.sections.clear();
  try {
    study_machine(hardware);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "array 'eyeriss-256' has no 'study' section, which dataflows are costed with; use eyeriss-256, "
        "eyeriss-512 or eyeriss-1024, or see docs/reference/dataflows.md");
  }
}

TEST(StudyMachine, EveryMistakeHasItsMessage) {
  const std::string energy = "energy: {dram: 200, buffer: 6, array: 2, register_file: 1, alu: 1}\n";
  EXPECT_EQ(machine_problems("pes: 4\nbuffer_bytes: 64\n" + energy), "");
  EXPECT_EQ(machine_problems("pes: 4\n" + energy),
            "test:1 (area): neither an area nor buffer_bytes is given");
  EXPECT_EQ(machine_problems("pes: 0\nbuffer_bytes: 64\n" + energy),
            "test:1 (pes): '0' is not an integer in 1..1073741824");
  EXPECT_EQ(
      machine_problems("pes: 4\nbuffer_bytes: 64\nenergy: {dram: -1, buffer: 6, array: 2, register_file: 1, "
                       "alu: 1}\n"),
      "test:3 (dram): '-1' is not a number in 0..1000000000");
  const std::string head = "pes: 4\n" + energy + "area:\n  baseline_bytes_per_pe: 8\n";
  EXPECT_EQ(machine_problems(head + "  per_byte_um2: [[2, 5], [1, 4]]\n  bytes_of: [[1, 2], [2, 4]]\n"),
            "test:5 (per_byte_um2): entry 2 does not ascend");
  EXPECT_EQ(machine_problems(head + "  per_byte_um2: [[2, 5], [4, -4]]\n  bytes_of: [[1, 2]]\n"),
            "2 problems\n  test:5 (per_byte_um2): entry 2 is not a pair of positive numbers\n"
            "  test:6 (bytes_of): a list of at least two [x, y] pairs is expected");
}

TEST(EqualArea, CurvesAreLinearBetweenPointsAndContinueBeyond) {
  AreaModel model;
  model.area = {{2, 100}, {4, 60}};
  model.size = {{200, 2}, {240, 4}};
  EXPECT_EQ(memory_area(model, 0), 0);
  EXPECT_EQ(memory_area(model, 1), 100);
  EXPECT_EQ(memory_area(model, 3), 240);
  EXPECT_EQ(memory_area(model, 8), 480);
  EXPECT_EQ(memory_bytes(model, 199), 0);
  EXPECT_EQ(memory_bytes(model, 220), 3);
  EXPECT_EQ(memory_bytes(model, 480), 8);
}

TEST(EqualArea, RegisterFilesBeyondTheAreaLeaveNoBuffer) {
  const StudyMachine machine = study_machine(read_array_hardware(kPresets / "eyeriss-256.yaml"));
  EXPECT_EQ(equal_area_storage(machine, 4096).buffer_words, 0);
  EXPECT_EQ(equal_area_storage(machine, 7).register_file_words, 3);
}

}  // namespace
}  // namespace tilewright::study
