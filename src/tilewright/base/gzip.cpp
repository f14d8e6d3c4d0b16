// zlib, in pieces of at most 4 GiB (its counters have 32 bits), into a buffer that doubles. A file may
// consist of several gzip members, as the format allows.
#include "tilewright/base/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header instead of zlib's

Bytef* bytef(const std::byte* bytes) { return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes)); }

[[noreturn]] void gzip_fail(const std::string& message) { throw Error(ErrorKind::kInvalidInput, message); }

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() > 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

std::vector<std::byte> gzip(std::span<const std::byte> bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    gzip_fail("zlib cannot start");
  const std::unique_ptr<z_stream, int (*)(z_streamp)> guard(&stream, deflateEnd);
  std::vector<std::byte> packed(size_t{1} << 16);
  size_t read = 0, used = 0;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (used == packed.size()) packed.resize(used * 2);
    stream.next_in = bytef(bytes.data() + read);
    stream.avail_in = uInt(std::min<size_t>(bytes.size() - read, UINT32_MAX));
    stream.next_out = bytef(packed.data() + used);
    stream.avail_out = uInt(std::min<size_t>(packed.size() - used, UINT32_MAX));
    status = deflate(&stream, read + stream.avail_in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read = stream.total_in;
    used = stream.total_out;
  }
  packed.resize(used);
  return packed;
}

std::vector<std::byte> gunzip(std::span<const std::byte> compressed, size_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) gzip_fail("zlib cannot start");
  const std::unique_ptr<z_stream, int (*)(z_streamp)> guard(&stream, inflateEnd);
  std::vector<std::byte> bytes;
  size_t read = 0, used = 0;
  while (read < compressed.size()) {  // one member after the other
    inflateReset(&stream);
    for (int status = Z_OK; status != Z_STREAM_END;) {
      if (used == bytes.size()) bytes.resize(std::max<size_t>(size_t{1} << 16, used * 2));
      stream.next_in = bytef(compressed.data() + read);
      stream.avail_in = uInt(std::min<size_t>(compressed.size() - read, UINT32_MAX));
      stream.next_out = bytef(bytes.data() + used);
      stream.avail_out = uInt(std::min<size_t>(bytes.size() - used, UINT32_MAX));
      const uInt input = stream.avail_in, space = stream.avail_out;
      status = inflate(&stream, Z_NO_FLUSH);
      read += input - stream.avail_in;
      used += space - stream.avail_out;
      if (status != Z_STREAM_END && status != Z_OK) gzip_fail("its gzip data is damaged or truncated");
      if (used > max_bytes) gzip_fail(fmt::format("it is too large: more than {} bytes unpacked", max_bytes));
    }
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace tilewright
