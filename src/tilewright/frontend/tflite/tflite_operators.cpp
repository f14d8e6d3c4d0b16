// The table of covered operators.
#include "tilewright/frontend/tflite/tflite_operators.h"

#include <map>
#include <string_view>

namespace tilewright {
namespace {

const std::map<std::string_view, TfliteLower>& table() {
  static const std::map<std::string_view, TfliteLower> operators = {
      {"ABS", lower_unary},
      {"ADD", lower_binary},
      {"ARG_MAX", lower_arg},
      {"ARG_MIN", lower_arg},
      {"AVERAGE_POOL_2D", lower_pool},
      {"CAST", lower_cast},
      {"CEIL", lower_unary},
      {"CONCATENATION", lower_concatenation},
      {"CONV_2D", lower_conv_2d},
      {"COS", lower_unary},
      {"DEPTHWISE_CONV_2D", lower_depthwise_conv_2d},
      {"DEPTH_TO_SPACE", lower_depth_space},
      {"DEQUANTIZE", lower_dequantize},
      {"DIV", lower_binary},
      {"ELU", lower_unary},
      {"EXP", lower_unary},
      {"EXPAND_DIMS", lower_expand_dims},
      {"FLOOR", lower_unary},
      {"FULLY_CONNECTED", lower_fully_connected},
      {"GATHER", lower_gather},
      {"HARD_SWISH", lower_unary},
      {"LEAKY_RELU", lower_leaky_relu},
      {"LOG", lower_unary},
      {"LOGISTIC", lower_unary},
      {"LOG_SOFTMAX", lower_softmax},
      {"MAXIMUM", lower_binary},
      {"MAX_POOL_2D", lower_pool},
      {"MEAN", lower_reduction},
      {"MINIMUM", lower_binary},
      {"MIRROR_PAD", lower_pad},
      {"MUL", lower_binary},
      {"NEG", lower_unary},
      {"PACK", lower_pack},
      {"PAD", lower_pad},
      {"PADV2", lower_pad},
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
      {"ROUND", lower_unary},
      {"RSQRT", lower_composed_unary},
      {"SHAPE", lower_shape},
      {"SIN", lower_unary},
      {"SLICE", lower_slice},
      {"SOFTMAX", lower_softmax},
      {"SPACE_TO_DEPTH", lower_depth_space},
      {"SPLIT", lower_split},
      {"SPLIT_V", lower_split},
      {"SQRT", lower_unary},
      {"SQUARE", lower_composed_unary},
      {"SQUEEZE", lower_squeeze},
      {"STRIDED_SLICE", lower_strided_slice},
      {"SUB", lower_binary},
      {"SUM", lower_reduction},
      {"TANH", lower_unary},
      {"TRANSPOSE", lower_transpose},
      {"TRANSPOSE_CONV", lower_transpose_conv},
      {"UNPACK", lower_unpack},
  };
  return operators;
}

}  // namespace

TfliteLower find_tflite_lowering(const std::string& op) {
  const auto found = table().find(op);
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::string> covered_tflite_operators() {
  std::vector<std::string> names;
  for (const auto& [name, lower] : table()) names.emplace_back(name);
  return names;
}

}  // namespace tilewright
