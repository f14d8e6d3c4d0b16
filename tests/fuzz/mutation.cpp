#include "fuzz/mutation.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <string>

namespace tilewright {
namespace {

constexpr size_t kShortPayload = 64;
constexpr int kMaxDepth = 12;

bool read_varint(std::span<const std::byte> bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = uint64_t(bytes[at++]);
    value |= (byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// Walks [begin, end) as a message; false if it is none. Appends to `map` only what is well-formed.
bool walk(std::span<const std::byte> bytes, size_t begin, size_t end, int depth, WireMap& map) {
  const auto message = bytes.subspan(0, end);
  const size_t lengths_before = map.lengths.size(), structural_before = map.structural.size();
  const size_t fields_before = map.fields.size();
  const auto add = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) map.structural.push_back(i);
  };
  const auto undo = [&] {
    map.lengths.resize(lengths_before);
    map.structural.resize(structural_before);
    map.fields.resize(fields_before);
    return false;
  };
  for (size_t at = begin; at < end;) {
    const size_t start = at;
    uint64_t tag = 0, value = 0;
    if (!read_varint(message, at, tag) || tag >> 3 == 0) return undo();
    const size_t number = at;
    size_t skip = 0;
    switch (tag & 7) {
      case 0:
        if (!read_varint(message, at, value)) return undo();
        break;
      case 1:
        skip = 8;
        break;
      case 5:
        skip = 4;
        break;
      case 2: {
        map.lengths.push_back(at);
        if (!read_varint(message, at, value) || value > end - at) return undo();
        add(start, at);
        const size_t payload = at;
        at += size_t(value);
        const bool is_message = depth < kMaxDepth && value > 1 && walk(bytes, payload, at, depth + 1, map);
        if (!is_message && value <= kShortPayload) {
          add(payload, at);
          for (size_t i = payload; i < at; ++i) map.fields.push_back(i);
        }
        continue;
      }
      default:
        return undo();
    }
    if (skip > end - at) return undo();
    at += skip;
    add(start, at);
    for (size_t i = number; i < at; ++i) map.fields.push_back(i);
  }
  return true;
}

size_t pick(const std::vector<size_t>& structural, size_t size, Random& random) {
  if (!structural.empty() && random.chance(0.75)) {
    return structural[size_t(random.between(0, int64_t(structural.size()) - 1))];
  }
  return size_t(random.between(0, int64_t(size) - 1));
}

std::vector<std::byte> varint(uint64_t value) {
  std::vector<std::byte> bytes;
  do {
    bytes.push_back(std::byte((value & 0x7F) | (value > 0x7F ? 0x80 : 0)));
    value >>= 7;
  } while (value != 0);
  return bytes;
}

uint64_t extreme_number(Random& random) {
  constexpr uint64_t kNumbers[] = {0,          1,           0x7F,        0xFFFF,      0x7FFFFFFF,
                                   0xFFFFFFFF, 0x80000000u, 0x100000000, ~0ull >> 1,  ~0ull,
                                   1ull << 40, 1ull << 62,  3,           0x00FFFFFFu, 0x10000};
  return random.chance(0.3) ? uint64_t(random.between(0, 1 << 20)) : kNumbers[random.between(0, 14)];
}

void edit_length(std::vector<std::byte>& bytes, const WireMap& wire, Random& random) {
  const uint64_t number = extreme_number(random);
  if (wire.lengths.empty()) {
    const size_t at = pick(wire.structural, bytes.size(), random);
    const size_t width = random.chance(0.5) ? 4 : 8;
    for (size_t i = 0; i < width && at + i < bytes.size(); ++i) bytes[at + i] = std::byte(number >> (8 * i));
    return;
  }
  const size_t at = wire.lengths[size_t(random.between(0, int64_t(wire.lengths.size()) - 1))];
  size_t end = at;
  uint64_t old = 0;
  read_varint(bytes, end, old);
  const int64_t step = random.between(1, 4);
  const uint64_t small =
      random.chance(0.5) ? old + uint64_t(step) : old - std::min<uint64_t>(old, uint64_t(step));
  const std::vector<std::byte> written = varint(random.chance(0.5) ? small : number);
  bytes.erase(bytes.begin() + std::ptrdiff_t(at), bytes.begin() + std::ptrdiff_t(end));
  bytes.insert(bytes.begin() + std::ptrdiff_t(at), written.begin(), written.end());
}

void swap_chunks(std::vector<std::byte>& bytes, const WireMap& wire, Random& random) {
  const size_t length = size_t(random.between(1, std::min<int64_t>(256, int64_t(bytes.size()) / 2 + 1)));
  const size_t a = std::min(pick(wire.structural, bytes.size(), random), bytes.size() - length);
  const size_t b = std::min(pick(wire.structural, bytes.size(), random), bytes.size() - length);
  for (size_t i = 0; i < length; ++i) std::swap(bytes[a + i], bytes[b + i]);
}

void overwrite_run(std::vector<std::byte>& bytes, const WireMap& wire, Random& random) {
  const size_t at = pick(wire.structural, bytes.size(), random);
  const size_t length = std::min(size_t(random.between(1, 64)), bytes.size() - at);
  const int64_t fill = random.between(0, 2);
  for (size_t i = 0; i < length; ++i) {
    bytes[at + i] = fill == 0 ? std::byte{0} : fill == 1 ? std::byte{0xFF} : std::byte(random.next() & 0xFF);
  }
}

// Copies a chunk to another place, which shifts what follows, or cuts one out.
void repeat_chunk(std::vector<std::byte>& bytes, const WireMap& wire, Random& random) {
  const size_t from = pick(wire.structural, bytes.size(), random);
  const size_t length = std::min(size_t(random.between(1, 512)), bytes.size() - from);
  const auto first = bytes.begin() + std::ptrdiff_t(from);
  if (random.chance(0.5)) {
    bytes.erase(first, first + std::ptrdiff_t(length));
    return;
  }
  const std::vector<std::byte> chunk(first, first + std::ptrdiff_t(length));
  const size_t to = pick(wire.structural, bytes.size(), random);
  bytes.insert(bytes.begin() + std::ptrdiff_t(to), chunk.begin(), chunk.end());
}

// New low seven bits, which leaves the number of bytes of a varint as it is.
void edit_fields(std::vector<std::byte>& bytes, const WireMap& wire, Random& random) {
  for (int64_t edits = random.between(1, 4); edits > 0; --edits) {
    const size_t at = pick(wire.fields, bytes.size(), random);
    const std::byte low = random.chance(0.3) ? std::byte{0x7F} : std::byte(random.next() & 0x7F);
    bytes[at] = (bytes[at] & std::byte{0x80}) | low;
  }
}

// A field with its payload in a field of the same number, again and again. Numbers of more than one byte in
// the tag give another field, which is damage as well.
void nest(std::vector<std::byte>& bytes, const WireMap& wire, Random& random) {
  const size_t at = wire.lengths[size_t(random.between(0, int64_t(wire.lengths.size()) - 1))];
  size_t payload = at;
  uint64_t length = 0;
  read_varint(bytes, payload, length);
  if (at == 0 || length > bytes.size() - payload) return;
  constexpr int64_t kDepths[] = {1, 2, 10, 98, 99, 100, 101, 1000, 20000};
  const std::byte tag = bytes[at - 1];
  std::vector<std::byte> inner;  // from the inside out, backwards
  const auto prepend = [&](const std::vector<std::byte>& more) {
    inner.insert(inner.end(), more.rbegin(), more.rend());
  };
  uint64_t size = length;
  for (int64_t depth = kDepths[random.between(0, 8)]; depth > 0; --depth) {
    const std::vector<std::byte> header = varint(size);
    prepend(header);
    inner.push_back(tag);
    size += header.size() + 1;
  }
  std::vector<std::byte> written = varint(size);
  written.insert(written.end(), inner.rbegin(), inner.rend());
  bytes.erase(bytes.begin() + std::ptrdiff_t(at), bytes.begin() + std::ptrdiff_t(payload));
  bytes.insert(bytes.begin() + std::ptrdiff_t(at), written.begin(), written.end());
}

// Two words of four bytes that may be offsets to what lies behind them: one leads where the other does.
void share_target(std::vector<std::byte>& bytes, Random& random) {
  const auto word = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value |= uint32_t(bytes[at + i]) << (8 * i);
    return value;
  };
  if (bytes.size() < 16) return;
  std::vector<size_t> offsets;
  for (int tries = 0; tries < 2000 && offsets.size() < 2; ++tries) {
    const size_t at = size_t(random.between(0, int64_t(bytes.size() / 4) - 1)) * 4;
    if (word(at) >= 4 && word(at) < bytes.size() - at) offsets.push_back(at);
  }
  if (offsets.size() < 2) return;
  const auto target = int64_t(offsets[1]) + int64_t(word(offsets[1]));
  const auto value = uint32_t(target - int64_t(offsets[0]));
  for (size_t i = 0; i < 4; ++i) bytes[offsets[0] + i] = std::byte(value >> (8 * i));
}

}  // namespace

