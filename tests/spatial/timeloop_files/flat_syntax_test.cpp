// Machine, energies, problem, constraints and mapping in the flat syntax mean what they say, together and in
// files of their own.
#include <gtest/gtest.h>

#include "spatial/timeloop_files/flat_files.h"
#include "tilewright/base/file.h"
#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright {
namespace {

const std::filesystem::path kPresets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

TimeloopImport import(const std::vector<std::string>& texts) {
  std::vector<TimeloopText> files;
  for (size_t i = 0; i < texts.size(); ++i)
    files.push_back({std::string(1, char('a' + i)) + ".yaml", texts[i]});
  return import_timeloop(files);
}

TEST(TimeloopFlat, MachineAndEnergies) {
  const TimeloopImport result = import({kFlatMachine, kFlatEnergies});
  const ArrayHardware& h = *result.hardware;
  ASSERT_EQ(h.levels.size(), 3u);
  EXPECT_EQ(h.levels[0].name, "Memory");
  EXPECT_EQ(h.levels[0].capacity_words, kUnlimitedWords);
  EXPECT_EQ(h.levels[0].read_energy, 150);
  EXPECT_EQ(h.levels[0].fill_energy, 160);
  EXPECT_EQ(h.levels[1].capacity_words, 2048);
  EXPECT_EQ(h.levels[1].update_energy, 7);
  EXPECT_EQ(h.levels[1].fanout_x, 4);
  EXPECT_EQ(h.levels[1].fanout_y, 4);
  EXPECT_EQ(h.levels[2].capacity_words, 48);
  EXPECT_EQ(h.levels[2].fill_energy, 2.5);
  EXPECT_EQ(h.pe_count(), 16);
  EXPECT_EQ(h.mac_energy, 1);
  // The only key that changes nothing: the name of the technology.
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0].op, "technology");
}

TEST(TimeloopFlat, ProblemIsItsConvolution) {
  const Workload w = *import({kFlatProblem}).workload;
  EXPECT_EQ(w.operation_count(), 2 * 8 * 4 * 8 * 8 * 9);
  EXPECT_EQ(w.data_spaces[kInputSpace].element_count(), 2 * 4 * 17 * 17);
  EXPECT_EQ(w.data_spaces[kWeightSpace].element_count(), 8 * 4 * 9);
  EXPECT_EQ(w.data_spaces[kOutputSpace].element_count(), 2 * 8 * 8 * 8);
  EXPECT_EQ(w.data_spaces[kInputSpace].ranks[2], (Rank{"R", 17, 0, {{2, 1}, {5, 2}}}));
}

TEST(TimeloopFlat, ConstraintsAndMapping) {
  const TimeloopImport result =
      import({kFlatMachine, kFlatEnergies, kFlatProblem, kFlatConstraints, kFlatMapping});
  const Mapspace& m = *result.mapspace;
  Diagnostics diagnostics;
  m.verify(diagnostics);
  for (const Diagnostic& d : diagnostics.errors()) ADD_FAILURE() << to_string(d);
  EXPECT_FALSE(m.imperfect);
  EXPECT_EQ(m.constraints[2].must_keep, 7u);
  EXPECT_EQ(m.constraints[1].must_keep, 0u);
  // C lies along x, the others along y.
  EXPECT_EQ(m.constraints[1].spatial_x, (std::vector<int64_t>{0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(m.constraints[1].spatial_y, (std::vector<int64_t>{1, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(m.constraints[2].temporal, (std::vector<int64_t>{0, 0, 3, 3, 0, 0, 0}));
  EXPECT_EQ(print_mapping(*result.workload, *result.mapping),
            "- level: Memory\n  temporal: N=2 P=8\n"
            "- level: Buffer\n  temporal: M=2 Q=8\n  spatial: y:M=4 x:C=4\n"
            "- level: Registers\n  temporal: S=3 R=3\n");
  EXPECT_TRUE(contains(m, *result.mapping));
  const Cost cost = evaluate_mapping(*result.workload, *result.hardware, *result.mapping, kTimeloopRules);
  EXPECT_EQ(cost.cycles, result.workload->operation_count() / 16);
}

TEST(TimeloopFlat, RubyMapspacesNeedNotDivide) {
  std::string ruby = kFlatConstraints;
  ruby.replace(ruby.find("uber"), 4, "ruby");
  const TimeloopImport exact = import({kFlatMachine, kFlatEnergies, kFlatProblem, kFlatConstraints}),
                       free = import({kFlatMachine, kFlatEnergies, kFlatProblem, ruby});
  EXPECT_TRUE(free.mapspace->imperfect);
  EXPECT_EQ(free.mapspace->constraints, exact.mapspace->constraints);
}

// The preset of the mapper comparisons in Timeloop's syntax.
TEST(TimeloopFlat, TheUnifiedPresetIsAFlatMachine) {
  TimeloopImport import = tilewright::import_timeloop(std::vector<TimeloopText>{{"unified.yaml", R"(
arch:
  arithmetic: {name: mul, instances: 256, meshX: 16, word_bits: 16}
  storage:
  - {name: rf, instances: 256, meshX: 16, entries: 256, word_bits: 16, block_size: 1}
  - {name: buffer, instances: 1, entries: 55296, word_bits: 16, block_size: 1}
  - {name: dram, instances: 1, technology: DRAM, word_bits: 16, block_size: 1}
ERT:
  tables:
  - {name: mul, actions: [{name: compute, energy: 1}]}
  - {name: rf, actions: [{name: read, energy: 1}, {name: write, energy: 3}, {name: update, energy: 1}]}
  - {name: buffer, actions: [{name: read, energy: 6}, {name: write, energy: 6}, {name: update, energy: 8}]}
  - {name: dram, actions: [{name: read, energy: 200}, {name: write, energy: 200}, {name: update, energy: 200}]}
)"}});
  import.hardware->name = "arch-unified";
  import.hardware->energy_unit = "mac";
  EXPECT_EQ(*import.hardware, find_array_hardware("arch-unified", kPresets));
}

TEST(TimeloopFlat, FilesAreRecognisedByContent) {
  EXPECT_TRUE(is_timeloop_text("problem: {}\n"));
  EXPECT_TRUE(is_timeloop_text("arch: 3\n"));
  EXPECT_FALSE(is_timeloop_text("kind: array\nlevels: []\n"));
  EXPECT_FALSE(is_timeloop_text("[1, 2"));
  EXPECT_FALSE(is_timeloop_text("7"));
}

}  // namespace
}  // namespace tilewright
