// Space, rows and their file; the tools themselves are in tests/overlay/implementation_data (slow).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/overlay/implement/implementation_data.h"
#include "tilewright/overlay/implement/implementation_knobs.h"
#include "tilewright/overlay/implement/implementation_performance.h"
#include "tilewright/overlay/implement/implementation_run.h"
#include "tilewright/overlay/implement/implementation_space.h"
#include "tilewright/overlay/rtl/rtl_config.h"

namespace tilewright::synthesis {
static void PrintTo(DeviceFamily family, std::ostream* out) { *out << family_name(family); }
}  // namespace tilewright::synthesis

namespace tilewright::overlay {
namespace {

using synthesis::DeviceFamily;

const ImplementationSpace& space(DeviceFamily family = DeviceFamily::kIce40) {
  static const ImplementationSpace ice40(DeviceFamily::kIce40), xc7(DeviceFamily::kXc7),
      ecp5(DeviceFamily::kEcp5);
  return family == DeviceFamily::kIce40 ? ice40 : family == DeviceFamily::kEcp5 ? ecp5 : xc7;
}

class SpaceOfFamily : public testing::TestWithParam<DeviceFamily> {};
INSTANTIATE_TEST_SUITE_P(, SpaceOfFamily,
                         testing::Values(DeviceFamily::kIce40, DeviceFamily::kXc7, DeviceFamily::kEcp5),
                         [](const auto& p) { return std::string(synthesis::family_name(p.param)); });

TEST_P(SpaceOfFamily, RulesCutTheProductToThousands) {
  const ImplementationSpace& all = space(GetParam());
  const std::vector<EliminationStep>& steps = all.steps();
  EXPECT_GT(steps.front().candidates, 1e8);
  EXPECT_GE(steps.back().candidates, 1000);
  EXPECT_LT(steps.back().candidates, 10000);
  ASSERT_EQ(steps.size(), all.rules().size() + (all.place().size() > 1 ? 2 : 1));
  for (size_t k = 1; k < steps.size(); ++k) {
    EXPECT_LT(steps[k].candidates, steps[k - 1].candidates) << steps[k].rule << " removes nothing";
  }
  EXPECT_EQ(steps.back().hardware, int64_t(all.hardware().size()));
  const std::string table = elimination_table(all);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), int64_t(steps.size()) + 2);
}

// Blocks of an iCE40 are 256 x 16 to 2048 x 2 bits: 2,048 words of 128 bits are 64 of them, the part has 32,
// while 256 words are 8.
TEST(ImplementationSpace, DeepMemoriesTakeBlocksOfNarrowWords) {
  const auto rules = implementation_rules(DeviceFamily::kIce40);
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const auto& r) { return r.name == "block memory"; });
  ASSERT_NE(rule, rules.end());
  ImplementationCandidate candidate;
  OverlayHardware& h = candidate.hardware;
  h.batch = 1;
  h.block_in = h.block_out = 4;
  h.input_bits = h.weight_bits = 8;
  h.memory_width_bits = 32;
  h.accumulator_bits = 16;
  ASSERT_EQ(h.weight_bytes() * 8, 128);
  h.uop_buffer_bytes = 128 * h.uop_bytes();
  h.input_buffer_bytes = 128 * h.input_bytes();
  h.accumulator_buffer_bytes = 128 * h.accumulator_bytes();
  h.weight_buffer_bytes = 256 * h.weight_bytes();
  EXPECT_TRUE(rule->keeps(candidate));
  h.weight_buffer_bytes = 2048 * h.weight_bytes();
  EXPECT_FALSE(rule->keeps(candidate));
}

// Rows are collected over weeks: a sample that changed would leave half of each.
TEST(ImplementationSpace, TheSampleOfTheFilesStays) {
  const auto hash = [](DeviceFamily family, int count) {
    std::string text;
    for (const ImplementationGroup& group : sample_implementations(space(family), count, 2026)) {
      text += print_overlay_hardware(group.hardware);
      for (const auto& options : group.options) text += synthesis::print_implementation(options);
    }
    return fnv1a(text);
  };
  EXPECT_EQ(space().hardware().size(), 238u);
  EXPECT_EQ(hash(DeviceFamily::kIce40, 400), 0xddbcd64b5309c422u);
  EXPECT_EQ(hash(DeviceFamily::kXc7, 400), 0xce062752bf7a895bu);
  const std::string page = read_text_file(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) /
                                          "docs/design/tune/implementation_data.md");
  for (const DeviceFamily family : {DeviceFamily::kIce40, DeviceFamily::kXc7}) {
    EXPECT_NE(page.find(elimination_table(space(family))), std::string::npos)
        << elimination_table(space(family));
  }
}

