// Operators that pick, join or cut: Concat, Split, Slice, Gather, OneHot.
#include <fmt/format.h>

#include <numeric>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"
#include "tilewright/graph/slices.h"

namespace tilewright {
namespace {

std::vector<TypedShape> infer_concat(const OperatorContext& context) {
  Shape shape = context.shape(0);
  const int axis = checked_axis(context, context.node().int_or("axis", 0), shape.rank());
  for (int i = 1; i < context.input_count(); ++i) {
    if (!context.has(i)) reject(context, fmt::format("input {} is missing", i));
    require_same_type(context, 0, i);
    Shape other = context.shape(i);
    const int64_t added = other.rank() == shape.rank() ? other[axis] : 0;
    if (other.rank() == shape.rank()) other[axis] = shape[axis];
    if (other != shape) {
      reject(context, fmt::format("{} of shape {} does not join {} of shape {} along axis {}",
                                  describe_input(context, i), to_string(context.shape(i)),
                                  describe_input(context, 0), to_string(context.shape(0)), axis));
    }
    shape[axis] += added;
  }
  return only(context.type(0), shape);
}

std::vector<TypedShape> infer_split(const OperatorContext& context) {
  const Shape& x = context.shape(0);
  const int axis = checked_axis(context, context.node().int_or("axis", 0), x.rank());
  const int64_t parts = context.output_count();
  std::vector<int64_t> sizes(size_t(parts), x[axis] / parts);
  if (context.has(1)) {
    sizes = known_integers(context, 1, "the list of sizes");
    if (int64_t(sizes.size()) != parts) {
      reject(context, fmt::format("{} sizes for {} outputs", sizes.size(), parts));
    }
    int64_t left = x[axis];
    for (int64_t size : sizes) left = size < 0 || size > left ? -1 : left - size;
    if (left != 0) {
      reject(context, fmt::format("sizes {} do not add up to {}, the size of axis {}",
                                  fmt::join(sizes, " + "), x[axis], axis));
    }
  } else if (x[axis] % parts != 0) {
    reject(context, fmt::format("axis {} of size {} does not divide into {} outputs", axis, x[axis], parts),
           "give the sizes as second input");
  }
  std::vector<TypedShape> results;
  for (int64_t size : sizes) {
    Shape shape = x;
    shape[axis] = size;
    results.push_back({context.type(0), std::move(shape)});
  }
  return results;
}

std::vector<TypedShape> infer_slice(const OperatorContext& context) {
  const auto list = [&](int index, const char* what) {
    return context.has(index) ? known_integers(context, index, what) : std::vector<int64_t>{};
  };
  const std::vector<int64_t> starts = list(1, "the list of starts"), ends = list(2, "the list of ends");
  const std::vector<int64_t> axes = list(3, "the list of axes"), steps = list(4, "the list of steps");
  std::vector<int64_t> dims;
  for (const SliceRange& range : slice_ranges(context.node(), context.shape(0), starts, ends, axes, steps)) {
    dims.push_back(range.count);
  }
  return only(context.type(0), Shape(std::move(dims)));
}

std::vector<TypedShape> infer_gather(const OperatorContext& context) {
  require_class(context, 1, TypeClass::kIndex);
  const Shape &data = context.shape(0), &indices = context.shape(1);
  const int axis = checked_axis(context, context.node().int_or("axis", 0), data.rank());
  if (const Tensor* known = context.known(1); known != nullptr && known->size() <= 4096) {
    for (int64_t index : known->to_integers()) {
      if (index < -data[axis] || index >= data[axis]) {
        reject(context, fmt::format("index {} is outside axis {} of size {}", index, axis, data[axis]));
      }
    }
  }
  std::vector<int64_t> dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  return only(context.type(0), Shape(std::move(dims)));
}

std::vector<TypedShape> infer_one_hot(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  require_class(context, 1, TypeClass::kNumber);
  require_single_element(context, 1);
  require_vector(context, 2, 2);
  const Tensor* depth = context.known(1);
  if (depth == nullptr) {
    reject_unsupported(context, "the depth is not constant: the size of the output depends on the data",
                       "shapes must follow from the shapes of the graph inputs");
  }
  const int64_t size = depth->integer_at(0);
  if (size < 1) reject(context, fmt::format("a depth of {}", size));
  std::vector<int64_t> dims = context.shape(0).dims();
  const int rank = int(dims.size()) + 1;
  dims.insert(dims.begin() + checked_axis(context, context.node().int_or("axis", -1), rank), size);
  return only(context.type(2), Shape(std::move(dims)));
}

}  // namespace

void add_indexing_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt;
  table.push_back({"", "Concat", 1, kAnyNumber, 1, 1, {{"axis", kInt, true}}, infer_concat});
  table.push_back({"", "Split", 1, 2, 1, kAnyNumber, {{"axis", kInt}}, infer_split});
  table.push_back({"", "Slice", 3, 5, 1, 1, {}, infer_slice});
  table.push_back({"", "Gather", 2, 2, 1, 1, {{"axis", kInt}}, infer_gather});
  table.push_back({"", "OneHot", 3, 3, 1, 1, {{"axis", kInt}}, infer_one_hot});
}

}  // namespace tilewright
