// For tests: ONNX files made field by field in the wire format, so that they can be of any opset and as wrong
// as needed without the protobuf classes. Field numbers: onnx.proto.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tilewright::onnx_testing {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += char((value & 0x7F) | 0x80);
  return bytes + char(value);
}
inline std::string number(int field, int64_t value) {
  return varint(uint64_t(field) << 3) + varint(uint64_t(value));
}
inline std::string bytes(int field, const std::string& payload) {
  return varint(uint64_t(field) << 3 | 2) + varint(payload.size()) + payload;
}
inline std::string single(int field, float value) {
  std::string payload(4, '\0');
  std::memcpy(payload.data(), &value, 4);
  return varint(uint64_t(field) << 3 | 5) + payload;
}
template <typename T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Dimensions: "3x?xN" (a name is symbolic, ? has none); "" is a scalar.
inline std::string value_info(const std::string& name, int type, const std::string& dims) {
  std::string shape;
  for (size_t at = 0; at < dims.size();) {
    const size_t end = std::min(dims.find('x', at), dims.size());
    const std::string dim = dims.substr(at, end - at);
    const bool is_size = dim.find_first_not_of("-0123456789") == std::string::npos;
    shape += bytes(1, dim == "?" ? "" : is_size ? number(1, std::stoll(dim)) : bytes(2, dim));
    at = end + 1;
  }
  return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, shape)));
}

inline std::string tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                          const std::string& data) {
  std::string text;
  for (const int64_t dim : dims) text += number(1, dim);
  return text + number(2, type) + bytes(8, name) + bytes(9, data);
}
inline std::string floats(const std::string& name, const std::vector<int64_t>& dims,
                          const std::vector<float>& values) {
  return tensor(name, 1, dims, raw(values));
}
inline std::string int64s(const std::string& name, const std::vector<int64_t>& values) {
  return tensor(name, 7, {int64_t(values.size())}, raw(values));
}

inline std::string int_attribute(const std::string& name, int64_t value) {
  return bytes(5, bytes(1, name) + number(3, value) + number(20, 2));
}
inline std::string float_attribute(const std::string& name, float value) {
  return bytes(5, bytes(1, name) + single(2, value) + number(20, 1));
}
inline std::string string_attribute(const std::string& name, const std::string& value) {
  return bytes(5, bytes(1, name) + bytes(4, value) + number(20, 3));
}
inline std::string tensor_attribute(const std::string& name, const std::string& value) {
  return bytes(5, bytes(1, name) + bytes(5, value) + number(20, 4));
}
inline std::string ints_attribute(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = bytes(1, name);
  for (const int64_t value : values) text += number(8, value);
  return bytes(5, text + number(20, 7));
}
inline std::string floats_attribute(const std::string& name, const std::vector<float>& values) {
  std::string text = bytes(1, name);
  for (const float value : values) text += single(7, value);
  return bytes(5, text + number(20, 6));
}
inline std::string strings_attribute(const std::string& name, const std::vector<std::string>& values) {
  std::string text = bytes(1, name);
  for (const std::string& value : values) text += bytes(9, value);
  return bytes(5, text + number(20, 8));
}
// `graph`: ModelText::graph() of the body.
inline std::string graph_attribute(const std::string& name, const std::string& graph = "") {
  return bytes(5, bytes(1, name) + bytes(6, graph) + number(20, 5));
}

struct ModelText {
  int opset = 17;
  std::string inputs, outputs, initializers, nodes, extra;

  ModelText& input(const std::string& name, const std::string& dims, int type = 1) {
    inputs += bytes(11, value_info(name, type, dims));
    return *this;
  }
  ModelText& output(const std::string& name, const std::string& dims = "", int type = 1) {
    // Without dims, no shape is declared.
    outputs += bytes(12, dims.empty() ? bytes(1, name) + bytes(2, bytes(1, number(1, type)))
                                      : value_info(name, type, dims));
    return *this;
  }
  ModelText& initializer(const std::string& tensor_text) {
    initializers += bytes(5, tensor_text);
    return *this;
  }
  ModelText& node(const std::string& name, const std::string& op, const std::vector<std::string>& node_inputs,
                  const std::vector<std::string>& node_outputs, const std::string& attributes = "",
                  const std::string& domain = "") {
    std::string text;
    for (const std::string& value : node_inputs) text += bytes(1, value);
    for (const std::string& value : node_outputs) text += bytes(2, value);
    text += bytes(3, name) + bytes(4, op) + attributes + (domain.empty() ? "" : bytes(7, domain));
    nodes += bytes(1, text);
    return *this;
  }
  std::string graph() const { return nodes + bytes(2, "test") + initializers + inputs + outputs; }
  std::vector<std::byte> build() const {
    const std::string text = number(1, 8) + bytes(8, number(2, opset)) + extra + bytes(7, graph());
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
  }
};

}  // namespace tilewright::onnx_testing
