// Small steps that the opset converters share.
#pragma once

#include <optional>

#include "tilewright/frontend/onnx/opset/opset_converters.h"

namespace tilewright {

// Input `index`, with the list made long enough to assign it.
ValueId& input_slot(Node& node, size_t index);
// Drops absent inputs and outputs at the end of the lists.
void trim_absent(Node& node);

// Makes the outputs that are wanted copies of `values`, in order.
void define_all(Node& node, NodeConversion& conversion, const std::vector<ValueId>& values);

Tensor int64_list(const std::vector<int64_t>& values);

// Moves an attribute with a list of integers (or one integer) to input `index`. No attribute: nothing
// happens.
void ints_attribute_to_input(Node& node, NodeConversion& conversion, const std::string& attribute,
                             size_t index);
// Moves input `index`, which must be constant, to an attribute. Reports and returns false if it is not.
bool int_input_to_attribute(Node& node, NodeConversion& conversion, const std::string& attribute,
                            size_t index);

// `x` under another shape: a new constant, or a Reshape before the node.
ValueId reshaped(NodeConversion& conversion, ValueId x, const Shape& shape);

// Axes made non-negative; reports and returns nullopt if one is out of range or named twice.
std::optional<std::vector<int>> checked_axes(NodeConversion& conversion, const std::vector<int64_t>& axes,
                                             int rank);

// A scalar of the element type `type`.
Tensor scalar_of(ElementType type, double value);

// The converters of operators that change shapes (opset_shape_converters.cpp).
void convert_clip(Node& node, NodeConversion& conversion);
void convert_pad(Node& node, NodeConversion& conversion);
void convert_slice(Node& node, NodeConversion& conversion);
void convert_squeeze(Node& node, NodeConversion& conversion);
void convert_split(Node& node, NodeConversion& conversion);
void convert_top_k(Node& node, NodeConversion& conversion);
void convert_reduction(Node& node, NodeConversion& conversion);
void convert_reduce_sum(Node& node, NodeConversion& conversion);
// opset_resize_converters.cpp
void convert_upsample(Node& node, NodeConversion& conversion);
void convert_resize(Node& node, NodeConversion& conversion);
void convert_grid_sample(Node& node, NodeConversion& conversion);
void convert_roi_align(Node& node, NodeConversion& conversion);

// opset_rewrites.cpp
void rewrite_cast_like(Node& node, NodeConversion& conversion);
void rewrite_celu(Node& node, NodeConversion& conversion);
void rewrite_gelu(Node& node, NodeConversion& conversion);
void rewrite_group_normalization(Node& node, NodeConversion& conversion);
void rewrite_hardmax(Node& node, NodeConversion& conversion);
void rewrite_is_inf(Node& node, NodeConversion& conversion);
void rewrite_is_nan(Node& node, NodeConversion& conversion);
void rewrite_mean_variance_normalization(Node& node, NodeConversion& conversion);
void rewrite_mish(Node& node, NodeConversion& conversion);
void rewrite_reduce_log_sum(Node& node, NodeConversion& conversion);
void rewrite_shrink(Node& node, NodeConversion& conversion);

// In the file of that name: recurrent_, loss_, einsum_, signal_, index_converter(s).cpp.
void convert_recurrent(Node& node, NodeConversion& conversion);
void convert_likelihood_loss(Node& node, NodeConversion& conversion);
void convert_cross_entropy_loss(Node& node, NodeConversion& conversion);
void convert_einsum(Node& node, NodeConversion& conversion);
void convert_dft(Node& node, NodeConversion& conversion);
void convert_stft(Node& node, NodeConversion& conversion);
void convert_window(Node& node, NodeConversion& conversion);
void convert_mel_weight_matrix(Node& node, NodeConversion& conversion);
void convert_max_unpool(Node& node, NodeConversion& conversion);
void convert_reverse_sequence(Node& node, NodeConversion& conversion);
void convert_compress(Node& node, NodeConversion& conversion);
void convert_non_zero(Node& node, NodeConversion& conversion);
// legacy_converters.cpp
void convert_first_opsets(Node& node, NodeConversion& conversion);  // applies to every operator
void convert_image_scaler(Node& node, NodeConversion& conversion);
void convert_crop(Node& node, NodeConversion& conversion);
void convert_affine(Node& node, NodeConversion& conversion);
// attention_converters.cpp
void convert_attention(Node& node, NodeConversion& conversion);
void convert_rotary_embedding(Node& node, NodeConversion& conversion);
void convert_microsoft_rotary_embedding(Node& node, NodeConversion& conversion);
// quantiser_converters.cpp
void convert_quantize(Node& node, NodeConversion& conversion);
void convert_dequantize(Node& node, NodeConversion& conversion);
// norm_converters.cpp
void convert_rms_normalization(Node& node, NodeConversion& conversion);
void convert_skip_layer_normalization(Node& node, NodeConversion& conversion);
void convert_embed_layer_normalization(Node& node, NodeConversion& conversion);
// control_flow_converters.cpp, sequence_converters.cpp
void convert_if(Node& node, NodeConversion& conversion);
void convert_loop(Node& node, NodeConversion& conversion);
void convert_scan(Node& node, NodeConversion& conversion);
void convert_sequence_construct(Node& node, NodeConversion& conversion);
void convert_sequence_insert(Node& node, NodeConversion& conversion);
void convert_sequence_erase(Node& node, NodeConversion& conversion);
void convert_sequence_at(Node& node, NodeConversion& conversion);
void convert_sequence_length(Node& node, NodeConversion& conversion);
void convert_concat_from_sequence(Node& node, NodeConversion& conversion);
void convert_split_to_sequence(Node& node, NodeConversion& conversion);
void convert_sequence_map(Node& node, NodeConversion& conversion);

}  // namespace tilewright
