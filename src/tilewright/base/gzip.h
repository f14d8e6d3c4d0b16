// gzip (RFC 1952) in memory, for data files that are kept compressed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewright {

// Whether the bytes begin like gzip.
bool is_gzip(std::span<const std::byte> bytes);

// Equal bytes give equal results: no name, no time.
std::vector<std::byte> gzip(std::span<const std::byte> bytes);
// Errors (invalid input): damaged, cut short, bytes after its end, more than `max_bytes` unpacked.
std::vector<std::byte> gunzip(std::span<const std::byte> compressed, size_t max_bytes = size_t{1} << 32);

}  // namespace tilewright
