// Protobuf to plain structures: opsets, declared types, initializers, nodes. A tensor's raw bytes are freed
// in the message once they are copied. Names are checked to be UTF-8, as protobuf does not.
#include "tilewright/frontend/onnx/proto/onnx_model.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <climits>

#include "tilewright/frontend/name_check.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"
#include "tilewright/frontend/onnx/proto/tensor_proto.h"

namespace tilewright {
namespace {

constexpr int64_t kZeroFillBudgetBytes = int64_t{1} << 33;

template <typename List, typename T>
std::vector<T> to_vector(const List& list) {
  return std::vector<T>(list.begin(), list.end());
}

std::string plain_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

bool is_control_flow(const std::string& op) {
  return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
}

class ModelParser {
 public:
  ModelParser(const OnnxModelOptions& options, Diagnostics& diagnostics)
      : external_(options.folder), diagnostics_(diagnostics) {
    tensor_options_.external = &external_;
    tensor_options_.allow_missing_weights = options.allow_missing_weights;
    tensor_options_.zero_fill_budget_bytes = kZeroFillBudgetBytes;
  }

  OnnxModel parse(onnx::ModelProto& proto) {
    OnnxModel model;
    read_opsets(proto, model);
    read_rounding(proto, model);
    for (const auto& function : proto.functions()) {
      model.functions.push_back(fmt::format("{}:{}", plain_domain(function.domain()), function.name()));
    }
    read_graph(*proto.mutable_graph(), model);
    return model;
  }

 private:
  void read_graph(onnx::GraphProto& graph, OnnxGraph& model) {
    model.name = graph.name();
    for (const auto& info : graph.input()) model.inputs.push_back(value_info(info));
    for (const auto& info : graph.output()) model.outputs.push_back(value_info(info));
    for (const auto& info : graph.value_info()) model.value_infos.push_back(value_info(info));
    for (auto& tensor : *graph.mutable_initializer()) {
      const std::string where = fmt::format("initializer '{}'", tensor.name());
      model.initializers.emplace_back(tensor.name(),
                                      tensor_from_proto(tensor, where, tensor_options_, diagnostics_));
      tensor.clear_raw_data();  // halves the peak: the Tensor has a copy
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      diagnostics_.error(ErrorKind::kUnsupported, fmt::format("initializer '{}'", sparse.values().name()), "",
                         "is sparse", "store it dense");
    }
    model.nodes.reserve(size_t(graph.node_size()));
    for (int i = 0; i < graph.node_size(); ++i) model.nodes.push_back(node(*graph.mutable_node(i), i));
    check_names(model);
  }

  // Every name that messages, reports and bundles carry.
  void check_names(const OnnxGraph& model) {
    const auto check = [&](const char* what, const std::string& name) {
      check_name(what, name, diagnostics_);
    };
    check("graph", model.name);
    for (const OnnxValueInfo& info : model.inputs) check("input", info.name);
    for (const OnnxValueInfo& info : model.outputs) check("output", info.name);
    for (const auto& [name, tensor] : model.initializers) check("initializer", name);
    for (const OnnxNode& node : model.nodes) {
      check("node", node.name);
      check("operator", node.op);
      check("domain", node.domain);
      for (const std::string& name : node.outputs) check("value", name);
    }
  }

  void read_rounding(const onnx::ModelProto& proto, OnnxModel& model) {
    for (const auto& property : proto.metadata_props()) {
      if (property.key() != kRoundingProperty) continue;
      const auto rounding = parse_rounding(property.value());
      model.rounding = rounding.value_or(Rounding::kOnce);
      if (rounding) continue;
      diagnostics_.error(ErrorKind::kInvalidInput, "model", "",
                         fmt::format("its metadata '{}' are '{}'", kRoundingProperty, property.value()),
                         "they can be once, float or twice");
    }
  }

  static void read_opsets(const onnx::ModelProto& proto, OnnxModel& model) {
    for (const auto& opset : proto.opset_import()) {
      const std::string domain = plain_domain(opset.domain());
      if (!domain.empty()) {
        model.other_domains[domain] = opset.version();
        continue;
      }
      if (opset.version() < kOldestOpset || opset.version() > kNewestOpset) {
        throw Error(ErrorKind::kUnsupported,
                    fmt::format("opset {} is not among those that can be read ({} to {})", opset.version(),
                                kOldestOpset, kNewestOpset),
                    "export the model with another opset version, 17 for example");
      }
      if (model.opset != 0 && model.opset != opset.version()) {
        throw Error(ErrorKind::kInvalidInput,
                    fmt::format("imports the standard operators in two versions, {} and {}", model.opset,
                                opset.version()));
      }
      model.opset = int(opset.version());
    }
    if (model.opset == 0 && model.other_domains.empty()) {
      throw Error(ErrorKind::kInvalidInput, "does not state the opset its operators belong to");
    }
    if (model.opset == 0) model.opset = 17;  // no standard operators in it
  }

