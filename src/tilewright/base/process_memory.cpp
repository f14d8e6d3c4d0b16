// Linux' /proc and control groups.
#include "tilewright/base/process_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

namespace tilewright {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// The number in a file that holds one; nothing there, "max", or as much as no machine has (what version 1
// says without a limit): none.
int64_t number_in(const std::filesystem::path& path) {
  int64_t number = 0;
  std::ifstream file(path);
  return file >> number && number > 0 && number < int64_t{1} << 62 ? number : kNone;
}

// What the pages of files take, which the system drops before it refuses memory: the sum of the two lists of
// a memory.stat.
int64_t droppable_bytes(const std::filesystem::path& path, const std::string& prefix) {
  std::ifstream file(path);
  std::string name;
  int64_t bytes = 0, sum = 0;
  while (file >> name >> bytes) {
    if (name == prefix + "inactive_file" || name == prefix + "active_file") sum += bytes;
  }
  return sum;
}

}  // namespace

int64_t left_in_group(const std::filesystem::path& folder, int64_t own) {
  int64_t left = kNone;
  const auto look = [&](const char* limit_file, const char* used_file, const char* stat, const char* prefix) {
    const int64_t limit = number_in(folder / limit_file), used = number_in(folder / used_file);
    if (limit == kNone || used == kNone) return;
    const int64_t taken = std::max<int64_t>(0, used - droppable_bytes(folder / stat, prefix));
    left = std::min(left, std::max<int64_t>(0, limit - taken) + own);
  };
  look("memory.max", "memory.current", "memory.stat", "");
  look("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_");
  return left;
}

int64_t resident_bytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  long long total = 0, resident = 0;
  if (size <= 0 || std::sscanf(text, "%lld %lld", &total, &resident) != 2) return 0;
  return int64_t(resident) * sysconf(_SC_PAGESIZE);
}

int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  int64_t kilobytes = 0;
  const int64_t own = resident_bytes();
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:")
      return std::min((kilobytes << 10) + own, left_in_group("/sys/fs/cgroup", own));
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

void release_freed_memory() { malloc_trim(0); }

}  // namespace tilewright
