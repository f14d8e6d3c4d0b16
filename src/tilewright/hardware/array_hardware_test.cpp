// Array descriptions: what follows from them, every rule, and the presets.
#include "tilewright/hardware/array_hardware.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright {
namespace {

const std::filesystem::path kPresets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

ArrayHardware three_levels() {
  ArrayHardware h;
  h.name = "test";
  h.mac_area_um2 = 10;
  h.levels.resize(3);
  h.levels[0].name = "dram";
  h.levels[1].name = "buffer";
  h.levels[1].capacity_words = 1000;
  h.levels[1].area_um2 = 500;
  h.levels[1].fanout_x = 4;
  h.levels[1].fanout_y = 3;
  h.levels[2].name = "rf";
  h.levels[2].capacity_words = 16;
  h.levels[2].area_um2 = 7;
  h.levels[2].fanout_x = 2;
  return h;
}

std::string array_problems(const ArrayHardware& hardware) {
  Diagnostics diagnostics;
  hardware.verify(diagnostics);
  std::string text;
  for (const Diagnostic& d : diagnostics.errors()) text += to_string(d) + "\n";
  return text;
}

template <typename Change>
std::string problems_after(Change&& change) {
  ArrayHardware h = three_levels();
  change(h);
  return array_problems(h);
}

TEST(ArrayHardware, InstancesAndArea) {
  const ArrayHardware h = three_levels();
  EXPECT_EQ(array_problems(h), "");
  EXPECT_EQ(h.instances(0), 1);
  EXPECT_EQ(h.instances(1), 1);
  EXPECT_EQ(h.instances(2), 12);
  EXPECT_EQ(h.pe_count(), 24);
  EXPECT_EQ(h.area_um2(), 500 + 12 * 7 + 24 * 10);
}

TEST(ArrayHardware, EveryRuleHasItsMessage) {
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.name = ""; }),
            "array '' (name): is empty; give the array a name\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.name = "a\xff"; }),
            "array 'a\xff' (name): is not UTF-8; write it in UTF-8\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels.clear(); }),
            "array 'test' (levels): 0 levels, there must be 1..16\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.word_bits = 65; }),
            "array 'test' (word_bits): 65 is not in 1..64\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.mac_energy = -1; }),
            "array 'test' (arithmetic.energy): -1 is not in 0..1e+15\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels[1].name = "two words"; }),
            "array 'test', level 'two words' (name): 'two words' is not a name of letters, digits and "
            "underscores\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels[1].name = "rf"; }),
            "array 'test', level 'rf' (name): a second level 'rf'; level names must differ\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels[0].capacity_words = 5; }),
            "array 'test', level 'dram' (capacity_words): the outermost level is main memory and must be "
            "unlimited; add a level for it outside of this one\n");
  EXPECT_EQ(
      problems_after([](ArrayHardware& h) { h.levels[0].may_keep = 3; }),
      "array 'test', level 'dram' (may_keep): the outermost level must keep input, weight and output\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels[1].capacity_words = -2; }),
            "array 'test', level 'buffer' (capacity_words): -2 words are not in 0..2^40; or say unlimited\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels[1].copies = 0; }),
            "array 'test', level 'buffer' (copies): 0 is not in 1..2^20; 2 is double buffering\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) {
              h.levels[2].may_keep = 1;
              h.levels[2].must_keep = 6;
            }),
            "array 'test', level 'rf' (must_keep): weight, output must be kept but is not among those that "
            "may be kept; name it under may_keep "
            "too\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) {
              h.levels[2].capacity_words = 0;
              h.levels[2].must_keep = 2;
            }),
            "array 'test', level 'rf' (must_keep): weight must be kept, but there are 0 words for it\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels[2].network.hop_energy = -0.5; }),
            "array 'test', level 'rf' (network.hop_energy): -0.5 is not in 0..1e+15\n");
  EXPECT_EQ(problems_after([](ArrayHardware& h) { h.levels[1].fanout_x = 0; }),
            "array 'test', level 'buffer' (fanout): 0 is not in 1..2^30\n");
  EXPECT_EQ(
      problems_after([](ArrayHardware& h) { h.levels[1].fanout_x = 1 << 29; }),
      "array 'test', level 'buffer' (fanout): 1610612736 instances below this level are more than 2^30\n");
}

TEST(ArrayHardware, AllProblemsInOneRun) {
  const std::string all = problems_after([](ArrayHardware& h) {
    h.name = "";
    h.levels[0].may_keep = 0;
    h.levels[1].fill_energy = -1;
    h.levels[2].copies = 0;
    h.levels[2].fanout_y = 0;
  });
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 5) << all;
}

