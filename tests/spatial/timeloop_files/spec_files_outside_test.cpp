// The files of the mapper comparisons load unchanged and mean what they say.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/outside_testing.h"
#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright {
namespace {

const std::filesystem::path kSpecs = outside_folder() / "reference/timeloop-specs";
const std::filesystem::path kSpecPresets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

TimeloopImport read(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) files.push_back(kSpecs / name);
  return read_timeloop(files);
}

std::vector<std::string> problem_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSpecs / "prob")) {
    names.push_back("prob/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(TimeloopSpecs, EveryFileLoads) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kSpecs)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    ++files;
    const std::string name = std::filesystem::relative(entry.path(), kSpecs).string();
    std::vector<std::string> together{name};
    // Constraints and mappings mean something with the machine and the problem they are for.
    if (name.rfind("space_", 0) == 0) {
      together = {name == "space_rs.yaml" ? "arch_rs.yaml" : "arch_unified.yaml", "ert.yaml",
                  "prob/alex_conv1.yaml", name};
    }
    if (name == "bug_extrapolation/m.yaml") {
      together = {"arch_unified.yaml", "ert.yaml", "bug_extrapolation/prob.yaml", name};
    }
    EXPECT_NO_THROW(read(together));
  }
  EXPECT_EQ(files, 20);
}

TEST(TimeloopSpecs, UnifiedMachineIsThePreset) {
  TimeloopImport import = read({"arch_unified.yaml", "ert.yaml"});
  ArrayHardware& h = *import.hardware;
  ASSERT_EQ(h.levels.size(), 3u);
  EXPECT_EQ(h.levels[0].name, "DRAM");
  EXPECT_EQ(h.levels[1].name, "GlobalBuffer");
  EXPECT_EQ(h.levels[2].name, "RegFile");
  h.name = "arch-unified";
  h.energy_unit = "mac";
  h.levels[0].name = "dram";
  h.levels[1].name = "buffer";
  h.levels[2].name = "rf";
  EXPECT_EQ(h, find_array_hardware("arch-unified", kSpecPresets));
  // The only key that changes nothing: the name of the technology.
  ASSERT_EQ(import.notes.size(), 1u);
  EXPECT_EQ(import.notes[0].op, "technology");
}

TEST(TimeloopSpecs, EveryProblemIsItsConvolution) {
  const std::vector<std::string> names = problem_names();
  EXPECT_EQ(names.size(), 10u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Workload w = *read({name}).workload;
    ASSERT_EQ(w.data_space_count(), 3);
    EXPECT_EQ(w.data_spaces[kInputSpace].name, "Inputs");
    EXPECT_EQ(w.data_spaces[kWeightSpace].name, "Weights");
    EXPECT_EQ(w.data_spaces[kOutputSpace].name, "Outputs");
    EXPECT_TRUE(w.data_spaces[kOutputSpace].is_output);
  }
  const Workload conv1 = *read({"prob/alex_conv1.yaml"}).workload;
  EXPECT_EQ(conv1.operation_count(), 16 * int64_t{105'415'200});
  EXPECT_EQ(conv1.data_spaces[kInputSpace].element_count(), 16 * 3 * 227 * 227);
  EXPECT_EQ(conv1.data_spaces[kWeightSpace].element_count(), 96 * 3 * 11 * 11);
  EXPECT_EQ(conv1.data_spaces[kOutputSpace].element_count(), 16 * 96 * 55 * 55);
  const std::vector<std::string> dimensions{"C", "M", "R", "S", "N", "P", "Q"};
  for (size_t d = 0; d < dimensions.size(); ++d) EXPECT_EQ(conv1.dimensions[d].name, dimensions[d]);
  EXPECT_EQ(conv1.data_spaces[kInputSpace].ranks[2], (Rank{"R", 227, 0, {{2, 1}, {5, 4}}}));
}

TEST(TimeloopSpecs, MappingOfTheUndercount) {
  const TimeloopImport import =
      read({"arch_unified.yaml", "ert.yaml", "bug_extrapolation/prob.yaml", "bug_extrapolation/m.yaml"});
  ASSERT_TRUE(import.mapping);
  EXPECT_EQ(print_mapping(*import.workload, *import.mapping),
            "- level: DRAM\n  temporal: S=3 Q=13\n- level: GlobalBuffer\n- level: RegFile\n");
  EXPECT_TRUE(contains(*import.mapspace, *import.mapping));
  // The window slides over 15 inputs three times, 13 of them in each pass: 39 fetches with its accounting
  // too, although the tool reports 37.
  for (const Accounting accounting : {Accounting::kTimeloop, Accounting::kExact}) {
    const std::vector<CountingNetwork> networks = counting_networks(*import.hardware);
    const AccessCounts counts = count_accesses(*import.workload, *import.mapping, networks, accounting);
    EXPECT_EQ(counts.traffic[0].space, kInputSpace);
    EXPECT_EQ(counts.traffic[0].reads, 39);
  }
}

