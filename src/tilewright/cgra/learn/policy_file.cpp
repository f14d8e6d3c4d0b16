// Policies as JSON files: a few ten thousand numbers, readable anywhere, checked on reading.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/cgra/learn/policy_network.h"

namespace tilewright::cgra {

std::string print_policy(const PolicyWeights& weights) {
  std::string text = "{\"format\": \"tilewright-policy\", \"version\": 1,\n \"origin\": " +
                     nlohmann::json(weights.origin).dump() + ",\n \"tensors\": {";
  char number[32];
  for (int tensor = 0; tensor < kPolicyTensors; ++tensor) {
    text += std::string(tensor == 0 ? "\n" : ",\n") + "  \"" + policy_tensor_shape(tensor).name + "\": [";
    const std::vector<float>& values = weights.tensors[size_t(tensor)];
    for (size_t i = 0; i < values.size(); ++i) {
      std::snprintf(number, sizeof number, "%s%.9g", i == 0 ? "" : ",", double(values[i]));
      text += number;
    }
    text += "]";
  }
  return text + "\n }}\n";
}

namespace {

void read_tensor(const nlohmann::json& tensors, int tensor, const std::string& source,
                 std::vector<float>& values, Diagnostics& diagnostics) {
  const PolicyTensorShape& shape = policy_tensor_shape(tensor);
  const auto found = tensors.find(shape.name);
  const auto wrong = [&](const std::string& what) {
    diagnostics.add({.message = source + ": tensor " + shape.name + " " + what});
  };
  if (found == tensors.end()) return wrong("is missing");
  const size_t size = size_t(shape.rows) * size_t(shape.columns);
  if (!found->is_array() || found->size() != size)
    return wrong("should be a list of " + std::to_string(size) + " numbers");
  for (const nlohmann::json& value : *found) {
    if (!value.is_number() || !std::isfinite(value.get<float>()))
      return wrong("holds something that is not a finite number");
    values.push_back(value.get<float>());
  }
}

}  // namespace

PolicyWeights parse_policy(const std::string& text, const std::string& source_name) {
  const nlohmann::json file = parse_json(text, source_name);  // no deeper than copies can follow
  if (!file.is_object() || file.value("format", nlohmann::json()) != "tilewright-policy")
    throw Error(ErrorKind::kInvalidInput, source_name + ": not a policy file of tilewright");
  if (file.value("version", nlohmann::json()) != 1)
    throw Error(ErrorKind::kInvalidInput, source_name + ": the policy's version is not 1");
  PolicyWeights weights;
  Diagnostics diagnostics;
  const auto origin = file.find("origin");
  if (origin != file.end() && origin->is_string()) weights.origin = origin->get<std::string>();
  const nlohmann::json tensors = file.value("tensors", nlohmann::json());
  for (int tensor = 0; tensor < kPolicyTensors; ++tensor)
    read_tensor(tensors, tensor, source_name, weights.tensors.emplace_back(), diagnostics);
  diagnostics.raise_if_any();
  return weights;
}

PolicyWeights read_policy(const std::filesystem::path& path) {
  return parse_policy(read_text_file(path), path.string());
}

}  // namespace tilewright::cgra
