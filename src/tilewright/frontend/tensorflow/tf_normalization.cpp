// Batch normalisation with stored statistics. The spelled-out forms (Rsqrt, Mul, Sub, Add) are ordinary
// arithmetic, which the graph passes fold.
#include <fmt/format.h>

#include "tilewright/frontend/tensorflow/tf_layout.h"

namespace tilewright {
namespace {

void emit_batch_norm(TfOperation& operation, const TfLayout& layout, const std::vector<ValueId>& parameters,
                     float epsilon) {
  const ValueId x = to_channels_first(operation, layout, operation.input(0));
  const int64_t channels = operation.value(x).shape[1];
  std::vector<ValueId> inputs = {x};
  for (const ValueId id : parameters) {
    const Shape& shape = operation.value(id).shape;
    if (shape != Shape{channels}) {
      invalid_node(
          fmt::format("a parameter of shape {} does not fit {} channels", to_string(shape), channels));
    }
    inputs.push_back(id);
  }
  const ValueId y = operation.emit("BatchNormalization", inputs, {{"epsilon", epsilon}});
  operation.output(0, from_channels_first(operation, layout, y));
}

// Inputs: data, scale, offset, mean, variance.
void convert_fused_batch_norm(TfOperation& operation) {
  const TfNode& node = operation.node();
  if (node.bool_or("is_training", true)) {
    unsupported("normalises by the batch that it sees (is_training)", "export the model for inference");
  }
  const std::vector<ValueId> parameters = {operation.input(1), operation.input(2), operation.input(3),
                                           operation.input(4)};
  emit_batch_norm(operation, TfLayout(node), parameters, node.float_or("epsilon", 1e-4f));
}

// Inputs: data, mean, variance, offset, scale. Channels last.
void convert_global_normalization(TfOperation& operation) {
  const TfNode& node = operation.node();
  ValueId scale = operation.input(4);
  if (!node.bool_or("scale_after_normalization", true)) {
    Tensor ones(operation.type(4), operation.shape(4));
    for (int64_t i = 0; i < ones.size(); ++i) ones.set_number(i, 1);
    scale = operation.constant("ones", std::move(ones));
  }
  const std::vector<ValueId> parameters = {scale, operation.input(3), operation.input(1), operation.input(2)};
  emit_batch_norm(operation, TfLayout(node), parameters, node.float_or("variance_epsilon", 1e-3f));
}

// Across channels; ONNX divides alpha by the window's size.
void convert_lrn(TfOperation& operation) {
  const TfNode& node = operation.node();
  const int64_t radius = node.int_or("depth_radius", 5);
  if (radius < 0 || radius > 4096) invalid_node("attribute 'depth_radius' is out of range");
  const TfLayout layout(node);
  const ValueId x = to_channels_first(operation, layout, operation.input(0));
  const int64_t size = 2 * radius + 1;
  const ValueId y = operation.emit("LRN", {x},
                                   {{"size", size},
                                    {"alpha", node.float_or("alpha", 1) * float(size)},
                                    {"beta", node.float_or("beta", 0.5f)},
                                    {"bias", node.float_or("bias", 1)}});
  operation.output(0, from_channels_first(operation, layout, y));
}

}  // namespace

std::vector<TfTableEntry> tf_normalization_converters() {
  return {{"FusedBatchNorm", convert_fused_batch_norm},
          {"FusedBatchNormV2", convert_fused_batch_norm},
          {"FusedBatchNormV3", convert_fused_batch_norm},
          {"BatchNormWithGlobalNormalization", convert_global_normalization},
          {"LRN", convert_lrn}};
}

}  // namespace tilewright
