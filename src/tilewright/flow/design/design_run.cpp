// The border tensors of the host's graphs are NCHW, the hardware's are row, column, channel.
#include "tilewright/flow/design/design_run.h"

#include <algorithm>

#include "tilewright/pipeline/network/borders.h"

namespace tilewright {

HostBorder::HostBorder(const pipeline::Network& network)
    : network_(network), before_(network.before), behind_(network.behind) {}

std::vector<int32_t> HostBorder::image(const std::vector<Tensor>& inputs) const {
  return pipeline::border_image(network_, before_.run(inputs));
}

std::vector<Tensor> HostBorder::outputs(const std::vector<int32_t>& result,
                                        const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> borders = pipeline::border_results(network_, result);
  // Of the model's own inputs those that the host needs again.
  const Graph &before = network_.before, &behind = network_.behind;
  for (size_t i = borders.size(); i < behind.inputs.size(); ++i) {
    const std::string& name = behind.value(behind.inputs[i]).name;
    for (size_t j = 0; j < before.inputs.size() && j < inputs.size(); ++j) {
      if (before.value(before.inputs[j]).name == name) borders.push_back(inputs[j]);
    }
  }
  return behind_.run(std::move(borders));
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
    for (size_t i = 0; i < run.outputs.size(); ++i) {
      all.outputs.push_back(host.outputs(run.outputs[i], inputs[first + i]));
    }
    all.cycles += run.cycles;
  }
  return all;
}

}  // namespace tilewright
