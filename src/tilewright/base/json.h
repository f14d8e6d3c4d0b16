// JSON access that reports every wrong field instead of throwing at the first; the counterpart of yaml.h for
// the formats that are JSON only.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

// Parses a JSON document. Errors (invalid input): a syntax error with line and column, a field given twice,
// nesting deeper than 64.
nlohmann::json parse_json(const std::string& text, const std::string& source_name);

// Reads the fields of one JSON object, which must outlive the reader. Each accessor adds a diagnostic when
// the field has the wrong type or is out of range and returns the fallback; `finish` reports unread fields.
class JsonMap {
 public:
  // `where` names the object in messages, e.g. "graph.json: node 'a'". A value that is no object is reported.
  JsonMap(const nlohmann::json& value, std::string where, Diagnostics& diagnostics);

  bool has(const std::string& key) const;
  int64_t integer(const std::string& key, int64_t low, int64_t high, std::optional<int64_t> fallback = {});
  std::string text(const std::string& key, std::optional<std::string> fallback = {});
  bool boolean(const std::string& key, std::optional<bool> fallback = {});
  // The child as a list; nothing if it is not a list (reported) or absent.
  const nlohmann::json* list(const std::string& key);
  // The raw child; null pointer when absent.
  const nlohmann::json* child(const std::string& key);
  void error(const std::string& key, const std::string& message, const std::string& hint = {});
  // Reports every field that was never read.
  void finish();

 private:
  const nlohmann::json* object_ = nullptr;
  std::string where_;
  Diagnostics& diagnostics_;
  std::set<std::string> known_;
};

// The document, on one line or (`indent` from 0) on many. Documents contain names of files and nodes: bytes
// that are not UTF-8, which JSON cannot hold, become U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);
// A text as written in such a document, with its quotes; a scalar of YAML, too. In the second form
// characters beyond ASCII are "\u00e9".
std::string json_quoted(const std::string& text);
std::string ascii_json_quoted(const std::string& text);

// The value where it is an integer in low..high.
std::optional<int64_t> json_integer(const nlohmann::json& value, int64_t low, int64_t high);

}  // namespace tilewright
