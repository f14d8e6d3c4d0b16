// The table of converters by operator, and those of old broadcasts, training flags, Softmax over a matrix
// view, casts, pools and quantisation. The others: opset_shape_converters.cpp, opset_resize_converters.cpp,
// and opset_rewrites.cpp for operators that opset 17 lacks.
#include "tilewright/frontend/onnx/opset/opset_converters.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {
namespace {

// Before opset 7, the second operand was broadcast only on request, its dimensions aligned at `axis`.
void convert_legacy_broadcast(Node& node, NodeConversion& conversion) {
  if (conversion.opset() >= 7) return;
  const bool broadcasts = node.int_or("broadcast", 0) != 0;
  const bool is_aligned = node.has("axis");
  const int64_t axis = node.int_or("axis", 0);
  node.attributes.erase("broadcast");
  node.attributes.erase("axis");
  if (!broadcasts || !is_aligned || !node.has_input(1)) return;
  const Shape a = conversion.shape(node.inputs[0]);
  Shape b = conversion.shape(node.inputs[1]);
  const int64_t start = axis < 0 ? axis + a.rank() : axis;
  const int64_t trailing = a.rank() - start - b.rank();
  if (start < 0 || start > a.rank() || trailing < 0) {
    return conversion.invalid(
        fmt::format("the old broadcast at axis {} does not fit {} and {}", axis, to_string(a), to_string(b)));
  }
  if (trailing == 0) return;
  std::vector<int64_t> dims = b.dims();
  dims.insert(dims.end(), size_t(trailing), 1);
  node.inputs[1] = reshaped(conversion, node.inputs[1], Shape(std::move(dims)));
}

// Opset 6: one slope per channel of axis 1, or one for all.
void convert_prelu(Node& node, NodeConversion& conversion) {
  if (conversion.opset() >= 7 || !node.has_input(1)) return;
  const Shape x = conversion.shape(node.inputs[0]);
  const Shape slope = conversion.shape(node.inputs[1]);
  if (slope.rank() != 1 || slope[0] == 1 || x.rank() <= 2) return;
  std::vector<int64_t> dims(size_t(x.rank() - 1), 1);
  dims[0] = slope[0];
  node.inputs[1] = reshaped(conversion, node.inputs[1], Shape(std::move(dims)));
}

bool has_more_outputs_than(const Node& node, size_t count) {
  return node.outputs.size() > count &&
         std::any_of(node.outputs.begin() + std::ptrdiff_t(count), node.outputs.end(),
                     [](ValueId id) { return id != kNoValue; });
}

void convert_batch_normalization(Node& node, NodeConversion& conversion) {
  const char* const kTraining = "is in training mode";
  const char* const kHint = "export the model for inference";
  const int opset = conversion.opset();
  if (opset < 7 && node.int_or("is_test", 0) == 0) return conversion.unsupported(kTraining, kHint);
  if (opset < 9 && node.int_or("spatial", 1) == 0) {
    return conversion.unsupported("has spatial = 0 (statistics per element instead of per channel)");
  }
  if (opset >= 14 && node.int_or("training_mode", 0) != 0) return conversion.unsupported(kTraining, kHint);
  if (has_more_outputs_than(node, 1)) return conversion.unsupported(kTraining, kHint);
  node.outputs.resize(1);
  for (const char* old : {"is_test", "spatial", "consumed_inputs"}) {
    if (opset < 9) node.attributes.erase(old);
  }
}

void convert_dropout(Node& node, NodeConversion& conversion) {
  const int opset = conversion.opset();
  if (opset < 7 && node.int_or("is_test", 0) == 0) {
    return conversion.unsupported("is in training mode", "export the model for inference");
  }
  if (opset < 10 && has_more_outputs_than(node, 1)) {
    return conversion.unsupported(fmt::format("the mask output of opset {} is used", opset));
  }
  if (opset >= 12) return;
  if (node.has("ratio")) {
    input_slot(node, 1) = conversion.constant("ratio", Tensor::scalar(node.float_or("ratio", 0.5f)));
  }
  node.attributes.erase("ratio");
  node.attributes.erase("is_test");
}

void convert_gemm(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 7) node.attributes.erase("broadcast");
  const Shape x = conversion.shape(node.inputs[0]);
  if (x.rank() > 2) {
    conversion.error(ErrorKind::kInvalidInput, fmt::format("its first factor is {}", to_string(x)),
                     "a Gemm takes matrices: MatMul and Add take more axes, or a Reshape before it fewer");
  }
}

