// Sorted tables of keys and values in LevelDB's file format: the index of a TensorFlow checkpoint.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace tilewright {

// Every entry of the table. Errors (invalid input): not such a table, truncated, a checksum that does not
// fit, blocks that overlap, keys out of order, keys that expand far beyond the file; (unsupported) compressed
// blocks.
std::map<std::string, std::string> read_sorted_table(std::span<const std::byte> bytes);

}  // namespace tilewright
