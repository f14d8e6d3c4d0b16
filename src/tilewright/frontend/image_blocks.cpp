// The block's own axes come first in the batch, slowest first.
#include "tilewright/frontend/image_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

void check_blocks(const Shape& x, const std::vector<int64_t>& blocks, const std::vector<int64_t>& edges) {
  constexpr int64_t kLargest = int64_t{1} << 20;
  const bool sizes_fit =
      std::ranges::all_of(blocks, [](int64_t size) { return size >= 1 && size <= kLargest; });
  const bool edges_fit =
      std::ranges::all_of(edges, [](int64_t size) { return size >= 0 && size <= kLargest; });
  if (sizes_fit && edges_fit && blocks.size() < size_t(x.rank()) && edges.size() == 2 * blocks.size()) return;
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("has {} block sizes and {} edges for {}, or sizes that are none", blocks.size(),
                          edges.size(), to_string(x)));
}

}  // namespace

BlockMove space_to_batch(const Shape& x, const std::vector<int64_t>& blocks,
                         const std::vector<int64_t>& edges) {
  check_blocks(x, blocks, edges);
  const size_t count = blocks.size(), rank = size_t(x.rank());
  BlockMove move;
  move.pads.assign(2 * rank, 0);
  move.split = {x[0]};
  move.result = {x[0]};
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = x[int(i) + 1] + edges[2 * i] + edges[2 * i + 1];
    move.pads[i + 1] = edges[2 * i];
    move.pads[rank + i + 1] = edges[2 * i + 1];
    if (size % blocks[i] != 0) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("has blocks of {} on an axis of {}", blocks[i], size));
    }
    move.split.insert(move.split.end(), {size / blocks[i], blocks[i]});
    move.perm.push_back(int64_t(2 * i + 2));
    move.result[0] *= blocks[i];
    move.result.push_back(size / blocks[i]);
  }
  move.perm.push_back(0);
  for (size_t i = 0; i < count; ++i) move.perm.push_back(int64_t(2 * i + 1));
  for (size_t axis = count + 1; axis < rank; ++axis) {
    move.perm.push_back(std::ssize(move.split));
    move.split.push_back(x[int(axis)]);
    move.result.push_back(x[int(axis)]);
  }
  if (std::ranges::count(move.pads, 0) == std::ssize(move.pads)) move.pads.clear();
  return move;
}

BlockMove batch_to_space(const Shape& x, const std::vector<int64_t>& blocks,
                         const std::vector<int64_t>& edges) {
  check_blocks(x, blocks, edges);
  const auto count = std::ssize(blocks);
  int64_t images = 1;
  for (const int64_t size : blocks) {
    images *= size;
    if (images > x[0] || x[0] % images != 0) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("puts {} images together from {}", images, to_string(x)));
    }
  }
  BlockMove move;
  move.split = blocks;
  move.split.push_back(x[0] / images);
  move.result = {x[0] / images};
  move.perm.push_back(count);
  for (int axis = 1; axis < x.rank(); ++axis) {
    move.perm.push_back(std::ssize(move.split));
    move.split.push_back(x[axis]);
    move.result.push_back(x[axis]);
    if (axis > count) continue;
    move.perm.push_back(axis - 1);
    int64_t& size = move.result.back();
    size *= blocks[size_t(axis) - 1];
    const int64_t begin = edges[2 * size_t(axis) - 2], end = size - edges[2 * size_t(axis) - 1];
    if (end <= begin) throw Error(ErrorKind::kInvalidInput, "crops all that there is");
    if (begin == 0 && end == size) continue;
    move.begin.push_back(begin);
    move.end.push_back(end);
    move.axes.push_back(axis);
  }
  return move;
}

}  // namespace tilewright
