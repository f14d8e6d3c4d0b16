#include "tilewright/base/yaml.h"

#include <fmt/format.h>

#include <utility>

#include "tilewright/base/file.h"

namespace tilewright {

YAML::Node parse_yaml(const std::string& text, const std::string& source_name) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& e) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{}:{}:{}: {}", source_name, e.mark.line + 1, e.mark.column + 1, e.msg));
  }
}

YAML::Node read_yaml_file(const std::filesystem::path& path) {
  return parse_yaml(read_text_file(path, size_t{1} << 24), path.string());
}

YamlMap::YamlMap(YAML::Node node, std::string where, Diagnostics& diagnostics)
    : node_(std::move(node)), where_(std::move(where)), diagnostics_(diagnostics) {
  if (!node_.IsDefined() || !node_.IsMap()) {
    diagnostics_.error(ErrorKind::kInvalidInput, location(node_), "",
                       "a map of 'field: value' lines is expected");
    node_ = YAML::Node(YAML::NodeType::Map);
  }
}

std::string YamlMap::location(const YAML::Node& node) const {
  if (!node.IsDefined() || node.Mark().is_null()) return where_;
  return fmt::format("{}:{}", where_, node.Mark().line + 1);
}

bool YamlMap::has(const std::string& key) const { return std::as_const(node_)[key].IsDefined(); }

YAML::Node YamlMap::child(const std::string& key) {
  known_.insert(key);
  return has(key) ? node_[key] : YAML::Node(YAML::NodeType::Undefined);
}

void YamlMap::error(const std::string& key, const std::string& message, const std::string& hint) {
  diagnostics_.error(ErrorKind::kInvalidInput, location(has(key) ? node_[key] : node_), key, message, hint);
}

int64_t YamlMap::integer(const std::string& key, int64_t low, int64_t high, std::optional<int64_t> fallback) {
  known_.insert(key);
  if (!has(key)) {
    if (!fallback) error(key, "missing field", fmt::format("give an integer in {}..{}", low, high));
    return fallback.value_or(low);
  }
  int64_t value = 0;
  if (!YAML::convert<int64_t>::decode(node_[key], value) || value < low || value > high) {
    error(key, fmt::format("'{}' is not an integer in {}..{}",
                           node_[key].IsScalar() ? node_[key].Scalar() : "...", low, high));
    return fallback.value_or(low);
  }
  return value;
}

double YamlMap::number(const std::string& key, double low, double high, std::optional<double> fallback) {
  known_.insert(key);
  if (!has(key)) {
    if (!fallback) error(key, "missing field", fmt::format("give a number in {}..{}", low, high));
    return fallback.value_or(low);
  }
  double value = 0;
  if (!YAML::convert<double>::decode(node_[key], value) || !(value >= low && value <= high)) {
    error(key, fmt::format("'{}' is not a number in {}..{}",
                           node_[key].IsScalar() ? node_[key].Scalar() : "...", low, high));
    return fallback.value_or(low);
  }
  return value;
}

std::string YamlMap::text(const std::string& key, std::optional<std::string> fallback) {
  known_.insert(key);
  if (!has(key)) {
    if (!fallback) error(key, "missing field", "give a text");
    return fallback.value_or("");
  }
  if (!node_[key].IsScalar()) {
    error(key, "a text is expected");
    return fallback.value_or("");
  }
  return node_[key].Scalar();
}

bool YamlMap::boolean(const std::string& key, std::optional<bool> fallback) {
  known_.insert(key);
  bool value = fallback.value_or(false);
  if (!has(key)) {
    if (!fallback) error(key, "missing field", "give true or false");
  } else if (!YAML::convert<bool>::decode(node_[key], value)) {
    error(key, "true or false is expected");
  }
  return value;
}

void YamlMap::finish() {
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "...";
    if (known_.count(key)) continue;
    std::string fields;
    for (const std::string& name : known_) fields += (fields.empty() ? "" : ", ") + name;
    diagnostics_.error(ErrorKind::kInvalidInput, location(entry.first), key, "unknown field",
                       "known fields: " + fields);
  }
}

}  // namespace tilewright
