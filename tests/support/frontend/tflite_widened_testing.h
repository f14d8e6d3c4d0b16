// A quantised TFLite file with 8-bit activations as one with 16-bit activations ("int16x8"): the same
// weights, symmetric activations of the same range, biases of 64 bits with the same real values, real numbers
// in and out. A SOFTMAX at the end is left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "tflite_schema_generated.h"
#include "tilewright/base/error.h"

namespace tilewright::tflite_testing {

class WidenedFile {
 public:
  explicit WidenedFile(std::span<const std::byte> file)
      : model_(tflite_schema::UnPackModel(file.data())), graph_(*model_->subgraphs.at(0)) {}

  std::vector<std::byte> build() {
    leave_out_softmax();
    widen_biases();
    for (size_t i = 0; i < graph_.tensors.size(); ++i) widen_activation(*graph_.tensors[i]);
    for (const auto& op : graph_.operators) {
      if (auto* const sum = op->builtin_options.AsAddOptions()) sum->pot_scale_int16 = false;
    }
    add_border(tflite_schema::BuiltinOperator_QUANTIZE, graph_.inputs.at(0), true);
    add_border(tflite_schema::BuiltinOperator_DEQUANTIZE, graph_.outputs.at(0), false);
    flatbuffers::FlatBufferBuilder builder;
    tflite_schema::FinishModelBuffer(builder, tflite_schema::Model::Pack(builder, model_.get()));
    const auto* const first = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
    return {first, first + builder.GetSize()};
  }

 private:
  int code(const tflite_schema::OperatorT& op) const {
    const tflite_schema::OperatorCodeT& entry = *model_->operator_codes.at(op.opcode_index);
    return std::max(int(entry.builtin_code), int(entry.deprecated_builtin_code));
  }

  void leave_out_softmax() {
    if (code(*graph_.operators.back()) != tflite_schema::BuiltinOperator_SOFTMAX) return;
    graph_.outputs[0] = graph_.operators.back()->inputs.at(0);
    graph_.operators.pop_back();
  }

  bool is_constant(const tflite_schema::TensorT& tensor) const {
    return !model_->buffers.at(tensor.buffer)->data.empty();
  }

  // The largest magnitude of an 8-bit activation is the largest positive number of 16 bits.
  static float wide_scale(const tflite_schema::TensorT& tensor) {
    const float scale = tensor.quantization->scale.at(0);
    const int64_t zero = tensor.quantization->zero_point.empty() ? 0 : tensor.quantization->zero_point[0];
    return float(double(scale) * double(std::max(127 - zero, zero + 128)) / 32767);
  }

  // Ahead of the activations, whose scales are still those of the file.
  void widen_biases() {
    for (const auto& op : graph_.operators) {
      const int kind = code(*op);
      const bool layer = kind == tflite_schema::BuiltinOperator_CONV_2D ||
                         kind == tflite_schema::BuiltinOperator_DEPTHWISE_CONV_2D ||
                         kind == tflite_schema::BuiltinOperator_FULLY_CONNECTED;
      if (!layer || op->inputs.size() < 3 || op->inputs[2] < 0) continue;
      const tflite_schema::TensorT& x = *graph_.tensors.at(size_t(op->inputs[0]));
      tflite_schema::TensorT& bias = *graph_.tensors.at(size_t(op->inputs[2]));
      const double ratio = double(x.quantization->scale.at(0)) / double(wide_scale(x));
      const std::vector<uint8_t>& narrow = model_->buffers.at(bias.buffer)->data;
      auto buffer = std::make_unique<tflite_schema::BufferT>();
      for (size_t i = 0; i < narrow.size() / 4; ++i) {
        int32_t number = 0;
        std::copy_n(narrow.data() + 4 * i, 4, reinterpret_cast<uint8_t*>(&number));
        const int64_t wide = std::llround(double(number) * ratio);
        const auto* const bytes = reinterpret_cast<const uint8_t*>(&wide);
        buffer->data.insert(buffer->data.end(), bytes, bytes + 8);
      }
      for (float& scale : bias.quantization->scale) scale = float(double(scale) / ratio);
      bias.type = tflite_schema::TensorType_INT64;
      bias.buffer = uint32_t(model_->buffers.size());
      model_->buffers.push_back(std::move(buffer));
    }
  }

  void widen_activation(tflite_schema::TensorT& tensor) const {
    if (tensor.type != tflite_schema::TensorType_INT8 || is_constant(tensor)) return;
    tensor.type = tflite_schema::TensorType_INT16;
    tensor.quantization->scale = {wide_scale(tensor)};
    tensor.quantization->zero_point = {0};
  }

  void add_border(tflite_schema::BuiltinOperator kind, int32_t& end, bool at_front) {
    auto tensor = std::make_unique<tflite_schema::TensorT>();
    tensor->name = at_front ? "real_input" : "real_output";
    tensor->type = tflite_schema::TensorType_FLOAT32;
    tensor->shape = graph_.tensors.at(size_t(end))->shape;
    const auto real = int32_t(graph_.tensors.size());
    graph_.tensors.push_back(std::move(tensor));
    auto entry = std::make_unique<tflite_schema::OperatorCodeT>();
    entry->builtin_code = kind;
    entry->deprecated_builtin_code = int8_t(kind);
    auto op = std::make_unique<tflite_schema::OperatorT>();
    op->opcode_index = uint32_t(model_->operator_codes.size());
    model_->operator_codes.push_back(std::move(entry));
    op->inputs = {at_front ? real : end};
    op->outputs = {at_front ? end : real};
    graph_.operators.insert(at_front ? graph_.operators.begin() : graph_.operators.end(), std::move(op));
    end = real;
  }

  std::unique_ptr<tflite_schema::ModelT> model_;
  tflite_schema::SubGraphT& graph_;
};

}  // namespace tilewright::tflite_testing