// Before opset 13 the input counts as a matrix, [axes before `axis`] x [axes from it on], and each of its
// rows is normalised as a whole. With one axis larger than 1 in the row that is the softmax along this axis.
void convert_softmax(Node& node, NodeConversion& conversion) {
  if (conversion.opset() >= 13) return;
  const Shape shape = conversion.shape(node.inputs[0]);
  const int64_t axis_attribute = node.int_or("axis", 1);
  const int rank = shape.rank();
  if (axis_attribute < -rank || axis_attribute > rank) {
    return conversion.invalid(
        fmt::format("axis {} is out of range for {}", axis_attribute, to_string(shape)));
  }
  const int axis = int(axis_attribute < 0 ? axis_attribute + rank : axis_attribute);
  std::vector<int> large_axes;
  for (int i = axis; i < rank; ++i) {
    if (shape[i] != 1) large_axes.push_back(i);
  }
  if (large_axes.size() <= 1 && axis < rank) {
    node.attributes["axis"] = int64_t(large_axes.empty() ? axis : large_axes[0]);
    return;
  }
  const ValueId matrix = conversion.emit("Flatten", {node.inputs[0]}, {{"axis", int64_t(axis)}});
  if (matrix == kNoValue) return;
  const ValueId rows = conversion.emit(node.op, {matrix}, {{"axis", int64_t{1}}});
  if (rows == kNoValue) return;
  node.op = "Reshape";
  node.attributes.clear();
  node.inputs = {rows, conversion.constant("shape", int64_list(shape.dims()))};
}

void convert_cast(Node& node, NodeConversion& conversion) {
  node.attributes.erase("saturate");  // concerns float8 alone
  const int64_t to = node.int_or("to", 0);
  if (to < 0 || to > INT32_MAX || !element_type_from_onnx(int(to))) {
    conversion.unsupported(fmt::format("casts to {}", onnx_type_name(to < 0 || to > 1000 ? -1 : int(to))));
  }
}

void convert_average_pool(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 19 || !node.has("dilations")) return;
  const std::vector<int64_t> dilations = node.ints_or("dilations", {});
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; })) {
    return conversion.unsupported("has dilations");
  }
  node.attributes.erase("dilations");
}

void convert_lp_pool(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 18) return;
  const std::vector<int64_t> dilations = node.ints_or("dilations", {});
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; })) {
    return conversion.unsupported("has dilations");
  }
  if (node.int_or("ceil_mode", 0) != 0) return conversion.unsupported("has ceil_mode");
  node.attributes.erase("dilations");
  node.attributes.erase("ceil_mode");
}

void convert_scatter(Node& node, NodeConversion&) { node.op = "ScatterElements"; }

void convert_log_sum(Node& node, NodeConversion& conversion) {
  convert_reduction(node, conversion);
  const bool is_reduced = node.op == "ReduceLogSum" || node.op == "ReduceLogSumExp";
  if (is_reduced && !conversion.failed()) rewrite_reduce_log_sum(node, conversion);
}

// Before opset 13, Hardmax coerces to a matrix as softmax does.
void convert_hardmax(Node& node, NodeConversion& conversion) {
  if (conversion.opset() >= 13) return rewrite_hardmax(node, conversion);
  const Shape shape = conversion.shape(node.inputs[0]);
  const int axis = normalize_axis(node.int_or("axis", 1), shape.rank());
  if (shape.count(axis, shape.rank()) == shape[axis]) {
    node.attributes["axis"] = int64_t(axis);
    return rewrite_hardmax(node, conversion);
  }
  conversion.unsupported(
      fmt::format("normalises several axes at once ({} from axis {} on)", to_string(shape), axis));
}

using Converter = void (*)(Node&, NodeConversion&);

