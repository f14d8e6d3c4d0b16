// TFLite files made in memory, for tests.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tflite_schema_generated.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright::tflite_testing {

namespace schema = tflite_schema;
using Op = schema::BuiltinOperator;

inline schema::TensorType type_of(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return schema::TensorType_FLOAT16;
    case ElementType::kI8:
      return schema::TensorType_INT8;
    case ElementType::kU8:
      return schema::TensorType_UINT8;
    case ElementType::kI16:
      return schema::TensorType_INT16;
    case ElementType::kI32:
      return schema::TensorType_INT32;
    case ElementType::kI64:
      return schema::TensorType_INT64;
    case ElementType::kBool:
      return schema::TensorType_BOOL;
    default:
      return schema::TensorType_FLOAT32;
  }
}

class TfliteBuilder {
 public:
  TfliteBuilder() {
    model.version = 3;
    model.subgraphs.push_back(std::make_unique<schema::SubGraphT>());
    model.buffers.push_back(std::make_unique<schema::BufferT>());
  }

  schema::SubGraphT& graph() { return *model.subgraphs[0]; }
  schema::TensorT& tensor(int index) { return *graph().tensors[size_t(index)]; }

  int add(const std::string& name, ElementType type, const std::vector<int32_t>& shape) {
    auto added = std::make_unique<schema::TensorT>();
    added->name = name;
    added->type = type_of(type);
    added->shape = shape;
    graph().tensors.push_back(std::move(added));
    return int(graph().tensors.size()) - 1;
  }
  int input(const std::string& name, const std::vector<int32_t>& shape,
            ElementType type = ElementType::kF32) {
    graph().inputs.push_back(add(name, type, shape));
    return graph().inputs.back();
  }
  int output(const std::string& name, const std::vector<int32_t>& shape,
             ElementType type = ElementType::kF32) {
    graph().outputs.push_back(add(name, type, shape));
    return graph().outputs.back();
  }
  int constant(const std::string& name, const Tensor& value) {
    const auto dims = value.shape().dims();
    const int index = add(name, value.type(), {dims.begin(), dims.end()});
    auto buffer = std::make_unique<schema::BufferT>();
    buffer->data.resize(value.size_bytes());
    std::memcpy(buffer->data.data(), value.bytes().data(), value.size_bytes());
    tensor(index).buffer = uint32_t(model.buffers.size());
    model.buffers.push_back(std::move(buffer));
    return index;
  }
  int integers(const std::string& name, const std::vector<int32_t>& values) {
    return constant(name, Tensor(Shape{int64_t(values.size())}, std::span<const int32_t>(values)));
  }
  int scalar(const std::string& name, int32_t value) { return constant(name, Tensor::scalar(value)); }

  TfliteBuilder& quantize(int index, const std::vector<float>& scales,
                          const std::vector<int64_t>& zero_points, int axis = 0) {
    auto quantization = std::make_unique<schema::QuantizationParametersT>();
    quantization->scale = scales;
    quantization->zero_point = zero_points;
    quantization->quantized_dimension = axis;
    tensor(index).quantization = std::move(quantization);
    return *this;
  }

  schema::OperatorT& op(Op code, const std::vector<int>& inputs, const std::vector<int>& outputs) {
    auto entry = std::make_unique<schema::OperatorCodeT>();
    entry->builtin_code = code;
    entry->deprecated_builtin_code = int8_t(int(code) < 127 ? int(code) : 127);
    auto added = std::make_unique<schema::OperatorT>();
    added->opcode_index = uint32_t(model.operator_codes.size());
    added->inputs.assign(inputs.begin(), inputs.end());
    added->outputs.assign(outputs.begin(), outputs.end());
    model.operator_codes.push_back(std::move(entry));
    graph().operators.push_back(std::move(added));
    return *graph().operators.back();
  }
  template <typename Options>
  schema::OperatorT& op(Op code, const std::vector<int>& inputs, const std::vector<int>& outputs,
                        Options options) {
    schema::OperatorT& added = op(code, inputs, outputs);
    added.builtin_options.Set(std::move(options));
    return added;
  }

  std::vector<std::byte> build() const {
    flatbuffers::FlatBufferBuilder builder;
    schema::FinishModelBuffer(builder, schema::Model::Pack(builder, &model));
    const auto* first = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
    return {first, first + builder.GetSize()};
  }

  schema::ModelT model;
};

}  // namespace tilewright::tflite_testing
