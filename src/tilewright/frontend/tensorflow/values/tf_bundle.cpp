// Nothing is allocated before the sizes were held against the files, and all tensors together take no more
// bytes than the files have. A tensor in slices has an entry without elements under its name; a slice's own
// key is the number 0, the name and the extents in TensorFlow's ordered code: bytes that sort as the numbers
// do.
#include "tilewright/frontend/tensorflow/values/tf_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/plain_text.h"
#include "tilewright/frontend/tensorflow/values/tf_checksum.h"
#include "tilewright/frontend/tensorflow/values/tf_table.h"
#include "tilewright/frontend/tensorflow/values/tf_tensor.h"
#include "tilewright_graphdef.pb.h"

namespace tilewright {
namespace {

constexpr int kStringType = 7;

template <typename Message>
Message parse_bundle_message(const std::string& value, const std::string& what) {
  Message message;
  if (!message.ParseFromString(value)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("is damaged: {} cannot be read", what),
                "export the model again");
  }
  return message;
}

// Signed numbers in ordered code: as many bytes as 7 bits each and a sign need; ones in front count the
// bytes.
void append_ordered(std::string& out, int64_t value) {
  const uint64_t magnitude = uint64_t(value < 0 ? ~value : value);
  int length = 1;
  while (length < 10 && magnitude >> std::min(7 * length - 1, 63) != 0) ++length;
  std::string bytes(10, value < 0 ? '\xff' : '\0');
  for (int i = 0; i < 8; ++i) bytes[size_t(9 - i)] = char(uint64_t(value) >> (8 * i));
  bytes = bytes.substr(size_t(10 - length));
  const uint32_t header = 0xffff0000u >> length & 0xffff;  // `length` ones, then zeros
  bytes[0] = char(bytes[0] ^ char(header >> 8));
  if (length > 1) bytes[1] = char(bytes[1] ^ char(header & 0xff));
  out += bytes;
}

// Unsigned: the number of bytes, then the bytes, the highest first.
void append_ordered_count(std::string& out, uint64_t value) {
  std::string bytes;
  for (; value != 0; value >>= 8) bytes.insert(bytes.begin(), char(value));
  out += char(bytes.size());
  out += bytes;
}

void append_ordered(std::string& out, const std::string& text) {
  for (const char c : text) {
    out += c;
    if (c == '\0') out += '\xff';
    if (c == '\xff') out += '\0';
  }
  out += '\0';
  out += '\1';
}

std::string slice_key(const std::string& name, const std::vector<TfExtent>& extents) {
  std::string key;
  append_ordered_count(key, 0);
  append_ordered(key, name);
  append_ordered_count(key, extents.size());
  for (const TfExtent& extent : extents) {
    append_ordered(key, extent.length ? extent.start : 0);
    append_ordered(key, extent.length.value_or(-1));
  }
  return key;
}

// Calls `row(first element in the whole, first in the part, elements)` for every row of the part.
template <typename Row>
void for_rows(const Shape& whole, const std::vector<int64_t>& starts, const Shape& part, Row&& row) {
  if (part.element_count() == 0) return;
  const int rank = part.rank();
  const int64_t length = rank == 0 ? 1 : part[rank - 1];
  const std::vector<int64_t> strides = whole.strides();
  std::vector<int64_t> index(size_t(rank), 0);
  for (int64_t at = 0; at < part.element_count(); at += length) {
    int64_t place = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) place += (starts[axis] + index[axis]) * strides[axis];
    row(place, at, length);
    for (int axis = rank - 2; axis >= 0 && ++index[size_t(axis)] == part[axis]; --axis)
      index[size_t(axis)] = 0;
  }
}

}  // namespace

void copy_from_part(const Tensor& part, const std::vector<int64_t>& starts, Tensor& whole) {
  const int64_t bytes = bit_width(part.type()) / 8;
  std::byte* const to = whole.mutable_bytes().data();
  for_rows(whole.shape(), starts, part.shape(), [&](int64_t place, int64_t at, int64_t length) {
    std::memcpy(to + place * bytes, part.bytes().data() + at * bytes, size_t(length * bytes));
  });
}

void copy_to_part(Tensor& part, const std::vector<int64_t>& starts, const Tensor& whole) {
  const int64_t bytes = bit_width(part.type()) / 8;
  std::byte* const to = part.mutable_bytes().data();
  for_rows(whole.shape(), starts, part.shape(), [&](int64_t place, int64_t at, int64_t length) {
    std::memcpy(to + at * bytes, whole.bytes().data() + place * bytes, size_t(length * bytes));
  });
}

