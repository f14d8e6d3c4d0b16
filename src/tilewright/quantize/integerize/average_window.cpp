// A divisor that varies from output to output has no integer form: padding must count, and no window may
// reach beyond it.
#include "tilewright/quantize/integerize/average_window.h"

#include <algorithm>

#include "tilewright/graph/window.h"

namespace tilewright {
namespace {

constexpr const char* kEmptyWindow = "its window holds no elements";

}  // namespace

AverageWindow average_window(const Graph& graph, const Node& node) {
  AverageWindow result;
  const Shape& x = graph.value(node.input(0)).shape;
  if (x.rank() < 3 || x.rank() > 4) {
    result.problem = "only one or two spatial axes have an integer form";
    return result;
  }
  const bool row = x.rank() == 3;  // an image of one row
  if (node.is("ReduceMean")) {
    std::vector<int64_t> axes = node.ints_or("axes", {});
    for (int64_t& axis : axes) axis = normalize_axis(axis, x.rank());
    std::sort(axes.begin(), axes.end());
    if (axes != (row ? std::vector<int64_t>{2} : std::vector<int64_t>{2, 3}))
      result.problem = "only a mean over all spatial axes has an integer form";
    result.kernel = {row ? 1 : x[2], x[x.rank() - 1]};
    result.strides = {1, 1};
    result.pads = {0, 0, 0, 0};
    if (result.elements() == 0) result.problem = kEmptyWindow;
    return result;
  }
  const Window window = node.is("AveragePool") ? pool_window(node, x) : global_window(node, x);
  if (row) result.kernel = result.strides = {1};
  for (const WindowAxis& axis : window.axes) {
    result.kernel.push_back(axis.kernel);
    result.strides.push_back(axis.stride);
    const int64_t last = axis.input_index(axis.output - 1, axis.kernel - 1);
    if (last >= axis.input + axis.pad_end)
      result.problem = "a window of ceil_mode reaches beyond the padding";
    if (axis.dilation != 1) result.problem = "dilated windows have no integer form";
  }
  if (result.elements() == 0) result.problem = kEmptyWindow;
  result.pads = window.pads();
  if (row) result.pads = {0, result.pads[0], 0, result.pads[1]};
  result.padded = window.has_padding();
  if (result.padded && node.int_or("count_include_pad", 0) == 0) {
    result.problem = "the average leaves out padding (count_include_pad = 0), so its divisor varies";
  }
  return result;
}

}  // namespace tilewright
