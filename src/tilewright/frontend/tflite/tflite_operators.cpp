// The table of covered operators.
#include "tilewright/frontend/tflite/tflite_operators.h"

#include <map>
#include <string_view>

namespace tilewright {
namespace {

const std::map<std::string_view, TfliteLower> kOperators = {
    {"ABS", lower_unary},
    {"ADD", lower_binary},
    {"ADD_N", lower_add_n},
    {"ARG_MAX", lower_arg},
    {"ARG_MIN", lower_arg},
    {"AVERAGE_POOL_2D", lower_pool},
    {"BATCH_MATMUL", lower_batch_matmul},
    {"BATCH_TO_SPACE_ND", lower_batch_to_space},
    {"CAST", lower_cast},
    {"CEIL", lower_unary},
    {"CONCATENATION", lower_concatenation},
    {"CONV_2D", lower_conv_2d},
    {"COS", lower_unary},
    {"CUMSUM", lower_cumsum},
    {"DEPTHWISE_CONV_2D", lower_depthwise_conv_2d},
    {"DEPTH_TO_SPACE", lower_depth_space},
    {"DEQUANTIZE", lower_dequantize},
    {"DIV", lower_binary},
    {"ELU", lower_unary},
    {"EQUAL", lower_comparison},
    {"EXP", lower_unary},
    {"EXPAND_DIMS", lower_expand_dims},
    {"FLOOR", lower_unary},
    {"FLOOR_DIV", lower_floor_division},
    {"FLOOR_MOD", lower_floor_division},
    {"FULLY_CONNECTED", lower_fully_connected},
    {"GATHER", lower_gather},
    {"GATHER_ND", lower_gather_nd},
    {"GREATER", lower_comparison},
    {"GREATER_EQUAL", lower_comparison},
    {"HARD_SWISH", lower_unary},
    {"LEAKY_RELU", lower_leaky_relu},
    {"LESS", lower_comparison},
    {"LESS_EQUAL", lower_comparison},
    {"LOG", lower_unary},
    {"LOGICAL_AND", lower_comparison},
    {"LOGICAL_NOT", lower_unary},
    {"LOGICAL_OR", lower_comparison},
    {"LOGISTIC", lower_unary},
    {"LOG_SOFTMAX", lower_softmax},
    {"LSTM", lower_lstm},
    {"MAXIMUM", lower_binary},
    {"MAX_POOL_2D", lower_pool},
    {"MEAN", lower_reduction},
    {"MINIMUM", lower_binary},
    {"MIRROR_PAD", lower_pad},
    {"MUL", lower_binary},
    {"NEG", lower_unary},
    {"NOT_EQUAL", lower_comparison},
    {"ONE_HOT", lower_one_hot},
    {"PACK", lower_pack},
    {"PAD", lower_pad},
    {"PADV2", lower_pad},
    {"POW", lower_comparison},
    {"PRELU", lower_prelu},
    {"QUANTIZE", lower_quantize},
    {"REDUCE_MAX", lower_reduction},
    {"REDUCE_MIN", lower_reduction},
    {"REDUCE_PROD", lower_reduction},
    {"RELU", lower_activation},
    {"RELU6", lower_activation},
    {"RELU_N1_TO_1", lower_activation},
    {"RESHAPE", lower_reshape},
    {"RESIZE_BILINEAR", lower_resize},
    {"RESIZE_NEAREST_NEIGHBOR", lower_resize},
    {"REVERSE_V2", lower_reverse},
    {"RNN", lower_rnn},
    {"ROUND", lower_unary},
    {"RSQRT", lower_composed_unary},
    {"SELECT", lower_select},
    {"SELECT_V2", lower_select},
    {"SHAPE", lower_shape},
    {"SIGN", lower_unary},
    {"SIN", lower_unary},
    {"SLICE", lower_slice},
    {"SOFTMAX", lower_softmax},
    {"SPACE_TO_BATCH_ND", lower_space_to_batch},
    {"SPACE_TO_DEPTH", lower_depth_space},
    {"SPLIT", lower_split},
    {"SPLIT_V", lower_split},
    {"SQRT", lower_unary},
    {"SQUARE", lower_composed_unary},
    {"SQUARED_DIFFERENCE", lower_squared_difference},
    {"SQUEEZE", lower_squeeze},
    {"STRIDED_SLICE", lower_strided_slice},
    {"SUB", lower_binary},
    {"SUM", lower_reduction},
    {"SVDF", lower_svdf},
    {"TANH", lower_unary},
    {"TILE", lower_tile},
    {"TOPK_V2", lower_top_k},
    {"TRANSPOSE", lower_transpose},
    {"TRANSPOSE_CONV", lower_transpose_conv},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", lower_lstm},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", lower_rnn},
    {"UNPACK", lower_unpack},
};

}  // namespace

TfliteLower find_tflite_lowering(const std::string& op) {
  const auto found = kOperators.find(op);
  return found == kOperators.end() ? nullptr : found->second;
}

bool takes_tflite_variables(const std::string& op) {
  const TfliteLower lower = find_tflite_lowering(op);
  return lower == lower_lstm || lower == lower_rnn || lower == lower_svdf;
}

std::vector<std::string> covered_tflite_operators() {
  std::vector<std::string> names;
  for (const auto& [name, lower] : kOperators) names.emplace_back(name);
  return names;
}

}  // namespace tilewright
