// The border tensors of the host's graphs are NCHW, the hardware's are row, column, channel.
#include "tilewright/flow/design/design_run.h"

#include <algorithm>

namespace tilewright {
namespace {

constexpr size_t kImagesAtOnce = 256;

}  // namespace

HostBorder::HostBorder(const pipeline::Network& network)
    : network_(network), before_(network.before), behind_(network.behind) {}

std::vector<int32_t> HostBorder::image(const std::vector<Tensor>& inputs) const {
  const Tensor border = before_.run(inputs)[0];
  const pipeline::TensorShape& shape = network_.tensors[size_t(network_.input)].shape;
  const int64_t pixels = shape.rows * shape.columns;
  std::vector<int32_t> image(size_t(shape.elements()));
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      image[size_t(p * shape.channels + c)] = int32_t(border.integer_at(c * pixels + p));
    }
  }
  return image;
}

std::vector<Tensor> HostBorder::outputs(const std::vector<int32_t>& result) const {
  const pipeline::TensorShape& shape = network_.tensors[size_t(network_.output)].shape;
  const int64_t pixels = shape.rows * shape.columns;
  const Value& value = network_.behind.value(network_.behind.inputs[0]);
  Tensor border(value.type, value.shape);
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      border.set_integer(c * pixels + p, result[size_t(p * shape.channels + c)]);
    }
  }
  return behind_.run({border});
}

DesignOutputs run_on_hardware(const pipeline::Network& network, const pipeline::Design& design,
                              pipeline::DesignPort& port, const std::vector<std::vector<Tensor>>& inputs) {
  const HostBorder host(network);
  DesignOutputs all;
  for (size_t first = 0; first < inputs.size(); first += kImagesAtOnce) {
    const size_t end = std::min(inputs.size(), first + kImagesAtOnce);
    std::vector<std::vector<int32_t>> images;
    for (size_t i = first; i < end; ++i) images.push_back(host.image(inputs[i]));
    pipeline::DesignRun run;
    try {
      run = pipeline::run_design(design, port, images);
    } catch (const Expired&) {
      if (all.outputs.empty()) throw;
      all.ending = Ending::kRequest;
      break;
    }
    for (const std::vector<int32_t>& result : run.outputs) all.outputs.push_back(host.outputs(result));
    all.cycles += run.cycles;
  }
  return all;
}

}  // namespace tilewright