TEST_P(SpaceOfFamily, SurvivorsAreDistinctAndLegal) {
  std::set<std::string> texts;
  std::set<int> precisions;
  for (const OverlayHardware& hardware : space(GetParam()).hardware()) {
    Diagnostics diagnostics;
    verify_rtl(hardware, diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << print_overlay_hardware(hardware);
    EXPECT_TRUE(texts.insert(print_overlay_hardware(hardware)).second);
    precisions.insert(hardware.input_bits);
  }
  EXPECT_EQ(precisions, (std::set<int>{1, 2, 4, 8}));
  Diagnostics diagnostics;
  for (const auto& options : space(GetParam()).synthesis()) options.verify(GetParam(), diagnostics);
  for (const auto& options : space(GetParam()).place()) options.verify(GetParam(), diagnostics);
  EXPECT_TRUE(diagnostics.ok());
}

TEST(ImplementationSpace, SamplesShareANetlistAndAreRepeatable) {
  const std::vector<ImplementationGroup> few = sample_implementations(space(), 12, 5);
  const std::vector<ImplementationGroup> more = sample_implementations(space(), 40, 5);
  ASSERT_EQ(few.size(), 12u);
  std::map<int, int> of_precision;
  for (size_t k = 0; k < few.size(); ++k) {
    EXPECT_EQ(few[k].hardware, more[k].hardware);
    EXPECT_EQ(few[k].options, more[k].options);
    ++of_precision[few[k].hardware.input_bits];
    ASSERT_GE(few[k].options.size(), 2u);
    for (const auto& options : few[k].options) EXPECT_EQ(options.mapper, few[k].options[0].mapper);
  }
  EXPECT_EQ(of_precision, (std::map<int, int>{{1, 3}, {2, 3}, {4, 3}, {8, 3}}));
  EXPECT_NE(sample_implementations(space(), 12, 6)[0].hardware, few[0].hardware);
}

TEST(ImplementationSpace, LargerPartsHaveARowPerDescription) {
  std::map<int, int> of_precision, without_dsp;
  for (const ImplementationGroup& group : sample_implementations(space(DeviceFamily::kXc7), 80, 2026)) {
    ASSERT_EQ(group.options.size(), 1u);
    ++of_precision[group.hardware.input_bits];
    without_dsp[group.hardware.input_bits] += group.options[0].dsp ? 0 : 1;
  }
  EXPECT_EQ(of_precision, (std::map<int, int>{{1, 20}, {2, 20}, {4, 20}, {8, 20}}));
  for (const auto& entry : without_dsp) EXPECT_TRUE(entry.second > 0 && entry.second < 20) << entry.first;
}

ImplementationRow row(int seed) {
  const ImplementationGroup group = sample_implementations(space(), 1, 1)[0];
  ImplementationRow r{group.hardware, group.options[0], "ice40-hx8k", "tools 1", {}, {}, ""};
  r.options.seed = seed;
  r.targets.fmax_mhz = 41.0625;
  r.targets.cells = 2345;
  r.targets.cycles = 123456789;
  r.targets.gops = 0.1;
  return r;
}

TEST(ImplementationData, RowsAndFilesReadBack) {
  ImplementationRow a = row(1), b = row(2);
  b.failure = ImplementationFailure::kNotRouted;
  b.failure_text = "a \"quoted\" reason";
  EXPECT_TRUE(a.placed());
  EXPECT_FALSE(b.placed());
  EXPECT_EQ(a.timing_missed(), a.options.place_mhz > 41.0625);
  for (const char* name : {"rows.jsonl", "rows.jsonl.gz"}) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
    write_implementation_data({a, b}, path);
    std::vector<ImplementationRow> rows = read_implementation_data(path);
    ASSERT_EQ(rows.size(), 2u);
    if (rows[0].options.seed == 2) std::swap(rows[0], rows[1]);
    EXPECT_TRUE(same_result(rows[0], a));
    EXPECT_TRUE(same_result(rows[1], b));
    EXPECT_EQ(rows[1].failure_text, b.failure_text);
    EXPECT_EQ(rows[0].hardware, a.hardware);
    EXPECT_EQ(rows[0].options, a.options);
    std::filesystem::remove(path);
  }
}

TEST(ImplementationData, KeysNameContent) {
  const ImplementationRow a = row(1);
  ImplementationRow b = a;
  b.hardware.name = "another name";
  b.targets.fmax_mhz = 1;
  EXPECT_EQ(implementation_key(a), implementation_key(b));
  EXPECT_FALSE(same_result(a, b));
  b.tools = "tools 2";
  EXPECT_NE(implementation_key(a), implementation_key(b));
  EXPECT_NE(implementation_key(a), implementation_key(row(2)));
}

TEST(ImplementationData, DamagedLinesAreRefused) {
  std::string line = print_implementation_row(row(1));
  EXPECT_NO_THROW(parse_implementation_row(line, "f:1"));
  EXPECT_THROW(parse_implementation_row(line.substr(0, line.size() / 2), "f:1"), Error);
  std::string other = line;
  const size_t at = other.find("\"seed\":1");
  ASSERT_NE(at, std::string::npos);
  other.replace(at, 8, "\"seed\":9");
  try {
    parse_implementation_row(other, "f:1");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("key does not match its content"), std::string::npos)
        << error.what();
  }
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "twice.jsonl";
  write_text_file(path, line + "\n" + line + "\n");
  EXPECT_THROW(read_implementation_data(path), Error);
  std::filesystem::remove(path);
}

TEST(ImplementationRun, RefusesOptionsOfSeveralNetlists) {
  ImplementationGroup group = sample_implementations(space(), 1, 1)[0];
  group.options.resize(2);
  group.options[1].flatten = !group.options[1].flatten;
  Device device;
  device.family = synthesis::DeviceFamily::kIce40;
  EXPECT_THROW(implement(group.hardware, group.options, device, {}), Error);
}

TEST(ImplementationPerformance, CountsTheLayerOnTinyOverlays) {
  ImplementationRow a = row(1), b = row(2);
  b.hardware.memory_partition = {MemoryPartition::Kind::kCyclic, MemoryPartition::Dimension::kDepth, 2};
  b.targets.fmax_mhz = 20;
  std::vector<ImplementationRow> rows{a, b};
  add_performance(rows);
  const double least = double(performance_operations()) / 2 / double(a.hardware.macs_per_uop());
  EXPECT_GT(double(rows[0].targets.cycles), least);
  EXPECT_EQ(rows[0].targets.cycles, rows[1].targets.cycles);
  EXPECT_DOUBLE_EQ(rows[0].targets.gops * 20, rows[1].targets.gops * 41.0625);
}

}  // namespace
}  // namespace tilewright::overlay
