// TensorFlow's checkpoints, "tensor bundles": PREFIX.index, a sorted table from the names of tensors to where
// their elements lie, and PREFIX.data-00000-of-0000N with the elements.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// A part of a tensor: from `start` on `length` indices along one axis; without a length all that follow.
struct TfExtent {
  int64_t start = 0;
  std::optional<int64_t> length;
};

class TfBundle {
 public:
  // Reads the index. Errors (invalid input): missing, damaged, an entry that is no message; (unsupported)
  // big-endian numbers.
  explicit TfBundle(std::filesystem::path prefix);
  static std::filesystem::path index_path(const std::filesystem::path& prefix);

  bool has(const std::string& key) const { return entries_.count(key) != 0; }

  // The tensor of a key that is there, assembled if it is stored in slices. Errors (invalid input): a data
  // file that is missing or ends before the tensor does, sizes that contradict each other, slices that leave
  // holes or overlap, a wrong checksum, tensors that overlap; (unsupported) other element types. Every
  // message names the data file.
  Tensor read(const std::string& key);
  // The same of a tensor of one string.
  std::string read_text(const std::string& key);

 private:
  struct Entry {
    int dtype = 0;
    Shape shape;
    bool has_shape = false;  // all sizes are known and at least 0
    int shard = 0;
    int64_t offset = 0, size = 0;
    uint32_t checksum = 0;
    std::vector<std::vector<TfExtent>> slices;
  };
  static Entry parse_entry(const std::string& key, const std::string& value);
  std::filesystem::path shard_path(int shard) const;
  std::vector<std::byte> stored_bytes(const Entry& entry);
  Tensor read_whole(const Entry& entry);
  Tensor read_slices(const std::string& key, const Entry& entry);

  std::filesystem::path prefix_;
  int shards_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<int, uint64_t> shard_bytes_;  // of the data files that were opened
  uint64_t taken_bytes_ = 0;             // by the tensors that were read
};

// The part of `whole` that begins at `starts` and has the shape of `part`, copied into `part`, or out of it.
// It must lie inside.
void copy_from_part(const Tensor& part, const std::vector<int64_t>& starts, Tensor& whole);
void copy_to_part(Tensor& part, const std::vector<int64_t>& starts, const Tensor& whole);

// Where `extents` begin and the shape that they cut out of `shape`; nothing if they do not lie inside.
struct TfPart {
  std::vector<int64_t> starts;
  Shape shape;
};
std::optional<TfPart> part_of(const Shape& shape, const std::vector<TfExtent>& extents);

}  // namespace tilewright