WireMap map_protobuf(std::span<const std::byte> bytes) {
  WireMap map;
  walk(bytes, 0, bytes.size(), 0, map);
  return map;
}

const char* name(MutationKind kind) {
  static constexpr const char* kNames[kMutationKinds] = {"bit flips",  "byte run",    "truncation",
                                                         "chunk swap", "length edit", "chunk repeat",
                                                         "field edit", "nesting"};
  return kNames[int(kind)];
}

std::vector<std::byte> mutate(std::span<const std::byte> original, const WireMap& wire, MutationKind kind,
                              Random& random) {
  std::vector<std::byte> bytes(original.begin(), original.end());
  if (bytes.empty()) return bytes;
  switch (kind) {
    case MutationKind::kBitFlips:
      for (int64_t flips = random.between(1, 16); flips > 0; --flips) {
        bytes[pick(wire.structural, bytes.size(), random)] ^= std::byte(1u << random.between(0, 7));
      }
      break;
    case MutationKind::kByteRun:
      overwrite_run(bytes, wire, random);
      break;
    case MutationKind::kTruncation:
      bytes.resize(pick(wire.structural, bytes.size(), random));
      break;
    case MutationKind::kChunkSwap:
      swap_chunks(bytes, wire, random);
      break;
    case MutationKind::kLengthEdit:
      edit_length(bytes, wire, random);
      break;
    case MutationKind::kFieldEdit:
      edit_fields(bytes, wire, random);
      break;
    case MutationKind::kChunkRepeat:
      repeat_chunk(bytes, wire, random);
      break;
    case MutationKind::kNesting:
      wire.lengths.empty() ? share_target(bytes, random) : nest(bytes, wire, random);
      break;
  }
  // An edit may have changed nothing (a swap of equal chunks): every mutation must be one.
  if (std::equal(bytes.begin(), bytes.end(), original.begin(), original.end())) {
    bytes[pick(wire.structural, bytes.size(), random)] ^= std::byte{0x10};
  }
  return bytes;
}

