// One reader per options table of the format. A table is only looked at under the operators it belongs to, so
// that a damaged file cannot make one operator read the fields of another.
#include "tilewright/frontend/tflite/tflite_options.h"

namespace tilewright {
namespace {

namespace schema = tflite_schema;
using Op = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;

Options options_of(Op code) {
  switch (code) {
    case Op::BuiltinOperator_CONV_2D:
      return Options::BuiltinOptions_Conv2DOptions;
    case Op::BuiltinOperator_DEPTHWISE_CONV_2D:
      return Options::BuiltinOptions_DepthwiseConv2DOptions;
    case Op::BuiltinOperator_TRANSPOSE_CONV:
      return Options::BuiltinOptions_TransposeConvOptions;
    case Op::BuiltinOperator_AVERAGE_POOL_2D:
    case Op::BuiltinOperator_MAX_POOL_2D:
      return Options::BuiltinOptions_Pool2DOptions;
    case Op::BuiltinOperator_FULLY_CONNECTED:
      return Options::BuiltinOptions_FullyConnectedOptions;
    case Op::BuiltinOperator_SOFTMAX:
      return Options::BuiltinOptions_SoftmaxOptions;
    case Op::BuiltinOperator_CONCATENATION:
      return Options::BuiltinOptions_ConcatenationOptions;
    case Op::BuiltinOperator_ADD:
      return Options::BuiltinOptions_AddOptions;
    case Op::BuiltinOperator_SUB:
      return Options::BuiltinOptions_SubOptions;
    case Op::BuiltinOperator_MUL:
      return Options::BuiltinOptions_MulOptions;
    case Op::BuiltinOperator_DIV:
      return Options::BuiltinOptions_DivOptions;
    case Op::BuiltinOperator_RESIZE_BILINEAR:
      return Options::BuiltinOptions_ResizeBilinearOptions;
    case Op::BuiltinOperator_RESIZE_NEAREST_NEIGHBOR:
      return Options::BuiltinOptions_ResizeNearestNeighborOptions;
    case Op::BuiltinOperator_RESHAPE:
      return Options::BuiltinOptions_ReshapeOptions;
    case Op::BuiltinOperator_SPACE_TO_DEPTH:
      return Options::BuiltinOptions_SpaceToDepthOptions;
    case Op::BuiltinOperator_DEPTH_TO_SPACE:
      return Options::BuiltinOptions_DepthToSpaceOptions;
    case Op::BuiltinOperator_GATHER:
      return Options::BuiltinOptions_GatherOptions;
    case Op::BuiltinOperator_MEAN:
    case Op::BuiltinOperator_SUM:
    case Op::BuiltinOperator_REDUCE_MAX:
    case Op::BuiltinOperator_REDUCE_MIN:
    case Op::BuiltinOperator_REDUCE_PROD:
      return Options::BuiltinOptions_ReducerOptions;
    case Op::BuiltinOperator_SQUEEZE:
      return Options::BuiltinOptions_SqueezeOptions;
    case Op::BuiltinOperator_STRIDED_SLICE:
      return Options::BuiltinOptions_StridedSliceOptions;
    case Op::BuiltinOperator_SPLIT:
      return Options::BuiltinOptions_SplitOptions;
    case Op::BuiltinOperator_SPLIT_V:
      return Options::BuiltinOptions_SplitVOptions;
    case Op::BuiltinOperator_PACK:
      return Options::BuiltinOptions_PackOptions;
    case Op::BuiltinOperator_UNPACK:
      return Options::BuiltinOptions_UnpackOptions;
    case Op::BuiltinOperator_LEAKY_RELU:
      return Options::BuiltinOptions_LeakyReluOptions;
    case Op::BuiltinOperator_SVDF:
      return Options::BuiltinOptions_SVDFOptions;
    case Op::BuiltinOperator_RNN:
      return Options::BuiltinOptions_RNNOptions;
    case Op::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_RNN:
      return Options::BuiltinOptions_SequenceRNNOptions;
    case Op::BuiltinOperator_LSTM:
      return Options::BuiltinOptions_LSTMOptions;
    case Op::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM:
      return Options::BuiltinOptions_UnidirectionalSequenceLSTMOptions;
    case Op::BuiltinOperator_BATCH_MATMUL:
      return Options::BuiltinOptions_BatchMatMulOptions;
    case Op::BuiltinOperator_CUMSUM:
      return Options::BuiltinOptions_CumsumOptions;
    case Op::BuiltinOperator_ONE_HOT:
      return Options::BuiltinOptions_OneHotOptions;
    case Op::BuiltinOperator_MIRROR_PAD:
      return Options::BuiltinOptions_MirrorPadOptions;
    default:
      return Options::BuiltinOptions_NONE;
  }
}

TfliteActivation activation_of(schema::ActivationFunctionType type) {
  const int number = int(type);
  return number >= 0 && number <= int(TfliteActivation::kSignBit) ? TfliteActivation(number)
                                                                  : TfliteActivation::kUnknown;
}

template <typename Table>
void read_window(const Table& table, TfliteOperatorOptions& options) {
  options.is_same_padding = table.padding() == schema::Padding_SAME;
  options.stride_h = table.stride_h();
  options.stride_w = table.stride_w();
  options.activation = activation_of(table.fused_activation_function());
}

template <typename Table>
void read_dilation(const Table& table, TfliteOperatorOptions& options) {
  options.dilation_h = table.dilation_h_factor();
  options.dilation_w = table.dilation_w_factor();
}

void read_dims(const flatbuffers::Vector<int32_t>* dims, TfliteOperatorOptions& options) {
  options.has_dims = dims != nullptr;
  if (dims != nullptr) options.dims.assign(dims->begin(), dims->end());
}

// Operators that compute on windows and matrices.
void read_layer(const schema::Operator& op, TfliteOperatorOptions& options) {
  if (const auto* conv = op.builtin_options_as_Conv2DOptions()) {
    read_window(*conv, options);
    read_dilation(*conv, options);
  } else if (const auto* depthwise = op.builtin_options_as_DepthwiseConv2DOptions()) {
    read_window(*depthwise, options);
    read_dilation(*depthwise, options);
  } else if (const auto* transposed = op.builtin_options_as_TransposeConvOptions()) {
    read_window(*transposed, options);
  } else if (const auto* pool = op.builtin_options_as_Pool2DOptions()) {
    read_window(*pool, options);
    options.filter_h = pool->filter_height();
    options.filter_w = pool->filter_width();
  } else if (const auto* dense = op.builtin_options_as_FullyConnectedOptions()) {
    options.activation = activation_of(dense->fused_activation_function());
    options.has_shuffled_weights = dense->weights_format() != 0;
    options.keeps_dimensions = dense->keep_num_dims();
  } else if (const auto* add = op.builtin_options_as_AddOptions()) {
    options.activation = activation_of(add->fused_activation_function());
  } else if (const auto* sub = op.builtin_options_as_SubOptions()) {
    options.activation = activation_of(sub->fused_activation_function());
  } else if (const auto* mul = op.builtin_options_as_MulOptions()) {
    options.activation = activation_of(mul->fused_activation_function());
  } else if (const auto* div = op.builtin_options_as_DivOptions()) {
    options.activation = activation_of(div->fused_activation_function());
  } else if (const auto* softmax = op.builtin_options_as_SoftmaxOptions()) {
    options.beta = softmax->beta();
  } else if (const auto* leaky = op.builtin_options_as_LeakyReluOptions()) {
    options.alpha = leaky->alpha();
  } else if (const auto* reducer = op.builtin_options_as_ReducerOptions()) {
    options.keeps_dimensions = reducer->keep_dims();
  }
}

// Operators that move data.
void read_movement(const schema::Operator& op, TfliteOperatorOptions& options) {
  if (const auto* join = op.builtin_options_as_ConcatenationOptions()) {
    options.axis = join->axis();
    options.activation = activation_of(join->fused_activation_function());
  } else if (const auto* bilinear = op.builtin_options_as_ResizeBilinearOptions()) {
    options.align_corners = bilinear->align_corners();
    options.half_pixel_centers = bilinear->half_pixel_centers();
  } else if (const auto* nearest = op.builtin_options_as_ResizeNearestNeighborOptions()) {
    options.align_corners = nearest->align_corners();
    options.half_pixel_centers = nearest->half_pixel_centers();
  } else if (const auto* reshape = op.builtin_options_as_ReshapeOptions()) {
    read_dims(reshape->new_shape(), options);
  } else if (const auto* squeeze = op.builtin_options_as_SqueezeOptions()) {
    read_dims(squeeze->squeeze_dims(), options);
  } else if (const auto* to_depth = op.builtin_options_as_SpaceToDepthOptions()) {
    options.block_size = to_depth->block_size();
  } else if (const auto* to_space = op.builtin_options_as_DepthToSpaceOptions()) {
    options.block_size = to_space->block_size();
  } else if (const auto* gather = op.builtin_options_as_GatherOptions()) {
    options.axis = gather->axis();
    options.batch_dims = gather->batch_dims();
  } else if (const auto* slice = op.builtin_options_as_StridedSliceOptions()) {
    options.begin_mask = slice->begin_mask();
    options.end_mask = slice->end_mask();
    options.ellipsis_mask = slice->ellipsis_mask();
    options.new_axis_mask = slice->new_axis_mask();
    options.shrink_axis_mask = slice->shrink_axis_mask();
    options.is_offset = slice->offset();
  } else if (const auto* split = op.builtin_options_as_SplitOptions()) {
    options.count = split->num_splits();
  } else if (const auto* uneven = op.builtin_options_as_SplitVOptions()) {
    options.count = uneven->num_splits();
  } else if (const auto* pack = op.builtin_options_as_PackOptions()) {
    options.count = pack->values_count();
    options.axis = pack->axis();
  } else if (const auto* unpack = op.builtin_options_as_UnpackOptions()) {
    options.count = unpack->num();
    options.axis = unpack->axis();
  } else if (const auto* mirror = op.builtin_options_as_MirrorPadOptions()) {
    options.is_symmetric = mirror->mode() == schema::MirrorPadMode_SYMMETRIC;
  }
}

void read_recurrent(const schema::Operator& op, TfliteOperatorOptions& options) {
  if (const auto* svdf = op.builtin_options_as_SVDFOptions()) {
    options.count = svdf->rank();
    options.activation = activation_of(svdf->fused_activation_function());
  } else if (const auto* rnn = op.builtin_options_as_RNNOptions()) {
    options.activation = activation_of(rnn->fused_activation_function());
  } else if (const auto* sequence = op.builtin_options_as_SequenceRNNOptions()) {
    options.is_time_major = sequence->time_major();
    options.activation = activation_of(sequence->fused_activation_function());
  } else if (const auto* lstm = op.builtin_options_as_LSTMOptions()) {
    options.activation = activation_of(lstm->fused_activation_function());
    options.cell_clip = lstm->cell_clip();
    options.projection_clip = lstm->proj_clip();
    options.is_basic = lstm->kernel_type() != 0;
  } else if (const auto* steps = op.builtin_options_as_UnidirectionalSequenceLSTMOptions()) {
    options.activation = activation_of(steps->fused_activation_function());
    options.cell_clip = steps->cell_clip();
    options.projection_clip = steps->proj_clip();
    options.is_time_major = steps->time_major();
  } else if (const auto* product = op.builtin_options_as_BatchMatMulOptions()) {
    options.transposes_a = product->adj_x();
    options.transposes_b = product->adj_y();
  } else if (const auto* sums = op.builtin_options_as_CumsumOptions()) {
    options.is_exclusive = sums->exclusive();
    options.is_reverse = sums->reverse();
  } else if (const auto* one_hot = op.builtin_options_as_OneHotOptions()) {
    options.axis = one_hot->axis();
  }
}

}  // namespace

TfliteOperatorOptions tflite_operator_options(schema::BuiltinOperator code, const schema::Operator& op) {
  TfliteOperatorOptions options;
  const Options expected = options_of(code);
  if (expected == Options::BuiltinOptions_NONE || op.builtin_options_type() != expected ||
      op.builtin_options() == nullptr) {
    return options;
  }
  options.present = true;
  read_layer(op, options);
  read_movement(op, options);
  read_recurrent(op, options);
  return options;
}

}  // namespace tilewright
