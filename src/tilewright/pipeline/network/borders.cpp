// Several inputs, or outputs, are parts of one tensor.
#include "tilewright/pipeline/network/borders.h"

#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {
namespace {

// Calls visit(element of the host's tensor, element of the network's whole one).
template <typename Visit>
void each_element(const Network& network, int tensor, Visit&& visit) {
  const TensorPart place = place_in_whole(network, tensor);
  const TensorShape &shape = network.tensors[size_t(tensor)].shape,
                    &whole = network.tensors[size_t(place.whole)].shape;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t p = 0; p < shape.rows * shape.columns; ++p) {
      const int64_t y = place.row + p / shape.columns, x = place.column + p % shape.columns;
      visit(c * shape.rows * shape.columns + p, (y * whole.columns + x) * whole.channels + place.channel + c);
    }
  }
}

}  // namespace

std::vector<int32_t> border_image(const Network& network, const std::vector<Tensor>& borders) {
  std::vector<int32_t> image(size_t(network.tensors[size_t(network.input)].shape.elements()));
  const std::vector<int> tensors = network.input_tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    each_element(network, tensors[i], [&](int64_t from, int64_t to) {
      image[size_t(to)] = int32_t(borders[i].integer_at(from));
    });
  }
  return image;
}

std::vector<Tensor> border_results(const Network& network, const std::vector<int32_t>& result) {
  std::vector<Tensor> borders;
  const std::vector<int> tensors = network.output_tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Value& value = network.behind.value(network.behind.inputs[i]);
    Tensor& border = borders.emplace_back(value.type, value.shape);
    each_element(network, tensors[i],
                 [&](int64_t to, int64_t from) { border.set_integer(to, result[size_t(from)]); });
  }
  return borders;
}

}  // namespace tilewright::pipeline
