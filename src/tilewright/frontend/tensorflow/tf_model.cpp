// The kind of a file follows from its outermost fields: a GraphDef has its nodes in field 1, a SavedModel a
// version number there and graphs in field 2; ONNX files have a version there too, but more fields.
#include "tilewright/frontend/tensorflow/tf_model.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <climits>
#include <unordered_map>

#include "tilewright/base/plain_text.h"
#include "tilewright/frontend/name_check.h"
#include "tilewright/frontend/tensorflow/tf_functions.h"
#include "tilewright/frontend/tensorflow/tf_restore.h"
#include "tilewright_graphdef.pb.h"

namespace tilewright {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr int64_t kRepeatedValueBytes = int64_t{1} << 28;

enum class Kind { kOther, kGraphDef, kSavedModel };

// The kind by the numbers and wire types of the outermost fields.
Kind kind_of_file(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() > size_t(INT_MAX)) return Kind::kOther;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            int(bytes.size()));
  constexpr int kVarint = WireFormatLite::WIRETYPE_VARINT, kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  Kind kind = Kind::kOther;
  while (const uint32_t tag = in.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag), wire = WireFormatLite::GetTagWireType(tag);
    const bool is_graph = (wire == kBytes && (field == 1 || field == 2 || field == 4 || field == 5)) ||
                          (wire == kVarint && field == 3);
    const bool is_saved = (wire == kVarint && field == 1) || (wire == kBytes && field == 2);
    if (kind == Kind::kOther) {
      kind = field == 1 && wire == kBytes    ? Kind::kGraphDef
             : field == 1 && wire == kVarint ? Kind::kSavedModel
                                             : Kind::kOther;
      if (kind == Kind::kOther) return kind;
    }
    if (kind == Kind::kGraphDef ? !is_graph : !is_saved) return Kind::kOther;
    if (!WireFormatLite::SkipField(&in, tag)) break;
  }
  return kind;
}

template <typename Message>
Message parse_message(std::span<const std::byte> bytes, const char* what) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), int(bytes.size()))) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("is a damaged or truncated {}, or one nested deeper than 100", what),
                "fetch or export the file again");
  }
  return message;
}

TfAttribute list_attribute(const graphdef::AttrValue::ListValue& list) {
  if (list.shape_size() > 0) {
    std::vector<TfShape> shapes;
    for (const auto& shape : list.shape()) shapes.push_back(tf_shape(shape));
    return shapes;
  }
  if (list.f_size() > 0) return std::vector<float>(list.f().begin(), list.f().end());
  if (list.i_size() > 0) return std::vector<int64_t>(list.i().begin(), list.i().end());
  return {};
}

TfAttribute attribute_of(const graphdef::AttrValue& value) {
  switch (value.value_case()) {
    case graphdef::AttrValue::kS:
      return value.s();
    case graphdef::AttrValue::kI:
      return value.i();
    case graphdef::AttrValue::kF:
      return value.f();
    case graphdef::AttrValue::kB:
      return value.b();
    case graphdef::AttrValue::kType:
      return TfType{value.type()};
    case graphdef::AttrValue::kShape:
      return tf_shape(value.shape());
    case graphdef::AttrValue::kList:
      return list_attribute(value.list());
    default:
      return {};
  }
}

void read_value(const graphdef::NodeDef& source, TfNode& node, int64_t& budget) {
  const auto attribute = std::find_if(source.attr().begin(), source.attr().end(),
                                      [](const auto& entry) { return entry.key() == "value"; });
  if (attribute == source.attr().end() || !attribute->value().has_tensor()) {
    node.value_error = {ErrorKind::kInvalidInput, "", "", "has no value", ""};
    return;
  }
  const graphdef::TensorValue& tensor = attribute->value().tensor();
  node.texts.assign(tensor.string_val().begin(), tensor.string_val().end());
  try {
    node.value = read_tf_tensor(tensor, budget);
  } catch (const Error& error) {
    node.value_error = error.diagnostics().front();
  }
}