TEST(TimeloopSpecs, Mapspaces) {
  const std::vector<std::string> base{"arch_unified.yaml", "ert.yaml", "prob/alex_conv1.yaml"};
  const auto with = [&](const std::string& name) {
    std::vector<std::string> names = base;
    names.push_back(name);
    return *read(names).mapspace;
  };
  const Mapspace open = with("space_open.yaml"), keep = with("space_keep.yaml"),
                 ruby = with("space_ruby.yaml");
  EXPECT_FALSE(open.imperfect);
  EXPECT_EQ(open.constraints[2].must_keep, 0u);
  EXPECT_EQ(keep.constraints[2].must_keep, 7u);
  EXPECT_EQ(keep.constraints[1].must_keep, 0u);
  EXPECT_EQ(keep.constraints[1].must_bypass, 0u);
  EXPECT_TRUE(ruby.imperfect);
  EXPECT_EQ(ruby.constraints, keep.constraints);
}

TEST(TimeloopSpecs, RowStationaryMachineAndDataflow) {
  const TimeloopImport import = read({"arch_rs.yaml", "ert.yaml", "prob/alex_conv2.yaml", "space_rs.yaml"});
  const ArrayHardware& h = *import.hardware;
  ASSERT_EQ(h.levels.size(), 6u);
  const std::vector<std::string> names{"DRAM",         "GlobalBuffer",  "DummyBuffer",
                                       "InputRegFile", "WeightRegFile", "PsumRegFile"};
  const std::vector<int64_t> words{kUnlimitedWords, 55296, 0, 12, 224, 20};
  for (size_t l = 0; l < names.size(); ++l) {
    EXPECT_EQ(h.levels[l].name, names[l]);
    EXPECT_EQ(h.levels[l].capacity_words, words[l]);
    EXPECT_EQ(h.levels[l].fanout_x, l == 1 ? 16 : 1);
    EXPECT_EQ(h.levels[l].fanout_y, l == 2 ? 16 : 1);
  }
  EXPECT_EQ(h.pe_count(), 256);
  EXPECT_EQ(h.levels[2].may_keep, 0u);

  const Mapspace& m = *import.mapspace;
  Diagnostics diagnostics;
  m.verify(diagnostics);
  for (const Diagnostic& d : diagnostics.errors()) ADD_FAILURE() << to_string(d);
  // Dimensions C M R S N P Q. The buffer keeps inputs and outputs, the register files one each.
  EXPECT_EQ(m.constraints[1].must_keep, 5u);
  EXPECT_EQ(m.constraints[1].must_bypass, 2u);
  EXPECT_EQ(m.constraints[3].must_keep, 1u);
  EXPECT_EQ(m.constraints[4].must_keep, 2u);
  EXPECT_EQ(m.constraints[5].must_keep, 4u);
  // spatial, GlobalBuffer: N1 C1 P1 R1 S1 with all along x, where M and Q are free.
  EXPECT_EQ(m.constraints[1].spatial_x, (std::vector<int64_t>{1, 0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(m.constraints[1].spatial_y, (std::vector<int64_t>{1, 1, 1, 1, 1, 1, 1}));
  // spatial, DummyBuffer: S0 is the whole kernel width, along y.
  const int64_t kernel = import.workload->dimensions[3].size;
  EXPECT_EQ(kernel, 5);
  EXPECT_EQ(m.constraints[2].spatial_y, (std::vector<int64_t>{0, 0, 1, kernel, 1, 1, 1}));
  EXPECT_EQ(m.constraints[2].spatial_x, (std::vector<int64_t>{1, 1, 1, 1, 1, 1, 1}));
  // temporal, WeightRegFile: R0 is the whole kernel height; C is free.
  EXPECT_EQ(m.constraints[4].temporal, (std::vector<int64_t>{0, 1, kernel, 1, 1, 1, 1}));
  EXPECT_EQ(m.constraints[4].innermost, (std::vector<int>{4, 1, 5, 6, 3, 0, 2}));
  EXPECT_EQ(m.constraints[1].temporal[5], 27);  // P0
}

}  // namespace
}  // namespace tilewright
