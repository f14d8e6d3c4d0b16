// The FlatBuffers verifier walks the whole file before anything is read from it; afterwards every index and
// every size that the format leaves open is checked here, once, so that the lowering can rely on them.
#include "tilewright/frontend/tflite/tflite_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "tilewright/frontend/name_check.h"
#include "tilewright/frontend/tflite/tflite_options.h"
#include "tilewright/frontend/tflite/tflite_reader.h"

namespace tilewright {
namespace {

namespace schema = tflite_schema;

constexpr uint32_t kVersion = 3;
constexpr size_t kIdentifierOffset = 4;
constexpr size_t kBufferAlignment = 16;
constexpr int64_t kMaxElements = int64_t{1} << 40;
// Tensors may share buffers and lists, but not so often that a small file takes all memory.
constexpr size_t kMaxSharing = 8;
constexpr size_t kMaxAxes = 32;

std::optional<ElementType> element_type_of_tensor(schema::TensorType type) {
  switch (type) {
    case schema::TensorType_FLOAT32:
      return ElementType::kF32;
    case schema::TensorType_FLOAT16:
      return ElementType::kF16;
    case schema::TensorType_FLOAT64:
      return ElementType::kF64;
    case schema::TensorType_BFLOAT16:
      return ElementType::kBF16;
    case schema::TensorType_INT4:
      return ElementType::kI4;
    case schema::TensorType_INT8:
      return ElementType::kI8;
    case schema::TensorType_INT16:
      return ElementType::kI16;
    case schema::TensorType_INT32:
      return ElementType::kI32;
    case schema::TensorType_INT64:
      return ElementType::kI64;
    case schema::TensorType_UINT8:
      return ElementType::kU8;
    case schema::TensorType_UINT16:
      return ElementType::kU16;
    case schema::TensorType_UINT32:
      return ElementType::kU32;
    case schema::TensorType_UINT64:
      return ElementType::kU64;
    case schema::TensorType_BOOL:
      return ElementType::kBool;
    default:
      return std::nullopt;
  }
}

std::string type_name_of(schema::TensorType type) {
  const std::string name = schema::EnumNameTensorType(type);
  return name.empty() ? fmt::format("type number {}", int(type)) : name;
}

// Byte by byte: the verifier lets lists of 8-byte numbers begin anywhere.
template <typename T>
std::vector<int64_t> integers(const flatbuffers::Vector<T>* list) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    T number = 0;
    std::memcpy(&number, list->Data() + i * sizeof(T), sizeof(T));
    numbers.push_back(int64_t(flatbuffers::EndianScalar(number)));
  }
  return numbers;
}

// Of a list or a text.
template <typename List>
size_t length(const List* list) {
  return list == nullptr ? 0 : list->size();
}

// The shape that a tensor has where nothing is said about its dynamic sizes.
void read_tensor_shape(const schema::Tensor& source, TfliteTensor& tensor) {
  if (length(source.shape()) > kMaxAxes || length(source.shape_signature()) > kMaxAxes) {
    tensor.problem = fmt::format("has more than {} axes", kMaxAxes);
    return;
  }
  std::vector<int64_t> dims = integers(source.shape());
  const std::vector<int64_t> signature = integers(source.shape_signature());
  tensor.is_dynamic.assign(dims.size(), false);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    tensor.is_dynamic[axis] = dims[axis] == -1 || (signature.size() == dims.size() && signature[axis] == -1);
    if (dims[axis] == -1) dims[axis] = 1;
    if (dims[axis] < 0) tensor.problem = fmt::format("has the negative size {}", dims[axis]);
  }
  tensor.shape = Shape(std::move(dims));
}

// Elements of a shape without negative sizes; kMaxElements when there are more.
int64_t count_elements(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size == 0) return 0;
    count = count > kMaxElements / size ? kMaxElements : count * size;
  }
  return count;
}

class TfliteParser {
 public:
  TfliteParser(std::span<const std::byte> file, const schema::Model& source, Diagnostics& diagnostics)
      : file_(file), source_(source), diagnostics_(diagnostics) {}

