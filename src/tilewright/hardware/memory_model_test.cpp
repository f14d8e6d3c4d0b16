#include "tilewright/hardware/memory_model.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tilewright {
namespace {

TEST(MemoryModel, ShortNames) {
  EXPECT_EQ(find_memory_model("ideal").kind, MemoryModelKind::kIdeal);
  EXPECT_EQ(find_memory_model("ddr").kind, MemoryModelKind::kDdr);
  EXPECT_EQ(find_memory_model("fixed"), MemoryModel{});
  const MemoryModel latency = find_memory_model("fixed:70");
  EXPECT_EQ(latency.latency, 70u);
  EXPECT_EQ(latency.beat_interval, 1u);
  const MemoryModel both = find_memory_model("fixed:70:3");
  EXPECT_EQ(both.latency, 70u);
  EXPECT_EQ(both.beat_interval, 3u);
  const MemoryModel all = find_memory_model("fixed:128:1:90");
  EXPECT_EQ(all.latency, 128u);
  EXPECT_EQ(all.efficiency_percent, 90u);
  for (const char* wrong : {"", "fixed:", "fixed:x", "fixed:1:2:3:4", "fixed:1:2:0", "fixed:1:2:101",
                            "fixed:0", "fixed:5:0", "fixed5", "dram", "fixed:-1", "fixed:99999999999"}) {
    EXPECT_THROW(find_memory_model(wrong), Error) << wrong;
  }
}

TEST(MemoryModel, PrintsAndReadsBack) {
  MemoryModel model = find_memory_model("ddr");
  model.latency = 7;
  model.beat_interval = 2;
  model.efficiency_percent = 75;
  model.ddr = {4, 4096, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(parse_memory_model(print_memory_model(model), "m.yaml"), model);
  const std::string path = testing::TempDir() + "/memory.yaml";
  std::ofstream(path) << print_memory_model(model);
  EXPECT_EQ(find_memory_model(path), model);
}

TEST(MemoryModel, ReportsAllProblemsOfAFile) {
  try {
    parse_memory_model(
        "model: dram\nlatency: 0\nspeed: 3\nddr:\n  banks: 3\n  row_bytes: 2048\n  cas: 0\n  rank: 1\n",
        "m.yaml");
    FAIL();
  } catch (const Error& error) {
    ASSERT_EQ(error.diagnostics().size(), 7u) << error.what();
    const std::string text = error.what();
    for (const char* part : {"m.yaml:1", "m.yaml:3", "speed", "rank", "latency", "ddr.banks", "ddr.row_bytes",
                             "ddr.cas", "4096"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
}

}  // namespace
}  // namespace tilewright
