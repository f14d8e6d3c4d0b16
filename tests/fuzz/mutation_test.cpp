#include "fuzz/mutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace tilewright {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(std::byte(c));
  return bytes;
}

// Field 1 = 5 (varint); field 2 = message { field 1 = "abc" }; field 3 = 100 bytes 0xFF, which are no
// message.
std::vector<std::byte> example() {
  std::string text = std::string("\x08\x05", 2) + std::string("\x12\x05\x0A\x03", 4) + "abc";
  text += std::string("\x1A\x64", 2) + std::string(100, '\xFF');
  return bytes_of(text);
}

TEST(Mutation, TheWireMapFindsLengthsAndLeavesOutLongPayloads) {
  const WireMap map = map_protobuf(example());
  EXPECT_EQ(map.lengths, (std::vector<size_t>{3, 5, 10}));
  const std::set<size_t> structural(map.structural.begin(), map.structural.end());
  EXPECT_EQ(structural, (std::set<size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Mutation, EveryMutationChangesTheBytesAndCanBeRepeated) {
  const std::vector<std::byte> original = example();
  const WireMap wire = map_protobuf(original);
  for (int kind = 0; kind < kMutationKinds; ++kind) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Random first(seed), second(seed);
      const auto a = mutate(original, wire, MutationKind(kind), first);
      EXPECT_NE(a, original) << name(MutationKind(kind)) << " seed " << seed;
      EXPECT_EQ(a, mutate(original, wire, MutationKind(kind), second)) << "seed " << seed;
      Random third(seed);
      EXPECT_NE(mutate(original, {}, MutationKind(kind), third), original) << "seed " << seed;
    }
  }
}

TEST(Mutation, TruncationShortens) {
  const std::vector<std::byte> original = example();
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    EXPECT_LT(mutate(original, {}, MutationKind::kTruncation, random).size(), original.size());
  }
}

}  // namespace
}  // namespace tilewright