// What messages, reports and written files call a node.
void check_names(const graphdef::GraphDef& graph) {
  Diagnostics problems;
  for (const graphdef::NodeDef& node : graph.node()) {
    check_name("node", node.name(), problems);
    check_name("operator", node.op(), problems);
  }
  problems.raise_if_any();
}

void read_nodes(const graphdef::GraphDef& graph, TfModel& model) {
  std::unordered_map<std::string, int> index;
  for (const graphdef::NodeDef& source : graph.node()) {
    if (!index.emplace(source.name(), int(index.size())).second) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("has two nodes called '{}'", source.name()));
    }
  }
  int64_t budget = kRepeatedValueBytes;
  for (const graphdef::NodeDef& source : graph.node()) {
    TfNode node;
    node.name = source.name();
    node.op = source.op();
    node.place = int(model.nodes.size());
    for (const std::string& text : source.input()) {
      const TfTensorName name = parse_tensor_name(text);
      if (name.is_control) continue;
      const auto found = index.find(name.node);
      node.inputs.push_back({found == index.end() ? -1 : found->second, name.output});
      node.input_names.push_back(text);
    }
    for (const auto& entry : source.attr()) node.attributes[entry.key()] = attribute_of(entry.value());
    if (node.op == "Const") read_value(source, node, budget);
    model.nodes.push_back(std::move(node));
  }
}

const graphdef::MetaGraph& serving_graph(const graphdef::SavedModel& saved) {
  std::string tags;
  for (const graphdef::MetaGraph& meta : saved.meta_graphs()) {
    for (const std::string& tag : meta.meta_info_def().tags()) {
      if (tag == "serve") return meta;
      tags += (tags.empty() ? "" : ", ") + tag;
    }
  }
  throw Error(ErrorKind::kInvalidInput, "the SavedModel has no graph with the tag 'serve'",
              tags.empty() ? "" : "its tags: " + tags);
}

// The signature of this name, else the usual one for serving; nullptr if the file has none for serving.
const graphdef::SignatureDef* find_signature(const graphdef::MetaGraph& meta, const std::string& name) {
  const auto first = [&](const auto& fits) -> const graphdef::SignatureDef* {
    const auto& all = meta.signature_def();
    const auto found = std::find_if(all.begin(), all.end(), fits);
    return found == all.end() ? nullptr : &found->value();
  };
  const auto named = [](const std::string& wanted) {
    return [wanted](const graphdef::SignatureEntry& entry) { return entry.key() == wanted; };
  };
  if (name.empty()) {
    if (const auto* usual = first(named("serving_default"))) return usual;
    return first([](const graphdef::SignatureEntry& entry) {
      return entry.value().method_name() == "tensorflow/serving/predict" || entry.key() == "predict";
    });
  }
  if (const auto* wanted = first(named(name))) return wanted;
  std::string names;
  for (const graphdef::SignatureEntry& entry : meta.signature_def()) {
    if (valid_utf8(entry.key())) names += (names.empty() ? "" : ", ") + entry.key();
  }
  throw Error(ErrorKind::kInvalidInput, fmt::format("has no signature '{}'", name),
              names.empty() ? "it has none; leave --signature out" : "its signatures: " + names);
}

void read_signature(const graphdef::MetaGraph& meta, const std::string& name, TfModel& model) {
  const graphdef::SignatureDef* signature = find_signature(meta, name);
  if (signature == nullptr) return;
  Diagnostics problems;
  const auto read = [&](const auto& entries, auto& tensors) {
    for (const graphdef::TensorInfoEntry& entry : entries) {
      check_name("signature entry", entry.key(), problems);
      check_name("signature tensor", entry.value().name(), problems);
      const graphdef::TensorInfo& info = entry.value();
      tensors[entry.key()] = {info.name(), info.dtype(),
                              info.has_tensor_shape() ? tf_shape(info.tensor_shape()) : TfShape()};
    }
  };
  read(signature->inputs(), model.signature_inputs);
  read(signature->outputs(), model.signature_outputs);
  problems.raise_if_any();
}