std::optional<TfPart> part_of(const Shape& shape, const std::vector<TfExtent>& extents) {
  if (int(extents.size()) != shape.rank()) return std::nullopt;
  TfPart part;
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const TfExtent& extent = extents[size_t(axis)];
    if (extent.start < 0 || extent.start > shape[axis]) return std::nullopt;
    const int64_t rest = shape[axis] - extent.start, length = extent.length.value_or(rest);
    if (length < 0 || length > rest) return std::nullopt;
    part.starts.push_back(extent.start);
    dims.push_back(length);
  }
  part.shape = Shape(std::move(dims));
  return part;
}

TfBundle::TfBundle(std::filesystem::path prefix) : prefix_(std::move(prefix)) {
  const std::map<std::string, std::string> table = read_sorted_table(read_file(index_path(prefix_)));
  if (table.empty() || !table.begin()->first.empty()) {
    throw Error(ErrorKind::kInvalidInput, "is damaged: it has no header", "export the model again");
  }
  const auto header = parse_bundle_message<graphdef::BundleHeader>(table.begin()->second, "its header");
  if (header.endianness() != 0) {
    throw Error(ErrorKind::kUnsupported, "holds big-endian numbers",
                "save the model on a little-endian machine");
  }
  shards_ = header.num_shards();
  for (auto entry = std::next(table.begin()); entry != table.end(); ++entry) {
    entries_.emplace(entry->first, parse_entry(entry->first, entry->second));
  }
}

std::filesystem::path TfBundle::index_path(const std::filesystem::path& prefix) {
  return prefix.string() + ".index";
}

TfBundle::Entry TfBundle::parse_entry(const std::string& key, const std::string& value) {
  const auto stored = parse_bundle_message<graphdef::BundleEntry>(
      value, valid_utf8(key) ? fmt::format("entry '{}'", key) : "an entry");
  Entry entry{.dtype = stored.dtype(),
              .shard = stored.shard_id(),
              .offset = stored.offset(),
              .size = stored.size(),
              .checksum = stored.crc32c()};
  const TfShape shape = tf_shape(stored.shape());
  entry.has_shape = shape.has_rank && std::count(shape.dims.begin(), shape.dims.end(), -1) == 0;
  entry.shape = Shape(shape.dims);
  for (const graphdef::TensorSlice& slice : stored.slices()) {
    std::vector<TfExtent>& extents = entry.slices.emplace_back();
    for (const graphdef::SliceExtent& extent : slice.extent()) {
      extents.push_back(
          {extent.start(), extent.has_length() ? std::optional(extent.length()) : std::nullopt});
    }
  }
  return entry;
}

std::filesystem::path TfBundle::shard_path(int shard) const {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix_.string(), shard, shards_);
}

// The caller knows that the size is right for what is stored.
std::vector<std::byte> TfBundle::stored_bytes(const Entry& entry) {
  if (entry.shard < 0 || entry.shard >= shards_) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("is in data file {}, of which there are {}", entry.shard, shards_),
                "export the model again");
  }
  const std::filesystem::path path = shard_path(entry.shard);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("file '{}' {}", path.string(), why),
                "copy the whole folder of the model, or export it again");
  };
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) refuse("is missing");
  const auto [known, is_new] = shard_bytes_.try_emplace(entry.shard, 0);
  if (is_new) known->second = std::filesystem::file_size(path, failed);
  const uint64_t file_bytes = known->second, offset = uint64_t(entry.offset), size = uint64_t(entry.size);
  if (failed || entry.offset < 0 || entry.size < 0 || offset > file_bytes || size > file_bytes - offset) {
    refuse(
        fmt::format("has {} bytes, the tensor needs {} from byte {}", file_bytes, entry.size, entry.offset));
  }
  uint64_t all_bytes = 0;
  for (const auto& [shard, shard_bytes] : shard_bytes_) all_bytes += shard_bytes;
  taken_bytes_ += size;
  if (taken_bytes_ > all_bytes) refuse("has fewer bytes than its tensors, which overlap");
  std::vector<std::byte> bytes(size);
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(std::streamoff(offset));
  stream.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(size));
  if (!stream && size != 0) refuse("cannot be read");
  return bytes;
}

Tensor TfBundle::read(const std::string& key) {
  const Entry& entry = entries_.at(key);
  return entry.slices.empty() ? read_whole(entry) : read_slices(key, entry);
}