  static OnnxValueInfo value_info(const onnx::ValueInfoProto& proto) {
    OnnxValueInfo info;
    info.name = proto.name();
    switch (proto.type().value_case()) {
      case onnx::TypeProto::kTensorType:
        break;
      case onnx::TypeProto::kSequenceType:
        info.type_name = "a sequence";
        return info;
      case onnx::TypeProto::kMapType:
        info.type_name = "a map";
        return info;
      case onnx::TypeProto::kOptionalType:
        info.type_name = "an optional";
        return info;
      case onnx::TypeProto::kSparseTensorType:
        info.type_name = "a sparse tensor";
        return info;
      default:
        info.type_name = "of no stated type";
        return info;
    }
    const auto& tensor = proto.type().tensor_type();
    info.type = element_type_from_onnx(tensor.elem_type());
    info.type_name = "a tensor of " + onnx_type_name(tensor.elem_type());
    if (info.type) info.type = element_type_from_note(proto.doc_string()).value_or(*info.type);
    info.has_shape = tensor.has_shape();
    for (const auto& dim : tensor.shape().dim()) {
      info.dims.push_back(
          {dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1, dim.dim_param()});
    }
    return info;
  }

  OnnxNode node(onnx::NodeProto& proto, int index) {
    OnnxNode result;
    result.name = proto.name();
    result.domain = plain_domain(proto.domain());
    result.op = proto.op_type();
    result.inputs = to_vector<decltype(proto.input()), std::string>(proto.input());
    result.outputs = to_vector<decltype(proto.output()), std::string>(proto.output());
    if (!result.name.empty()) {
      result.label = fmt::format("node '{}'", result.name);
    } else {
      const std::string output = result.outputs.empty() ? "" : result.outputs[0];
      result.label = fmt::format("node #{} (output '{}')", index, output);
    }
    for (auto& attribute : *proto.mutable_attribute()) {
      if (is_control_flow(result.op) && attribute_type(attribute) == onnx::AttributeProto::GRAPH) {
        auto body = std::make_shared<OnnxGraph>();
        read_graph(*attribute.mutable_g(), *body);
        result.graphs[attribute.name()] = std::move(body);
        continue;
      }
      auto value = attribute_value(attribute, result);
      if (value) {
        result.attributes[attribute.name()] = std::move(*value);
      } else {
        result.is_usable = false;
      }
    }
    return result;
  }

  // Files of the first versions leave the type out: then the field that is set says it.
  static onnx::AttributeProto_AttributeType attribute_type(const onnx::AttributeProto& proto) {
    using Type = onnx::AttributeProto;
    if (proto.has_type() && proto.type() != Type::UNDEFINED) return proto.type();
    if (proto.has_f()) return Type::FLOAT;
    if (proto.has_i()) return Type::INT;
    if (proto.has_s()) return Type::STRING;
    if (proto.has_t()) return Type::TENSOR;
    if (proto.has_g()) return Type::GRAPH;
    if (proto.floats_size() > 0) return Type::FLOATS;
    if (proto.ints_size() > 0) return Type::INTS;
    if (proto.strings_size() > 0) return Type::STRINGS;
    return Type::UNDEFINED;
  }

  std::optional<Attribute> attribute_value(const onnx::AttributeProto& proto, const OnnxNode& owner) {
    using Type = onnx::AttributeProto;
    const auto refuse = [&](ErrorKind kind, const std::string& message) {
      diagnostics_.error(kind, owner.label, owner.op, message);
      return std::nullopt;
    };
    switch (attribute_type(proto)) {
      case Type::FLOAT:
        return Attribute(proto.f());
      case Type::INT:
        return Attribute(int64_t(proto.i()));
      case Type::STRING:
        return Attribute(proto.s());
      case Type::FLOATS:
        return Attribute(to_vector<decltype(proto.floats()), float>(proto.floats()));
      case Type::INTS:
        return Attribute(to_vector<decltype(proto.ints()), int64_t>(proto.ints()));
      case Type::STRINGS:
        return Attribute(to_vector<decltype(proto.strings()), std::string>(proto.strings()));
      case Type::TENSOR: {
        const std::string where = fmt::format("{}, attribute '{}'", owner.label, proto.name());
        auto tensor = tensor_from_proto(proto.t(), where, tensor_options_, diagnostics_);
        if (!tensor) return std::nullopt;
        return Attribute(std::move(*tensor));
      }
      case Type::GRAPH:
      case Type::GRAPHS:
        return refuse(ErrorKind::kUnsupported, fmt::format("has a subgraph in attribute '{}'", proto.name()));
      case Type::UNDEFINED:
        return refuse(ErrorKind::kInvalidInput, fmt::format("attribute '{}' has no type", proto.name()));
      default:
        return refuse(ErrorKind::kUnsupported,
                      fmt::format("attribute '{}' is of a kind that is not supported", proto.name()));
    }
  }

  ExternalData external_;
  TensorProtoOptions tensor_options_;
  Diagnostics& diagnostics_;
};

}  // namespace

OnnxModel parse_onnx_model(std::span<const std::byte> bytes, const OnnxModelOptions& options,
                           Diagnostics& diagnostics) {
  if (bytes.size() > size_t(INT_MAX)) {
    throw Error(ErrorKind::kUnsupported, "is larger than 2 GiB", "store its weights as external data");
  }
  // Damaged files are an ordinary input here: the library's own complaint on stderr is not wanted.
  const google::protobuf::LogSilencer silence;
  onnx::ModelProto proto;
  if (bytes.empty() || !proto.ParseFromArray(bytes.data(), int(bytes.size()))) {
    throw Error(ErrorKind::kInvalidInput, "is not an ONNX model (or is cut short, or nested deeper than 100)",
                "give an ONNX, TensorFlow or TFLite model");
  }
  if (!proto.has_graph()) throw Error(ErrorKind::kInvalidInput, "has no graph");
  return ModelParser(options, diagnostics).parse(proto);
}

}  // namespace tilewright
