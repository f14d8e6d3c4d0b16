// For tests: TensorFlow files made field by field in the wire format, so that they can be as wrong as needed.
#pragma once

#include <string>
#include <vector>

#include "support/frontend/model_builder_testing.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright::graphdef_testing {

using onnx_testing::bytes;
using onnx_testing::number;
using onnx_testing::raw;
using onnx_testing::single;

inline constexpr int kFloat = 1, kInt32 = 3, kString = 7, kInt64 = 9, kBool = 10;

// Sizes; -1 is unknown.
inline std::string shape_text(const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t dim : dims) text += bytes(2, number(1, dim));
  return text;
}

inline std::string attribute(const std::string& name, const std::string& value) {
  return bytes(5, bytes(1, name) + bytes(2, value));
}
inline std::string string_attribute(const std::string& name, const std::string& value) {
  return attribute(name, bytes(2, value));
}
inline std::string int_attribute(const std::string& name, int64_t value) {
  return attribute(name, number(3, value));
}
inline std::string float_attribute(const std::string& name, float value) {
  return attribute(name, single(4, value));
}
inline std::string bool_attribute(const std::string& name, bool value) {
  return attribute(name, number(5, value));
}
inline std::string type_attribute(const std::string& name, int type) {
  return attribute(name, number(6, type));
}
inline std::string shape_attribute(const std::string& name, const std::vector<int64_t>& dims) {
  return attribute(name, bytes(7, shape_text(dims)));
}
inline std::string ints_attribute(const std::string& name, const std::vector<int64_t>& values) {
  std::string list;
  for (const int64_t value : values) list += number(3, value);
  return attribute(name, bytes(1, list));
}
inline std::string tensor_attribute(const std::string& name, int type, const std::vector<int64_t>& dims,
                                    const std::string& content) {
  return attribute(name, bytes(8, number(1, type) + bytes(2, shape_text(dims)) + bytes(4, content)));
}

inline std::string node_text(const std::string& name, const std::string& op,
                             const std::vector<std::string>& inputs, const std::string& attributes = "") {
  std::string text = bytes(1, name) + bytes(2, op);
  for (const std::string& input : inputs) text += bytes(3, input);
  return text + attributes;
}

// Roles and names of tensors; inputs are four floats.
struct SignatureText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> inputs, outputs;
};

struct GraphDefText {
  std::vector<std::string> nodes;  // in the file's order, which need not be that of the edges
  std::string library;

  GraphDefText& node(const std::string& name, const std::string& op,
                     const std::vector<std::string>& inputs = {}, const std::string& attributes = "") {
    nodes.push_back(bytes(1, node_text(name, op, inputs, attributes)));
    return *this;
  }
  GraphDefText& placeholder(const std::string& name, const std::vector<int64_t>& dims, int type = kFloat) {
    return node(name, "Placeholder", {}, type_attribute("dtype", type) + shape_attribute("shape", dims));
  }
  GraphDefText& floats(const std::string& name, const std::vector<int64_t>& dims,
                       const std::vector<float>& values) {
    return node(name, "Const", {},
                type_attribute("dtype", kFloat) + tensor_attribute("value", kFloat, dims, raw(values)));
  }
  GraphDefText& ints(const std::string& name, const std::vector<int64_t>& dims,
                     const std::vector<int32_t>& values) {
    return node(name, "Const", {},
                type_attribute("dtype", kInt32) + tensor_attribute("value", kInt32, dims, raw(values)));
  }
  GraphDefText& boolean(const std::string& name, bool value) {
    return node(name, "Const", {},
                type_attribute("dtype", kBool) +
                    tensor_attribute("value", kBool, {}, std::string(1, value ? '\1' : '\0')));
  }
  GraphDefText& variable(const std::string& name, const std::vector<int64_t>& dims) {
    node(name, "VariableV2", {}, type_attribute("dtype", kFloat) + shape_attribute("shape", dims));
    return node(name + "/read", "Identity", {name});
  }
  // A function of the library with arguments and results by name; body made with node_text.
  GraphDefText& function(const std::string& name, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& body,
                         const std::vector<std::pair<std::string, std::string>>& results) {
    std::string signature = bytes(1, name), text;
    for (const std::string& argument : arguments) signature += bytes(2, bytes(1, argument));
    for (const auto& [output, source] : results) signature += bytes(3, bytes(1, output));
    for (const std::string& part : body) text += bytes(3, part);
    for (const auto& [output, source] : results) text += bytes(4, bytes(1, output) + bytes(2, source));
    library += bytes(1, bytes(1, signature) + text);
    return *this;
  }

  std::string text() const {
    std::string joined;
    for (const std::string& one : nodes) joined += one;
    return joined + (library.empty() ? "" : bytes(2, library));
  }
  std::vector<std::byte> build() const { return as_bytes(text()); }

  // With a serving signature from roles to tensor names.
  std::vector<std::byte> build_saved_model(const std::vector<std::pair<std::string, std::string>>& outputs,
                                           const std::string& tag = "serve") const {
    return build_served({{"serving_default", {}, outputs}}, tag);
  }
  std::vector<std::byte> build_served(const std::vector<SignatureText>& signatures,
                                      const std::string& tag = "serve") const {
    std::string meta = bytes(1, bytes(4, tag)) + bytes(2, text());
    for (const SignatureText& signature : signatures) {
      std::string tensors;
      for (const auto& [role, tensor] : signature.inputs)
        tensors += bytes(
            1, bytes(1, role) + bytes(2, bytes(1, tensor) + number(2, kFloat) + bytes(3, shape_text({4}))));
      for (const auto& [role, tensor] : signature.outputs)
        tensors += bytes(2, bytes(1, role) + bytes(2, bytes(1, tensor)));
      meta += bytes(5, bytes(1, signature.name) + bytes(2, tensors));
    }
    return as_bytes(number(1, 1) + bytes(2, meta));
  }

 private:
  static std::vector<std::byte> as_bytes(const std::string& text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
  }
};

}  // namespace tilewright::graphdef_testing
