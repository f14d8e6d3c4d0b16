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
  // What version 1 says where there is no limit; the other version's holds.
  write_text_file(folder / "memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(left_in_group(folder, 100), 1000 - 300 + 100);
  write_text_file(folder / "memory.max", "9223372036854771712\n");
  EXPECT_EQ(left_in_group(folder, 1 << 20), kNone);
  fs::remove_all(folder);
}

// A machine that has read large files has full groups with nothing in them.
TEST(ProcessMemory, PagesOfFilesAreFree) {
  const fs::path folder = fs::path(testing::TempDir()) / ("group_cache" + std::to_string(::getpid()));
  fs::create_directories(folder / "memory");
  const int64_t gigabyte = int64_t{1} << 30, limit = 8 * gigabyte, used = limit - 30, cache = 7 * gigabyte;
  for (const bool first : {false, true}) {
    const fs::path place = first ? folder / "memory" : folder;
    write_text_file(place / (first ? "memory.limit_in_bytes" : "memory.max"), std::to_string(limit) + "\n");
    write_text_file(place / (first ? "memory.usage_in_bytes" : "memory.current"),
                    std::to_string(used) + "\n");
    EXPECT_EQ(left_in_group(folder, 100), 30 + 100);
    const std::string prefix = first ? "total_" : "";
    // Version 1 has the numbers of the group alone before those with its children.
    write_text_file(place / "memory.stat", "anon 77\n" + std::string(first ? "inactive_file 5\n" : "") +
                                               prefix + "inactive_file " + std::to_string(cache - 11) + "\n" +
                                               prefix + "active_file 11\nunevictable 3\n");
    EXPECT_EQ(left_in_group(folder, 100), 30 + cache + 100);
    // The numbers are read one after the other: the sum may be above what was taken.
    write_text_file(place / "memory.stat", prefix + "active_file " + std::to_string(limit) + "\n");
    EXPECT_EQ(left_in_group(folder, 100), limit + 100);
    fs::remove(place / "memory.stat");
    fs::remove(place / (first ? "memory.limit_in_bytes" : "memory.max"));
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tilewright
