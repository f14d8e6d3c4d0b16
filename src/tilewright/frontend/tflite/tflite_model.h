// The content of a TFLite file as plain structures, checked: every index is valid, every constant has as many
// bytes as its shape and type ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// As stored: not yet checked against the shape of the tensor, since not every operator uses it.
struct TfliteQuantization {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // as many as scales, one, or none (zeros)
  int64_t axis = 0;
};

struct TfliteTensor {
  std::string name;                                // never empty
  std::optional<ElementType> type;                 // nullopt for what a Graph cannot hold
  std::string type_name;                           // "INT8", "type number 99"
  Shape shape;                                     // dynamic sizes as the file proposes them
  std::vector<bool> is_dynamic;                    // by axis
  std::optional<TfliteQuantization> quantization;  // present when there is a scale
  std::optional<Tensor> constant;
  bool is_variable = false;  // keeps its value from run to run; begins with zeros
  std::string problem;       // why the tensor cannot be used ("is sparse"); empty: it can
};

enum class TfliteActivation { kNone, kRelu, kReluN1To1, kRelu6, kTanh, kSignBit, kUnknown };

// The options of all covered operators in one structure; those of another operator have their defaults.
struct TfliteOperatorOptions {
  bool present = false;  // the file has options, and they are those of this operator
  bool is_same_padding = false;
  int64_t stride_h = 0, stride_w = 0, dilation_h = 1, dilation_w = 1, filter_h = 0, filter_w = 0;
  TfliteActivation activation = TfliteActivation::kNone;
  bool has_shuffled_weights = false;  // FULLY_CONNECTED
  bool keeps_dimensions = false;      // FULLY_CONNECTED, reductions
  float beta = 1, alpha = 0;          // SOFTMAX, LEAKY_RELU
  int64_t axis = 0, batch_dims = 0;   // CONCATENATION, PACK, UNPACK, GATHER
  int64_t count = 0;                  // SPLIT, SPLIT_V, PACK, UNPACK
  std::vector<int64_t> dims;          // RESHAPE, SQUEEZE
  bool has_dims = false;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  bool is_offset = false;  // STRIDED_SLICE: the end counts from the begin
  bool align_corners = false, half_pixel_centers = false;
  int64_t block_size = 0;
  bool is_symmetric = false;                        // MIRROR_PAD
  bool is_time_major = false;                       // sequences: the time is axis 0, the batch axis 1
  bool is_basic = false;                            // LSTM in the form of 5 inputs
  float cell_clip = 0, projection_clip = 0;         // 0: none
  bool transposes_a = false, transposes_b = false;  // BATCH_MATMUL
  bool is_exclusive = false, is_reverse = false;    // CUMSUM
};

struct TfliteOperator {
  int64_t index = 0;
  std::string op;  // "CONV_2D", "operator number 999"; of a custom operator its own name
  bool is_custom = false;
  std::vector<int64_t> inputs;   // tensors; -1: absent
  std::vector<int64_t> outputs;  // tensors
  TfliteOperatorOptions options;
};

struct TfliteModel {
  std::string name;
  std::vector<TfliteTensor> tensors;
  std::vector<TfliteOperator> operators;  // in the order of execution
  std::vector<int64_t> inputs, outputs;   // tensors
};

// Parses the bytes after verifying their structure. Problems go to `diagnostics`; the model is
// complete only if it has no error afterwards, but can be searched for more problems. Errors (invalid input):
// not a TFLite file, another version, cut off or damaged.
TfliteModel parse_tflite_model(std::span<const std::byte> bytes, Diagnostics& diagnostics);

// "operator 3 ('conv1')" after its first output.
std::string where(const TfliteModel& model, const TfliteOperator& op);

}  // namespace tilewright