std::vector<std::byte> damage_number(const std::vector<std::byte>& text, Random& random) {
  constexpr const char* kNumbers[] = {"0",
                                      "-1",
                                      "1",
                                      "3",
                                      "255",
                                      "65536",
                                      "2147483647",
                                      "-7",
                                      "1e9",
                                      "4294967296",
                                      "1099511627776",
                                      "9223372036854775807",
                                      "99999999999999999999"};
  const auto is_digit = [](std::byte b) { return std::isdigit(int(b)) != 0; };
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i]) && (i == 0 || !is_digit(text[i - 1]))) starts.push_back(i);
  }
  if (starts.empty()) return mutate(text, {}, MutationKind::kFieldEdit, random);
  std::vector<std::byte> damaged = text;
  const auto begin =
      damaged.begin() + std::ptrdiff_t(starts[size_t(random.between(0, int64_t(starts.size()) - 1))]);
  const auto at = damaged.erase(begin, std::find_if_not(begin, damaged.end(), is_digit));
  const std::string number = kNumbers[random.between(0, int64_t(std::size(kNumbers)) - 1)];
  const auto* bytes = reinterpret_cast<const std::byte*>(number.data());
  damaged.insert(at, bytes, bytes + number.size());
  return damaged;
}

}  // namespace tilewright
