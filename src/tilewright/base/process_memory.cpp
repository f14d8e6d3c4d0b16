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

// The number in a file that holds one; nothing there (or "max"): no limit.
int64_t number_in(const std::filesystem::path& path) {
  int64_t number = 0;
  std::ifstream file(path);
  return file >> number && number > 0 ? number : std::numeric_limits<int64_t>::max();
}

}  // namespace

int64_t left_in_group(const std::filesystem::path& folder, int64_t own) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t left = kNone;
  for (const auto& [limit_file, used_file] :
       {std::pair("memory.max", "memory.current"),
        std::pair("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")}) {
    const int64_t limit = number_in(folder / limit_file), used = number_in(folder / used_file);
    if (limit == kNone || used == kNone) continue;
    left = std::min(left, std::max<int64_t>(0, limit - used) + own);
  }
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
