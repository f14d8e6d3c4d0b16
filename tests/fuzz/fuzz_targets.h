// What is fuzzed: files, each with the reader that must survive its damaged copies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/random.h"

namespace tilewright {

using Bytes = std::vector<std::byte>;

struct FuzzTarget {
  std::string reader;
  std::string name;  // of the file
  Bytes original;
  // A damaged copy of `original`, of the kind `index` asks for.
  std::function<Bytes(const Bytes& original, size_t index, Random& random)> damage;
  // Throws Error to reject the bytes.
  std::function<void(std::span<const std::byte>)> read;
};

// Damage of any bytes; walks the kinds of mutation in turn.
Bytes damage_anything(const Bytes& original, size_t index, Random& random);

struct FuzzTotals {
  int inputs = 0, crashes = 0, hangs = 0, wrong_kind = 0, accepted = 0;
  int failures() const { return crashes + hangs + wrong_kind; }
};

// `count` mutations of one target, kind after kind, from `seed`; prints each failure with what
// reproduces it.
FuzzTotals fuzz(const FuzzTarget& target, int count, uint64_t seed);

}  // namespace tilewright
