// The graph as a ModelProto. Beyond the size limit, tensors of 1 KiB and more move to the data file, aligned
// to 64 bytes; it is written first.
#include "tilewright/frontend/onnx/onnx_writer.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <unordered_set>

#include "tilewright/base/file.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/frontend/onnx/opset/newer_opset.h"
#include "tilewright/frontend/onnx/opset/qonnx_form.h"
#include "tilewright/frontend/onnx/opset/spelled_out.h"
#include "tilewright/frontend/onnx/proto/onnx_model.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"
#include "tilewright/frontend/onnx/proto/tensor_proto.h"

namespace tilewright {
namespace {

constexpr int64_t kAlignment = 64;           // of tensors in the data file
constexpr int64_t kMinExternalBytes = 1024;  // smaller tensors stay in the model

int64_t stored_bytes(const Tensor& tensor) {
  return has_onnx_type(tensor.type()) ? int64_t(tensor.size_bytes()) : tensor.size();
}

void describe_value(const Value& value, onnx::ValueInfoProto& proto) {
  proto.set_name(value.name);
  if (!has_onnx_type(value.type)) proto.set_doc_string(std::string(kElementTypeNote) + name(value.type));
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx_storage_type(value.type));
  tensor.mutable_shape();  // a scalar has a shape, too
  for (const int64_t dim : value.shape) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

struct AttributeWriter {
  onnx::AttributeProto& proto;
  void operator()(int64_t value) const {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(onnx::AttributeProto::INTS);
    proto.mutable_ints()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<float>& values) const {
    proto.set_type(onnx::AttributeProto::FLOATS);
    proto.mutable_floats()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) proto.add_strings(value);
  }
  void operator()(const Tensor& value) const {
    proto.set_type(onnx::AttributeProto::TENSOR);
    tensor_to_proto(value, *proto.mutable_t());
  }
};

void write_node(const Graph& graph, const Node& node, onnx::NodeProto& proto) {
  const auto name_of = [&](ValueId id) { return id == kNoValue ? std::string() : graph.value(id).name; };
  proto.set_name(node.name);
  proto.set_op_type(node.op);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  for (const ValueId id : node.inputs) proto.add_input(name_of(id));
  for (const ValueId id : node.outputs) proto.add_output(name_of(id));
  for (const auto& [attribute, value] : node.attributes) {
    onnx::AttributeProto& written = *proto.add_attribute();
    written.set_name(attribute);
    std::visit(AttributeWriter{written}, value);
  }
}

// Moves the raw data of large tensors to the end of `data`, leaving their place in the proto.
void externalise(onnx::TensorProto& proto, const std::string& location, std::vector<std::byte>& data) {
  const std::string& raw = proto.raw_data();
  if (int64_t(raw.size()) < kMinExternalBytes) return;
  data.resize(round_up(data.size(), kAlignment));
  const auto add = [&](const char* key, const std::string& value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  add("offset", std::to_string(data.size()));
  add("length", std::to_string(raw.size()));
  const auto* bytes = reinterpret_cast<const std::byte*>(raw.data());
  data.insert(data.end(), bytes, bytes + raw.size());
  proto.clear_raw_data();
  proto.set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
}

// With a `location`, large tensors go to `data`.
onnx::ModelProto to_proto(const Graph& whole, const std::string& location, std::vector<std::byte>& data) {
  const bool has_later = has_later_operators(whole);
  const Graph spelled = has_later ? spelled_out(whole) : Graph();
  const Graph& given = has_later ? spelled : whole;
  const int opset = opset_to_write(given);
  const Graph newer = opset == kUsualOpset ? Graph() : in_newer_opset(given);
  const Graph& graph = opset == kUsualOpset ? given : newer;
  onnx::ModelProto model;
  model.set_producer_name("tilewright");
  model.set_ir_version(opset == kUsualOpset ? 8 : 10);
  auto& standard = *model.add_opset_import();
  standard.set_domain("");
  standard.set_version(opset);
  const auto in_qonnx = [](const Node& node) { return node.domain == kQonnxDomain; };
  const bool is_qonnx = std::any_of(graph.nodes.begin(), graph.nodes.end(), in_qonnx);
  auto& own = *model.add_opset_import();
  own.set_domain(is_qonnx ? kQonnxDomain : kTilewrightDomain);
  own.set_version(1);

  if (given.rounding != Rounding::kOnce) {
    auto& property = *model.add_metadata_props();
    property.set_key(kRoundingProperty);
    property.set_value(name(given.rounding));
  }

  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  std::unordered_set<ValueId> described;
  for (const ValueId id : graph.inputs) {
    describe_value(graph.value(id), *proto.add_input());
    described.insert(id);
  }
  for (const ValueId id : graph.outputs) {
    describe_value(graph.value(id), *proto.add_output());
    described.insert(id);
  }
  for (const Value& value : graph.values) {
    if (!value.constant) continue;
    onnx::TensorProto& tensor = *proto.add_initializer();
    tensor_to_proto(*value.constant, tensor);
    tensor.set_name(value.name);
    if (!location.empty()) externalise(tensor, location, data);
  }
  for (const Node& node : graph.nodes) {
    write_node(graph, node, *proto.add_node());
    for (const ValueId id : node.outputs) {
      if (id != kNoValue && described.insert(id).second)
        describe_value(graph.value(id), *proto.add_value_info());
    }
  }
  return model;
}

int64_t weight_bytes(const Graph& graph) {
  int64_t total = 0;
  for (const Value& value : graph.values) {
    if (value.constant) total += stored_bytes(*value.constant);
  }
  return total;
}

std::vector<std::byte> serialise(const onnx::ModelProto& model) {
  std::vector<std::byte> bytes(model.ByteSizeLong());
  if (bytes.size() > size_t(INT32_MAX) || !model.SerializeToArray(bytes.data(), int(bytes.size()))) {
    throw Error(ErrorKind::kUnsupported, "the model is larger than an ONNX file can be (2 GiB)");
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> format_onnx(const Graph& graph) {
  if (weight_bytes(graph) > kMaxInlineWeightBytes) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} bytes of weights do not fit into one ONNX file", weight_bytes(graph)),
                "write it with external data");
  }
  std::vector<std::byte> unused;
  return serialise(to_proto(graph, "", unused));
}

void write_onnx(const std::filesystem::path& path, const Graph& graph, int64_t max_inline_bytes) {
  const bool is_split = weight_bytes(graph) > max_inline_bytes;
  const std::string location = is_split ? path.filename().string() + ".data" : "";
  std::vector<std::byte> data;
  const std::vector<std::byte> bytes = serialise(to_proto(graph, location, data));
  // The data first: a model file that is there can be read.
  if (is_split) write_file(path.parent_path() / location, data);
  write_file(path, bytes);
}

}  // namespace tilewright