  TfliteModel parse() {
    if (length(source_.subgraphs()) == 0) {
      diagnostics_.error(ErrorKind::kInvalidInput, "model", "", "has no subgraph");
      return std::move(model_);
    }
    if (source_.subgraphs()->size() > 1) {
      diagnostics_.error(ErrorKind::kUnsupported, "model", "",
                         fmt::format("has {} subgraphs; only one is supported", source_.subgraphs()->size()),
                         "export the inference function alone, without control flow");
    }
    const schema::SubGraph* graph = source_.subgraphs()->Get(0);
    if (graph->name() != nullptr) model_.name = graph->name()->str();
    check_name("graph", model_.name, diagnostics_);
    mark_computed(*graph);
    for (size_t i = 0; i < length(graph->tensors()); ++i) {
      add_tensor(*graph->tensors()->Get(flatbuffers::uoffset_t(i)), i);
    }
    model_.inputs = checked_tensors(graph->inputs(), "model", "input", false);
    model_.outputs = checked_tensors(graph->outputs(), "model", "output", false);
    for (size_t i = 0; i < length(graph->operators()); ++i) {
      add_operator(*graph->operators()->Get(flatbuffers::uoffset_t(i)), i);
    }
    return std::move(model_);
  }

 private:
  void invalid(const std::string& where, const std::string& message, const std::string& hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, where, "", message, hint);
  }

  // Counts what is taken from the file; false where it is too much, which is reported once.
  bool may_take(size_t bytes, const std::string& where) {
    const size_t limit = kMaxSharing * file_.size();
    const bool was_within = taken_bytes_ <= limit;
    taken_bytes_ += bytes;
    if (taken_bytes_ <= limit) return true;
    if (was_within) {
      invalid(where,
              fmt::format("takes the model to over {} times as many bytes as its file has", kMaxSharing),
              "the file is damaged: fetch or convert it again");
    }
    return false;
  }

  // The tensors that are given or computed: without elements they look like constants.
  void mark_computed(const schema::SubGraph& graph) {
    is_computed_.assign(length(graph.tensors()), false);
    const auto mark = [&](const flatbuffers::Vector<int32_t>* indices) {
      if (!may_take(length(indices) * sizeof(int32_t), "model")) return;
      for (size_t i = 0; i < length(indices); ++i) {
        const int32_t index = indices->Get(flatbuffers::uoffset_t(i));
        if (index >= 0 && size_t(index) < is_computed_.size()) is_computed_[size_t(index)] = true;
      }
    };
    mark(graph.inputs());
    for (size_t i = 0; i < length(graph.operators()); ++i) {
      mark(graph.operators()->Get(flatbuffers::uoffset_t(i))->outputs());
    }
  }

  // Tensor indices that exist; others are reported and left out, except -1 where that means "absent".
  std::vector<int64_t> checked_tensors(const flatbuffers::Vector<int32_t>* indices, const std::string& where,
                                       const char* role, bool may_be_absent) {
    std::vector<int64_t> checked;
    if (!may_take(length(indices) * sizeof(int64_t), where)) return checked;
    for (const int64_t index : integers(indices)) {
      if (index >= 0 && index < int64_t(model_.tensors.size())) {
        checked.push_back(index);
      } else if (index == -1 && may_be_absent) {
        checked.push_back(-1);
      } else {
        invalid(where, fmt::format("names tensor {} as {}, but there are {} tensors", index, role,
                                   model_.tensors.size()));
      }
    }
    return checked;
  }

  void add_tensor(const schema::Tensor& source, size_t index) {
    TfliteTensor tensor;
    tensor.name = fmt::format("tensor_{}", index);
    if (!may_take(bytes_of(source), fmt::format("tensor {}", index))) {
      tensor.problem = "was not read";
      model_.tensors.push_back(std::move(tensor));
      return;
    }
    if (length(source.name()) > 0) tensor.name = source.name()->str();
    check_name("tensor", tensor.name, diagnostics_);
    tensor.type = element_type_of_tensor(source.type());
    tensor.type_name = type_name_of(source.type());
    if (!tensor.type) tensor.problem = fmt::format("has the type {}", tensor.type_name);
    read_tensor_shape(source, tensor);
    if (source.sparsity() != nullptr) tensor.problem = "is sparse";
    tensor.is_variable = source.is_variable();
    read_quantization(source.quantization(), tensor);
    if (tensor.problem.empty() && !tensor.is_variable)
      read_constant(source.buffer(), !is_computed_[index], tensor);
    model_.tensors.push_back(std::move(tensor));
  }

  // What add_tensor copies, but for the elements.
  static size_t bytes_of(const schema::Tensor& source) {
    size_t numbers = std::min(kMaxAxes, length(source.shape()));
    if (const schema::QuantizationParameters* quantization = source.quantization()) {
      numbers += length(quantization->scale()) + length(quantization->zero_point());
    }
    return length(source.name()) + numbers * sizeof(int64_t);
  }

  static void read_quantization(const schema::QuantizationParameters* source, TfliteTensor& tensor) {
    if (source == nullptr) return;
    if (source->details_type() != 0) {
      tensor.problem = "is quantised by a custom method";
      return;
    }
    if (length(source->scale()) == 0) return;  // only the range that was seen in training
    TfliteQuantization quantization;
    quantization.scales.assign(source->scale()->begin(), source->scale()->end());
    quantization.zero_points = integers(source->zero_point());
    quantization.axis = source->quantized_dimension();
    tensor.quantization = std::move(quantization);
  }

  // The bytes of a buffer, inside the FlatBuffer or, in files beyond 2 GiB, behind it; nothing where the
  // buffer is empty.
  std::optional<std::span<const std::byte>> buffer_bytes(uint32_t buffer, const TfliteTensor& tensor) {
    const std::string where = fmt::format("tensor '{}'", tensor.name);
    if (buffer >= length(source_.buffers())) {
      if (buffer != 0) {
        invalid(where, fmt::format("names buffer {}, but there are {}", buffer, length(source_.buffers())));
      }
      return std::nullopt;
    }
    const schema::Buffer* source = source_.buffers()->Get(buffer);
    if (source->offset() > 1) {
      if (source->offset() > file_.size() || source->size() > file_.size() - source->offset()) {
        invalid(where, "has its data beyond the end of the file", "the file is cut off: fetch it again");
        return std::nullopt;
      }
      return file_.subspan(source->offset(), source->size());
    }
    if (length(source->data()) == 0) return std::nullopt;
    return std::as_bytes(std::span(source->data()->data(), source->data()->size()));
  }

  // `may_be_empty`: the tensor is constant even if there are no bytes, where it has no elements.
  void read_constant(uint32_t buffer, bool may_be_empty, TfliteTensor& tensor) {
    auto bytes = buffer_bytes(buffer, tensor);
    const int64_t count = count_elements(tensor.shape);
    const bool is_there = buffer != 0 && buffer < length(source_.buffers());
    if (!bytes && is_there && may_be_empty && count == 0) bytes.emplace();
    if (!bytes) return;
    const int64_t wanted = packed_bytes(count, *tensor.type);
    if (count >= kMaxElements || wanted != int64_t(bytes->size())) {
      invalid(fmt::format("tensor '{}'", tensor.name),
              fmt::format("holds {} bytes, but {} {} need {}", bytes->size(), to_string(tensor.shape),
                          tensor.type_name, wanted),
              "the file is damaged: fetch or convert it again");
      return;
    }
    if (!may_take(bytes->size(), fmt::format("tensor '{}'", tensor.name))) {
      tensor.problem = "was not read";
      return;
    }
    Tensor constant(*tensor.type, tensor.shape);
    if (!bytes->empty()) std::memcpy(constant.mutable_bytes().data(), bytes->data(), bytes->size());
    if (tensor.type == ElementType::kBool) {
      for (std::byte& element : constant.mutable_bytes()) element = std::byte{element != std::byte{0}};
    }
    if (tensor.type == ElementType::kI4) {
      constant = constant.cast(ElementType::kI8);
      tensor.type = ElementType::kI8;
    }
    tensor.constant = std::move(constant);
  }

  // What the options copy that is longer than a number.
  static size_t bytes_of_dims(const schema::Operator& op) {
    const auto* reshape = op.builtin_options_as_ReshapeOptions();
    const auto* squeeze = op.builtin_options_as_SqueezeOptions();
    return sizeof(int64_t) * ((reshape != nullptr ? length(reshape->new_shape()) : 0) +
                              (squeeze != nullptr ? length(squeeze->squeeze_dims()) : 0));
  }

  void add_operator(const schema::Operator& source, size_t index) {
    TfliteOperator op;
    op.index = int64_t(index);
    const std::string where = fmt::format("operator {}", index);
    if (source.opcode_index() >= length(source_.operator_codes())) {
      return invalid(where, fmt::format("names operator code {}, but there are {}", source.opcode_index(),
                                        length(source_.operator_codes())));
    }
    const schema::OperatorCode* code = source_.operator_codes()->Get(source.opcode_index());
    // Old files have the number in a field of one byte, new ones in both.
    const int number = std::max(int(code->builtin_code()), int(code->deprecated_builtin_code()));
    const auto builtin = schema::BuiltinOperator(number);
    op.op = schema::EnumNameBuiltinOperator(builtin);
    if (op.op.empty()) op.op = fmt::format("operator number {}", number);
    op.is_custom = builtin == schema::BuiltinOperator_CUSTOM;
    if (!may_take(length(code->custom_code()) + bytes_of_dims(source), where)) return;
    if (op.is_custom && code->custom_code() != nullptr) op.op = code->custom_code()->str();
    check_name("operator", op.op, diagnostics_);
    op.inputs = checked_tensors(source.inputs(), where, "input", true);
    op.outputs = checked_tensors(source.outputs(), where, "output", false);
    op.options = tflite_operator_options(builtin, source);
    model_.operators.push_back(std::move(op));
  }

  std::span<const std::byte> file_;
  const schema::Model& source_;
  Diagnostics& diagnostics_;
  TfliteModel model_;
  std::vector<bool> is_computed_;  // by tensor
  size_t taken_bytes_ = 0;
};

}  // namespace

