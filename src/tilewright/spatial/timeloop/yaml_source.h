// Reading Timeloop's YAML: keys with - or _, merge keys, numbers given as expressions, lists given as text;
// and the collection of everything wrong, unsupported or ignored.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright::timeloop {

// A YAML node and the file that contains it.
struct Source {
  YAML::Node node = YAML::Node(YAML::NodeType::Undefined);
  std::string file;

  Source() = default;
  Source(YAML::Node stated, std::string file_name) : node(std::move(stated)), file(std::move(file_name)) {}
  Source(const Source&) = default;
  // Assigning a YAML::Node writes through to the document; a Source is made to refer to another place.
  Source& operator=(const Source& other) {
    node.reset(other.node);
    file = other.file;
    return *this;
  }
  explicit operator bool() const { return node.IsDefined() && !node.IsNull(); }
  bool is_map() const { return bool(*this) && node.IsMap(); }
  bool is_list() const { return bool(*this) && node.IsSequence(); }
  bool is_text() const { return bool(*this) && node.IsScalar(); }
  std::string text() const { return is_text() ? node.Scalar() : ""; }
  Source with(YAML::Node other) const { return {std::move(other), file}; }
  // file:line
  std::string where() const;
};

// The child `key` of a map, written with - or _; looked up through `<<` as well. Undefined if there is none.
Source child(const Source& map, const std::string& key);
std::vector<Source> items(const Source& list);
// Whether two nodes say the same, whatever the order of keys; false for very large ones.
bool same(const YAML::Node& a, const YAML::Node& b);

class Report {
 public:
  void invalid(const Source& place, const std::string& key, const std::string& message,
               const std::string& hint = {});
  void unsupported(const Source& place, const std::string& key, const std::string& message,
                   const std::string& hint = {});
  // Once per key and message.
  void note(const Source& place, const std::string& key, const std::string& message);
  // Invalid for every key of `map` that is not in `known`.
  void only_keys(const Source& map, const std::set<std::string>& known);

  // A number, or an expression of numbers and `names`; the fallback with a message if it is neither.
  double number(const Source& map, const std::string& key, double low, double high, double fallback,
                const std::map<std::string, double>& names = {});
  int64_t integer(const Source& map, const std::string& key, int64_t low, int64_t high, int64_t fallback,
                  const std::map<std::string, double>& names = {});
  // The words of a list or of a text separated by blanks and commas.
  std::vector<std::string> words(const Source& list, const std::string& key);

  Diagnostics& diagnostics() { return diagnostics_; }
  const std::vector<Diagnostic>& notes() const { return notes_; }

 private:
  Diagnostics diagnostics_;
  std::vector<Diagnostic> notes_;
  std::set<std::string> noted_;
};

}  // namespace tilewright::timeloop
