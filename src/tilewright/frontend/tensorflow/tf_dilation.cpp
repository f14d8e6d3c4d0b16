// A dilated convolution as TensorFlow 1 wrote it: the image is padded and dealt out to block x block smaller
// ones (SpaceToBatchND), those are convolved without padding, and the results are put together and cropped
// (BatchToSpaceND). That is one convolution whose taps lie `block` pixels apart, padded by what is added less
// what is cropped.
#include <optional>

#include "tilewright/frontend/tensorflow/tf_inference.h"

namespace tilewright {
namespace {

// The numbers of a constant input; empty when it is none.
std::vector<int64_t> constant_of(const TfNetwork& network, const TfNode& node, size_t input) {
  if (input >= node.inputs.size()) return {};
  const TfNode& source = network.nodes[size_t(node.inputs[input].node)];
  return source.value && source.value->size() <= 4 ? source.value->to_integers() : std::vector<int64_t>{};
}

// `gather`, a BatchToSpaceND, as the convolution that it ends; nullopt when it does not end one.
std::optional<TfNode> dilated_convolution(const TfNetwork& network, const TfNode& gather) {
  if (gather.inputs.size() != 3) return {};
  const TfNode& conv = network.nodes[size_t(gather.inputs[0].node)];
  const bool is_conv = conv.is("Conv2D") || conv.is("DepthwiseConv2dNative");
  if (!is_conv || conv.inputs.size() != 2 || conv.string_or("padding", "") != "VALID") return {};
  if (conv.string_or("data_format", "NHWC") != "NHWC") return {};
  for (const char* list : {"strides", "dilations"}) {
    if (conv.ints_or(list, {1, 1, 1, 1}) != std::vector<int64_t>{1, 1, 1, 1}) return {};
  }
  const TfNode& scatter = network.nodes[size_t(conv.inputs[0].node)];
  if (!scatter.is("SpaceToBatchND") || scatter.inputs.size() != 3) return {};
  const std::vector<int64_t> block = constant_of(network, scatter, 1),
                             pads = constant_of(network, scatter, 2);
  const std::vector<int64_t> crops = constant_of(network, gather, 2);
  if (block.size() != 2 || pads.size() != 4 || crops.size() != 4) return {};
  if (constant_of(network, gather, 1) != block || block[0] < 1 || block[1] < 1) return {};
  std::vector<int64_t> padding = {0, 0, 0, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < 4; ++i) {
    padding[2 + i] = pads[i] - crops[i];
    if (padding[2 + i] < 0) return {};
  }
  TfNode result = conv;
  result.name = gather.name;
  result.inputs[0] = scatter.inputs[0];
  result.attributes["padding"] = std::string("EXPLICIT");
  result.attributes["explicit_paddings"] = padding;
  result.attributes["dilations"] = std::vector<int64_t>{1, block[0], block[1], 1};
  return result;
}

}  // namespace

void fold_dilations(TfNetwork& network) {
  for (TfNode& node : network.nodes) {
    if (!node.is("BatchToSpaceND")) continue;
    if (std::optional<TfNode> folded = dilated_convolution(network, node)) node = std::move(*folded);
  }
}

}  // namespace tilewright