const std::map<std::string, Converter> kConverters = {
    {"Add", convert_legacy_broadcast},
    {"Affine", convert_affine},
    {"And", convert_legacy_broadcast},
    {"Attention", convert_attention},
    {"AveragePool", convert_average_pool},
    {"BatchNormalization", convert_batch_normalization},
    {"BlackmanWindow", convert_window},
    {"Cast", convert_cast},
    {"CastLike", rewrite_cast_like},
    {"Celu", rewrite_celu},
    {"Clip", convert_clip},
    {"Compress", convert_compress},
    {"ConcatFromSequence", convert_concat_from_sequence},
    {"Crop", convert_crop},
    {"DFT", convert_dft},
    {"DequantizeLinear", convert_dequantize},
    {"Div", convert_legacy_broadcast},
    {"Dropout", convert_dropout},
    {"Einsum", convert_einsum},
    {"Equal", convert_legacy_broadcast},
    {"GRU", convert_recurrent},
    {"Gelu", rewrite_gelu},
    {"Gemm", convert_gemm},
    {"Greater", convert_legacy_broadcast},
    {"GridSample", convert_grid_sample},
    {"GroupNormalization", rewrite_group_normalization},
    {"HammingWindow", convert_window},
    {"HannWindow", convert_window},
    {"Hardmax", convert_hardmax},
    {"If", convert_if},
    {"ImageScaler", convert_image_scaler},
    {"IsInf", rewrite_is_inf},
    {"IsNaN", rewrite_is_nan},
    {"LSTM", convert_recurrent},
    {"Less", convert_legacy_broadcast},
    {"LogSoftmax", convert_softmax},
    {"Loop", convert_loop},
    {"LpPool", convert_lp_pool},
    {"MaxUnpool", convert_max_unpool},
    {"MeanVarianceNormalization", rewrite_mean_variance_normalization},
    {"MelWeightMatrix", convert_mel_weight_matrix},
    {"Mish", rewrite_mish},
    {"Mul", convert_legacy_broadcast},
    {"NegativeLogLikelihoodLoss", convert_likelihood_loss},
    {"NonZero", convert_non_zero},
    {"Or", convert_legacy_broadcast},
    {"PRelu", convert_prelu},
    {"Pad", convert_pad},
    {"Pow", convert_legacy_broadcast},
    {"QuantizeLinear", convert_quantize},
    {"RMSNormalization", convert_rms_normalization},
    {"RNN", convert_recurrent},
    {"ReduceL1", convert_reduction},
    {"ReduceL2", convert_reduction},
    {"ReduceLogSum", convert_log_sum},
    {"ReduceLogSumExp", convert_log_sum},
    {"ReduceMax", convert_reduction},
    {"ReduceMean", convert_reduction},
    {"ReduceMin", convert_reduction},
    {"ReduceProd", convert_reduction},
    {"ReduceSum", convert_reduce_sum},
    {"ReduceSumSquare", convert_reduction},
    {"Resize", convert_resize},
    {"ReverseSequence", convert_reverse_sequence},
    {"RoiAlign", convert_roi_align},
    {"RotaryEmbedding", convert_rotary_embedding},
    {"STFT", convert_stft},
    {"ScaledTanh", convert_affine},
    {"Scan", convert_scan},
    {"Scatter", convert_scatter},
    {"SequenceAt", convert_sequence_at},
    {"SequenceConstruct", convert_sequence_construct},
    {"SequenceEmpty", convert_sequence_construct},
    {"SequenceErase", convert_sequence_erase},
    {"SequenceInsert", convert_sequence_insert},
    {"SequenceLength", convert_sequence_length},
    {"SequenceMap", convert_sequence_map},
    {"Shrink", rewrite_shrink},
    {"SimplifiedLayerNormalization", convert_rms_normalization},  // of ONNX Runtime, without a domain
    {"Slice", convert_slice},
    {"Softmax", convert_softmax},
    {"SoftmaxCrossEntropyLoss", convert_cross_entropy_loss},
    {"Split", convert_split},
    {"SplitToSequence", convert_split_to_sequence},
    {"Squeeze", convert_squeeze},
    {"Sub", convert_legacy_broadcast},
    {"TopK", convert_top_k},
    {"Unsqueeze", convert_squeeze},
    {"Upsample", convert_upsample},
    {"Xor", convert_legacy_broadcast},
};

}  // namespace

bool is_rewritten_operator(const std::string& op) {
  static const std::set<std::string> rewritten = {
      "Affine",
      "Attention",
      "BlackmanWindow",
      "CastLike",
      "Celu",
      "Compress",
      "ConcatFromSequence",
      "Crop",
      "DFT",
      "Einsum",
      "GRU",
      "Gelu",
      "GroupNormalization",
      "HammingWindow",
      "HannWindow",
      "Hardmax",
      "If",
      "ImageScaler",
      "IsInf",
      "IsNaN",
      "LSTM",
      "Loop",
      "MaxUnpool",
      "MeanVarianceNormalization",
      "MelWeightMatrix",
      "Mish",
      "NegativeLogLikelihoodLoss",
      "NonZero",
      "RMSNormalization",
      "RNN",
      "ReduceLogSum",
      "ReduceLogSumExp",
      "ReverseSequence",
      "RotaryEmbedding",
      "STFT",
      "ScaledTanh",
      "Scan",
      "Scatter",
      "SequenceAt",
      "SequenceConstruct",
      "SequenceEmpty",
      "SequenceErase",
      "SequenceInsert",
      "SequenceLength",
      "SequenceMap",
      "Shrink",
      "SimplifiedLayerNormalization",
      "SoftmaxCrossEntropyLoss",
      "SplitToSequence",
      "Upsample",
  };
  return rewritten.count(op) != 0;
}

void convert_to_opset_17(Node& node, NodeConversion& conversion) {
  convert_first_opsets(node, conversion);
  if (conversion.failed()) return;
  const auto found = kConverters.find(node.op);
  if (found == kConverters.end()) return;
  const bool starts_empty = node.op == "Loop" || node.op == "Scan" || node.op == "SequenceEmpty";
  if (!node.has_input(0) && !starts_empty) return conversion.invalid("has no input");
  try {
    found->second(node, conversion);
  } catch (const Error& error) {  // attributes of the wrong type, shapes that do not fit
    conversion.error(error.kind(),
                     error.diagnostics().empty() ? error.what() : error.diagnostics()[0].message);
  }
  trim_absent(node);
}

}  // namespace tilewright