Tensor TfBundle::read_whole(const Entry& entry) {
  const std::optional<ElementType> type = element_type_of_tensorflow(entry.dtype);
  if (!type) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("holds elements of {}", tensorflow_type_name(entry.dtype)));
  }
  if (!entry.has_shape) throw Error(ErrorKind::kInvalidInput, "has an unknown shape in the index");
  const int64_t bytes = entry.shape.element_count() * (bit_width(*type) / 8);
  if (entry.size != bytes) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("has {} bytes, {} takes {}", entry.size, to_string(*type, entry.shape), bytes),
                "export the model again");
  }
  const std::vector<std::byte> content = stored_bytes(entry);
  if (masked_checksum(crc32c(content)) != entry.checksum) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("file '{}' is damaged: the checksum of the elements does not fit",
                            shard_path(entry.shard).string()),
                "copy or export the model again");
  }
  Tensor tensor(*type, entry.shape);
  if (!content.empty()) std::memcpy(tensor.mutable_bytes().data(), content.data(), content.size());
  return tensor;
}

Tensor TfBundle::read_slices(const std::string& key, const Entry& entry) {
  const auto wrong = [](const std::string& what) {
    throw Error(ErrorKind::kInvalidInput, what, "export the model again");
  };
  if (!entry.has_shape) wrong("has an unknown shape in the index");
  std::vector<std::pair<std::vector<int64_t>, Tensor>> parts;
  int64_t elements = 0;
  for (const std::vector<TfExtent>& extents : entry.slices) {
    const std::optional<TfPart> part = part_of(entry.shape, extents);
    const auto stored = entries_.find(slice_key(key, extents));
    if (!part) wrong(fmt::format("has a slice outside its shape {}", to_string(entry.shape)));
    if (stored == entries_.end())
      wrong(fmt::format("lacks slice {} of {}", parts.size() + 1, entry.slices.size()));
    if (stored->second.dtype != entry.dtype || stored->second.shape != part->shape) {
      wrong(fmt::format("has a slice {} of another type or shape than the index says", parts.size() + 1));
    }
    parts.emplace_back(part->starts, read_whole(stored->second));
    elements += part->shape.element_count();
  }
  if (elements != entry.shape.element_count()) wrong("has slices that leave holes or overlap");
  // As many elements as the whole: without overlaps there are no holes.
  Tensor whole(parts[0].second.type(), entry.shape);
  std::vector<bool> is_filled(size_t(elements), false);
  for (const auto& [starts, part] : parts) {
    for_rows(entry.shape, starts, part.shape(), [&](int64_t place, int64_t, int64_t length) {
      const auto from = is_filled.begin() + place;
      if (std::find(from, from + length, true) != from + length)
        wrong("has slices that leave holes or overlap");
      std::fill(from, from + length, true);
    });
    copy_from_part(part, starts, whole);
  }
  return whole;
}

std::string TfBundle::read_text(const std::string& key) {
  const Entry& entry = entries_.at(key);
  const auto damaged = [&] {
    return Error(ErrorKind::kInvalidInput,
                 fmt::format("file '{}' is damaged in this text", shard_path(entry.shard).string()),
                 "copy or export the model again");
  };
  constexpr int64_t kMostTextBytes = int64_t{1} << 30;
  if (entry.dtype != kStringType || !entry.has_shape || entry.shape.rank() != 0 ||
      entry.size > kMostTextBytes) {
    throw damaged();
  }
  // The length seven bits at a time, a checksum of the length as four bytes, the text; the entry's checksum
  // is of the four bytes, their checksum and the text.
  std::vector<std::byte> content = stored_bytes(entry);
  uint64_t length = 0;
  size_t at = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at == content.size()) throw damaged();
    length |= (uint64_t(content[at]) & 0x7f) << shift;
    if (uint64_t(content[at++]) < 0x80) break;
  }
  constexpr size_t kChecksumBytes = 4;
  if (content.size() - at < kChecksumBytes || content.size() - at - kChecksumBytes != length) throw damaged();
  std::vector<std::byte> checked(kChecksumBytes);
  for (size_t i = 0; i < kChecksumBytes; ++i) checked[i] = std::byte(length >> (8 * i));
  checked.insert(checked.end(), content.begin() + int64_t(at), content.end());
  if (masked_checksum(crc32c(checked)) != entry.checksum) throw damaged();
  return {reinterpret_cast<const char*>(content.data()) + at + kChecksumBytes, length};
}

}  // namespace tilewright
