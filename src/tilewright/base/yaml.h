// YAML access that reports every wrong field with its line instead of throwing at the first.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

// Parses a YAML (or JSON) document. Errors (invalid input): unreadable file, syntax error with line and
// column.
YAML::Node parse_yaml(const std::string& text, const std::string& source_name);
YAML::Node read_yaml_file(const std::filesystem::path& path);

// A scalar in double quotes that reads back as `text`, whatever it holds; bytes that are no UTF-8 as U+FFFD.
std::string yaml_quoted(const std::string& text);

// Reads the fields of one YAML map. Each accessor adds a diagnostic when the field has the wrong type or is
// out of range and returns the fallback; `finish` reports unread fields.
class YamlMap {
 public:
  // `where` names the map in messages, e.g. "overlay.yaml". A node that is no map is reported.
  YamlMap(YAML::Node node, std::string where, Diagnostics& diagnostics);

  bool has(const std::string& key) const;
  int64_t integer(const std::string& key, int64_t low, int64_t high, std::optional<int64_t> fallback = {});
  double number(const std::string& key, double low, double high, std::optional<double> fallback = {});
  std::string text(const std::string& key, std::optional<std::string> fallback = {});
  bool boolean(const std::string& key, std::optional<bool> fallback = {});
  // The raw child, for nested maps and sequences; an undefined node when absent.
  YAML::Node child(const std::string& key);
  void error(const std::string& key, const std::string& message, const std::string& hint = {});
  // Reports every key that was never read or stands there twice.
  void finish();

 private:
  std::string location(const YAML::Node& node) const;
  YAML::Node node_;
  std::string where_;
  Diagnostics& diagnostics_;
  std::set<std::string> known_;
};

}  // namespace tilewright
