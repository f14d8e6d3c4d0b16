// What is fuzzed: files, each with the reader that must survive its damaged copies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

struct FuzzTarget {
  std::filesystem::path file;
  // Throws Error to reject the bytes.
  std::function<void(std::span<const std::byte>)> read;
  bool is_protobuf = true;
};

// Reading an ONNX file, and writing what was read.
FuzzTarget onnx_target(const std::filesystem::path& file);
// Five ONNX models below `models`: float and quantised, with weights and without.
std::vector<FuzzTarget> onnx_targets(const std::filesystem::path& models);

struct FuzzTotals {
  int inputs = 0, crashes = 0, hangs = 0, accepted = 0;
};

// `count` mutations of one target, kind after kind, from `seed`; prints each crash and hang with what
// reproduces it.
FuzzTotals fuzz(const FuzzTarget& target, int count, uint64_t seed);

}  // namespace tilewright