bool is_tflite(std::span<const std::byte> bytes) {
  const char* identifier = schema::ModelIdentifier();
  const size_t size = std::strlen(identifier);
  return bytes.size() >= kIdentifierOffset + size &&
         std::memcmp(bytes.data() + kIdentifierOffset, identifier, size) == 0;
}

TfliteModel parse_tflite_model(std::span<const std::byte> bytes, Diagnostics& diagnostics) {
  if (!is_tflite(bytes)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("is not a TFLite file: the identifier '{}' is not at byte {}",
                            schema::ModelIdentifier(), kIdentifierOffset),
                "files of version 3 are read; convert older ones again");
  }
  if (bytes.size() > size_t(INT32_MAX)) {
    throw Error(ErrorKind::kUnsupported, "is larger than 2 GiB", "TFLite's offsets do not reach further");
  }
  // The accessors read numbers in place, which needs the alignment that a file in memory may not have.
  std::vector<std::byte> aligned;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBufferAlignment != 0) {
    aligned.assign(bytes.begin(), bytes.end());
    bytes = aligned;
  }
  constexpr int kDeepest = 64, kMostTables = 1'000'000;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), kDeepest,
                                 kMostTables);
  if (!schema::VerifyModelBuffer(verifier)) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format(
            "is cut off or damaged: the structure of its {} bytes does not hold, or has more than {} tables",
            bytes.size(), kMostTables),
        "fetch or convert the file again");
  }
  const schema::Model* source = schema::GetModel(bytes.data());
  if (source->version() != kVersion) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("is of format version {}; version {} is supported", source->version(), kVersion),
                "convert the model again with a current converter");
  }
  return TfliteParser(bytes, *source, diagnostics).parse();
}

std::string where(const TfliteModel& model, const TfliteOperator& op) {
  if (op.outputs.empty()) return fmt::format("operator {}", op.index);
  return fmt::format("operator {} ('{}')", op.index, model.tensors[size_t(op.outputs[0])].name);
}

}  // namespace tilewright
