// Named numbers of a hardware file, so that a family of machines is one file with a few lines changed:
//   parameters: {rows: 16, columns: rows, words: 512 * rows * columns / 2}
// Wherever the file expects a number it may give an expression of them: + - * / and parentheses.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

class ArrayParameters {
 public:
  // Reads the map `node` (undefined: no parameters). Reported: text that is not an expression, unknown names,
  // a division by zero, parameters that depend on themselves (with the cycle).
  ArrayParameters(const YAML::Node& node, std::string source_name, Diagnostics& diagnostics);

  const std::map<std::string, double>& values() const { return values_; }
  // Replaces every scalar below `node` that uses a parameter by its value. Texts under the keys `name`,
  // `curve`, `may_keep` and `must_keep` stay.
  void substitute(YAML::Node node, Diagnostics& diagnostics) const;

 private:
  struct Resolver;
  std::string location(const YAML::Node& node) const;
  void substitute_below(YAML::Node node, int depth, int& budget, Diagnostics& diagnostics) const;

  std::string source_name_;
  std::map<std::string, double> values_;
};

// The value of an expression of numbers and names. Nothing, with the reason, if it has none.
std::optional<double> evaluate_expression(const std::string& text, const std::map<std::string, double>& names,
                                          std::string& problem);

}  // namespace tilewright