template <typename T>
T attribute_or(const TfNode& node, const std::string& name, T fallback) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end() || std::holds_alternative<std::monostate>(found->second))
    return fallback;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw Error(ErrorKind::kInvalidInput, fmt::format("attribute '{}' has the wrong type", name));
}

}  // namespace

int64_t TfNode::int_or(const std::string& name_, int64_t fallback) const {
  return attribute_or(*this, name_, fallback);
}
float TfNode::float_or(const std::string& name_, float fallback) const {
  return attribute_or(*this, name_, fallback);
}
bool TfNode::bool_or(const std::string& name_, bool fallback) const {
  return attribute_or(*this, name_, fallback);
}
std::string TfNode::string_or(const std::string& name_, const std::string& fallback) const {
  return attribute_or(*this, name_, fallback);
}
std::vector<int64_t> TfNode::ints_or(const std::string& name_, std::vector<int64_t> fallback) const {
  return attribute_or(*this, name_, std::move(fallback));
}
int TfNode::type_or(const std::string& name_, int fallback) const {
  return attribute_or(*this, name_, TfType{fallback}).code;
}

TfShape TfNode::declared_shape() const {
  const auto shape = attributes.find("shape");
  const auto listed = attributes.find("_output_shapes");
  // What a VarHandleOp gives is a handle, a scalar; the shape is that of the variable.
  if (listed != attributes.end() && !is("VarHandleOp")) {
    const auto* shapes = std::get_if<std::vector<TfShape>>(&listed->second);
    if (shapes != nullptr && !shapes->empty()) return shapes->front();
  }
  if (shape != attributes.end()) {
    if (const TfShape* known = std::get_if<TfShape>(&shape->second)) return *known;
  }
  return {};
}

int TfModel::find(const std::string& name) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name == name) return int(i);
  }
  return -1;
}

TfTensorName parse_tensor_name(const std::string& text) {
  TfTensorName result{text, 0, false};
  if (!text.empty() && text[0] == '^') return {text.substr(1), 0, true};
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) return result;
  const std::string digits = text.substr(colon + 1);
  const bool is_number = digits.size() < 6 && std::all_of(digits.begin(), digits.end(),
                                                          [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return result;
  return {text.substr(0, colon), std::stoi(digits), false};
}

bool looks_like_tensorflow(std::span<const std::byte> bytes) { return kind_of_file(bytes) != Kind::kOther; }

TfModel parse_tf_model(std::span<const std::byte> bytes, const std::string& signature) {
  const Kind kind = kind_of_file(bytes);
  TfModel model;
  graphdef::GraphDef graph;
  if (kind == Kind::kSavedModel) {
    graphdef::SavedModel saved = parse_message<graphdef::SavedModel>(bytes, "SavedModel");
    const graphdef::MetaGraph& meta = serving_graph(saved);
    read_signature(meta, signature, model);
    model.is_saved_model = true;
    graph = meta.graph_def();
  } else if (kind == Kind::kGraphDef) {
    if (!signature.empty()) {
      throw Error(ErrorKind::kInvalidInput, "is a GraphDef, which has no signatures",
                  "leave --signature out");
    }
    graph = parse_message<graphdef::GraphDef>(bytes, "GraphDef");
  } else {
    throw Error(ErrorKind::kInvalidInput, "is neither a TensorFlow GraphDef nor a SavedModel");
  }
  if (graph.node_size() == 0) throw Error(ErrorKind::kInvalidInput, "the graph has no nodes");
  inline_functions(graph);
  check_names(graph);
  read_nodes(graph, model);
  find_restored(model);
  return model;
}

}  // namespace tilewright
