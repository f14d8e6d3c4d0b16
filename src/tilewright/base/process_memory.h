// How much memory this process takes, and how much the machine has for it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tilewright {

// Bytes of this process in the machine's memory; 0 where the system does not say.
int64_t resident_bytes();

// Bytes that this process could use in total before the machine, or its control group, is full: what it has
// plus what is available. 0 if the system does not say.
int64_t available_bytes();

// What the control group described in `folder` (/sys/fs/cgroup, of version 1 or 2) leaves to a process that
// has `own` bytes of it, these included; the largest number where there is no limit. Pages of files count as
// free: the system drops them when memory is wanted.
int64_t left_in_group(const std::filesystem::path& folder, int64_t own);

// Gives memory that was freed back to the system, so that resident_bytes() no longer counts it.
void release_freed_memory();

}  // namespace tilewright