TEST(ArrayPresets, AllAreLegalAndRoundTrip) {
  const std::vector<std::string> names = array_preset_names(kPresets);
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const ArrayHardware h = find_array_hardware(name, kPresets);
    EXPECT_EQ(h.name, name);
    EXPECT_EQ(array_problems(h), "");
    EXPECT_EQ(parse_array_hardware(print_array_hardware(h), "printed.yaml"), h);
  }
}

TEST(ArrayPresets, KindsAreListedApart) {
  for (const std::string& name : overlay_preset_names(kPresets)) {
    EXPECT_THROW(find_array_hardware(name, kPresets), Error) << name;
  }
}

TEST(ArrayPresets, UnifiedMachineOfTheComparisons) {
  const ArrayHardware h = find_array_hardware("arch-unified", kPresets);
  ASSERT_EQ(h.levels.size(), 3u);
  EXPECT_EQ(h.pe_count(), 256);
  EXPECT_EQ(h.levels[0].read_energy, 200);
  EXPECT_EQ(h.levels[1].capacity_words, 55296);
  EXPECT_EQ(h.levels[1].update_energy, 8);
  EXPECT_EQ(h.levels[2].capacity_words, 256);
  EXPECT_EQ(h.levels[2].fill_energy, 3);
}

// Storage of the row-stationary study: a register file of 512 bytes per PE and as much buffer again.
TEST(ArrayPresets, StudyArraysGrowInProportion) {
  for (const auto& [name, pes] :
       {std::pair{"eyeriss-256", 256}, {"eyeriss-512", 512}, {"eyeriss-1024", 1024}}) {
    const ArrayHardware h = find_array_hardware(name, kPresets);
    EXPECT_EQ(h.pe_count(), pes) << name;
    EXPECT_EQ(h.levels[1].capacity_words, 256 * pes) << name;
    EXPECT_DOUBLE_EQ(h.area_um2(), pes * (20000 + 512 * 20.87 + 512 * 12.70)) << name;
    EXPECT_EQ(h.sections.count("study"), 1u) << name;
  }
}

TEST(ArrayPresets, ChipHasTheArrayOfItsSimulator) {
  const ArrayHardware h = find_array_hardware("eyeriss-chip", kPresets);
  EXPECT_EQ(h.pe_count(), 168);
  EXPECT_EQ(h.levels[1].capacity_words, 51200);
  EXPECT_EQ(h.levels[2].role_capacity_words, (std::array<int64_t, kDataRoles>{12, 224, 24}));
  EXPECT_EQ(h.sections.count("row_stationary"), 1u);
}

TEST(ArrayPresets, MachinesOfOtherKinds) {
  const ArrayHardware tpu = find_array_hardware("tpu-like", kPresets);
  EXPECT_EQ(tpu.pe_count(), 65536);
  EXPECT_EQ(tpu.levels[1].capacity_words, 24 << 20);
  EXPECT_EQ(tpu.levels[1].may_keep, 5u);
  EXPECT_EQ(tpu.levels[2].may_keep, 2u);
  EXPECT_GT(tpu.levels[1].read_energy, tpu.levels[4].read_energy * 100);
  const ArrayHardware simba = find_array_hardware("simba-like", kPresets);
  EXPECT_EQ(simba.instances(1), 36);
  EXPECT_EQ(simba.instances(2), 576);
  EXPECT_EQ(simba.pe_count(), 36864);
  EXPECT_EQ(simba.levels[2].read_energy, 2.5);  // 32 KiB: 20 pJ for 64 bits
  const ArrayHardware diannao = find_array_hardware("diannao-like", kPresets);
  EXPECT_EQ(diannao.pe_count(), 256);
  EXPECT_EQ(diannao.levels[1].read_energy, 5);
  EXPECT_EQ(diannao.levels.back().may_keep, 4u);
}

TEST(ArrayPresets, UnknownNameListsThePresets) {
  try {
    find_array_hardware("arch-unifeid", kPresets);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("'arch-unifeid' is neither an array preset nor a file; did you mean 'arch-unified'? "
                         "known presets: arch-unified",
                         0),
              0u)
        << text;
  }
  try {
    find_array_hardware("x", "absent");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "'x' is neither an array preset nor a file; no presets in 'absent'");
  }
}

}  // namespace
}  // namespace tilewright
