// Seeded damage to files. Protobuf files are damaged where it matters: three quarters of the edits go to
// tags, lengths and short fields rather than to the weights, which make up nearly all of the bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/random.h"

namespace tilewright {

// The positions of the parts of a protobuf message, as far as it can be walked.
struct WireMap {
  std::vector<size_t> lengths;  // first byte of each length varint
  std::vector<size_t>
      fields;  // payload bytes of numbers and short strings: edits here keep the file parseable
  std::vector<size_t> structural;  // bytes of tags, lengths, numbers and payloads of up to 64 bytes
};
WireMap map_protobuf(std::span<const std::byte> bytes);

enum class MutationKind {
  kBitFlips,
  kByteRun,
  kTruncation,
  kChunkSwap,
  kLengthEdit,
  kChunkRepeat,
  kFieldEdit,
  kNesting,  // a message in itself, up to thousands deep; without lengths: an offset that leads where another
             // does
};
inline constexpr int kMutationKinds = 8;
const char* name(MutationKind kind);

// A damaged copy; never equal to `bytes` unless that is empty. `wire` may be empty (not protobuf): edits then
// go anywhere, and length edits overwrite four or eight bytes with an extreme number.
std::vector<std::byte> mutate(std::span<const std::byte> bytes, const WireMap& wire, MutationKind kind,
                              Random& random);
// One number of a text becomes another, mostly an extreme one. A text without numbers: any edit.
std::vector<std::byte> damage_number(const std::vector<std::byte>& text, Random& random);

}  // namespace tilewright
