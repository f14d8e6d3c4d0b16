#include "tilewright/base/process_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "tilewright/base/file.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

TEST(ProcessMemory, ThisProcessTakesLessThanThereIs) {
  EXPECT_GT(resident_bytes(), 1 << 20);
  EXPECT_GT(available_bytes(), resident_bytes());
}

TEST(ProcessMemory, ControlGroupsOfBothVersionsHaveLimits) {
  const fs::path folder = fs::path(testing::TempDir()) / ("group" + std::to_string(::getpid()));
  fs::create_directories(folder / "memory");
  EXPECT_EQ(left_in_group(folder, 100), kNone);
  write_text_file(folder / "memory.max", "max\n");
  write_text_file(folder / "memory.current", "300\n");
  EXPECT_EQ(left_in_group(folder, 100), kNone);
  write_text_file(folder / "memory.max", "1000\n");
  EXPECT_EQ(left_in_group(folder, 100), 1000 - 300 + 100);
  write_text_file(folder / "memory/memory.limit_in_bytes", "500\n");
  write_text_file(folder / "memory/memory.usage_in_bytes", "450\n");
  EXPECT_EQ(left_in_group(folder, 100), 500 - 450 + 100);
  // What is taken may be more than a limit that was lowered.
  write_text_file(folder / "memory/memory.usage_in_bytes", "700\n");
  EXPECT_EQ(left_in_group(folder, 100), 100);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tilewright
