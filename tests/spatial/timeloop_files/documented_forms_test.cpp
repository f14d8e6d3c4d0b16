// The examples of docs/reference/arrays.md are what they say they are.
#include <gtest/gtest.h>

#include "tilewright/base/file.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/mapspace/mapspace_text.h"

namespace tilewright {
namespace {

std::vector<std::string> yaml_blocks(const std::string& text) {
  std::vector<std::string> blocks;
  const std::string open = "```yaml\n", close = "```";
  for (size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    const size_t begin = at + open.size();
    at = text.find(close, begin);
    blocks.push_back(text.substr(begin, at - begin));
  }
  return blocks;
}

TEST(DocumentedForms, ExamplesOfArraysParse) {
  const std::filesystem::path docs = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "docs";
  const std::vector<std::string> blocks = yaml_blocks(read_text_file(docs / "reference" / "arrays.md"));
  ASSERT_EQ(blocks.size(), 4u);
  const ArrayHardware array = parse_array_hardware(blocks[0], "array");
  EXPECT_EQ(array.pe_count(), 256);
  const std::vector<Workload> conv1 = parse_workloads(blocks[1], "conv1");
  ASSERT_EQ(conv1.size(), 1u);
  EXPECT_EQ(conv1[0].operation_count(), int64_t{16} * 105'415'200);
  EXPECT_EQ(parse_workloads(blocks[2], "correlation")[0].dimension_count(), 3);
  // R and S are 11 in conv1: factors of 1 at this level leave them to the others.
  Mapspace mapspace = parse_mapspace(blocks[3], "constraints", conv1[0], array);
  mapspace.imperfect = true;
  Diagnostics diagnostics;
  mapspace.verify(diagnostics);
  for (const Diagnostic& d : diagnostics.errors()) ADD_FAILURE() << to_string(d);
}

// Every preset can run a layer: one word at a time, kept only where it must be.
TEST(ArrayPresets, EachHasALegalMapping) {
  const std::filesystem::path presets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";
  const Workload workload =
      parse_workloads("convolution: {input_channels: 3, output_channels: 4, input: 8, kernel: 3}\n", "w")[0];
  for (const std::string& name : array_preset_names(presets)) {
    const ArrayHardware array = find_array_hardware(name, presets);
    Mapping mapping;
    for (const ArrayLevel& level : array.levels) {
      mapping.levels.push_back({level.name, {}, {}, mapping.levels.empty() ? 7u : level.must_keep});
    }
    for (int d = 0; d < workload.dimension_count(); ++d) {
      const int64_t size = workload.dimensions[size_t(d)].size;
      if (size > 1) mapping.levels[0].temporal.push_back({d, size});
    }
    Diagnostics diagnostics;
    check_mapping(workload, array_hierarchy(array, workload), mapping, name, diagnostics);
    for (const Diagnostic& d : diagnostics.errors()) ADD_FAILURE() << to_string(d);
    const Cost cost = evaluate_mapping(workload, array, mapping, kPhysicalRules);
    EXPECT_GT(cost.energy, double(workload.operation_count()) * array.mac_energy) << name;
    EXPECT_GE(cost.cycles, workload.operation_count()) << name;
  }
}

}  // namespace
}  // namespace tilewright
