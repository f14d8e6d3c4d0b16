// Slice-13 of the ONNX operator reference: negative positions count from the end, then everything is clamped.
#include "tilewright/graph/slices.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright {
namespace {

constexpr int64_t kMaxStep = int64_t{1} << 40;

[[noreturn]] void refuse_slice(const Node& node, std::string message) {
  throw Error({{ErrorKind::kInvalidInput, where(node), node.op, std::move(message), ""}});
}

SliceRange range_of(int64_t start, int64_t end, int64_t step, int64_t size) {
  step = std::clamp(step, -kMaxStep, kMaxStep);
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<int64_t>(start, 0, std::max<int64_t>(size - 1, 0));
  end = std::clamp<int64_t>(end, -1, std::max<int64_t>(size - 1, 0));
  return {start, step, size > 0 && start > end ? (start - end - 1) / -step + 1 : 0};
}

}  // namespace

std::vector<SliceRange> slice_ranges(const Node& node, const Shape& data, std::span<const int64_t> starts,
                                     std::span<const int64_t> ends, std::span<const int64_t> axes,
                                     std::span<const int64_t> steps) {
  const size_t count = starts.size();
  if (ends.size() != count || (!axes.empty() && axes.size() != count) ||
      (!steps.empty() && steps.size() != count)) {
    refuse_slice(node, fmt::format("{} starts, {} ends, {} axes and {} steps", count, ends.size(),
                                   axes.size(), steps.size()));
  }
  if (axes.empty() && count > size_t(data.rank())) {
    refuse_slice(node, fmt::format("{} starts for {} axes", count, data.rank()));
  }
  std::vector<SliceRange> ranges;
  for (int64_t size : data) ranges.push_back({0, 1, size});
  std::vector<bool> seen(ranges.size(), false);
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = axes.empty() ? int64_t(i) : axes[i];
    if (axis < -data.rank() || axis >= data.rank()) {
      refuse_slice(node, fmt::format("axis {} is outside -{}..{}", axis, data.rank(), data.rank() - 1));
    }
    if (axis < 0) axis += data.rank();
    if (seen[size_t(axis)]) refuse_slice(node, fmt::format("axis {} is listed twice", axis));
    seen[size_t(axis)] = true;
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0) refuse_slice(node, "a step is 0");
    ranges[size_t(axis)] = range_of(starts[i], ends[i], step, data[int(axis)]);
  }
  return ranges;
}

}  // namespace tilewright
