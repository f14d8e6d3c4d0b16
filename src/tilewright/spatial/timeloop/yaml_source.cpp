// A map's own keys come before those that it merges with `<<`, a map or a list of maps. The depth of merges
// and the number of nodes compared are limited, because aliases can make a short text very large.
#include "tilewright/spatial/timeloop/yaml_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/hardware/array_parameters.h"

namespace tilewright::timeloop {
namespace {

constexpr int kMostMerges = 16;
constexpr int kMostCompared = 100'000;

std::string underscored(std::string key) {
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

YAML::Node lookup(const YAML::Node& map, const std::string& key, int depth) {
  if (depth > kMostMerges || !map.IsDefined() || !map.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  YAML::Node merged(YAML::NodeType::Undefined);
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) continue;
    if (underscored(entry.first.Scalar()) == key) return entry.second;
    if (entry.first.Scalar() == "<<") merged.reset(entry.second);
  }
  if (merged.IsDefined() && merged.IsSequence()) {
    for (const YAML::Node& part : merged) {
      const YAML::Node found = lookup(part, key, depth + 1);
      if (found.IsDefined()) return found;
    }
  }
  return merged.IsDefined() ? lookup(merged, key, depth + 1) : merged;
}

// `left`: nodes that may still be compared.
bool same_within(const YAML::Node& a, const YAML::Node& b, int& left) {
  if (--left < 0 || a.Type() != b.Type()) return false;
  if (a.is(b)) return true;
  if (a.IsScalar()) return a.Scalar() == b.Scalar();
  if (a.size() != b.size()) return false;
  if (a.IsSequence()) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (!same_within(a[i], b[i], left)) return false;
    }
  }
  if (!a.IsMap()) return true;
  if (a.Tag() != b.Tag()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& entry) {
    return std::any_of(b.begin(), b.end(), [&](const auto& other) {
      return same_within(entry.first, other.first, left) && same_within(entry.second, other.second, left);
    });
  });
}

}  // namespace

std::string Source::where() const {
  if (!node.IsDefined() || node.Mark().is_null()) return file;
  return fmt::format("{}:{}", file, node.Mark().line + 1);
}

Source child(const Source& map, const std::string& key) { return map.with(lookup(map.node, key, 0)); }

bool same(const YAML::Node& a, const YAML::Node& b) {
  int left = kMostCompared;
  return same_within(a, b, left);
}

std::vector<Source> items(const Source& list) {
  std::vector<Source> result;
  if (!list.is_list()) return result;
  for (const YAML::Node& item : list.node) result.push_back(list.with(item));
  return result;
}

void Report::invalid(const Source& place, const std::string& key, const std::string& message,
                     const std::string& hint) {
  diagnostics_.error(ErrorKind::kInvalidInput, place.where(), key, message, hint);
}

void Report::unsupported(const Source& place, const std::string& key, const std::string& message,
                         const std::string& hint) {
  diagnostics_.error(ErrorKind::kUnsupported, place.where(), key, message, hint);
}

void Report::note(const Source& place, const std::string& key, const std::string& message) {
  if (!noted_.insert(place.file + '\n' + key + '\n' + message).second) return;
  notes_.push_back({ErrorKind::kUnsupported, place.where(), key, message, ""});
}

void Report::only_keys(const Source& map, const std::set<std::string>& known) {
  for (const auto& entry : map.node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "...";
    if (key == "<<" || known.count(underscored(key))) continue;
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    unsupported(map.with(entry.first), key, "this key is not understood", "understood: " + list);
  }
}

double Report::number(const Source& map, const std::string& key, double low, double high, double fallback,
                      const std::map<std::string, double>& names) {
  const Source value = child(map, key);
  if (!value) return fallback;
  double result = 0;
  std::string problem;
  if (!value.is_text()) {
    invalid(value, key, "a number is expected");
    return fallback;
  }
  if (!YAML::convert<double>::decode(value.node, result)) {
    const std::optional<double> evaluated = evaluate_expression(value.text(), names, problem);
    if (!evaluated) {
      invalid(value, key, fmt::format("'{}' is not a number: {}", value.text(), problem));
      return fallback;
    }
    result = *evaluated;
  }
  if (!(result >= low && result <= high)) {
    invalid(value, key, fmt::format("{} is not in {}..{}", result, low, high));
    return fallback;
  }
  return result;
}

int64_t Report::integer(const Source& map, const std::string& key, int64_t low, int64_t high,
                        int64_t fallback, const std::map<std::string, double>& names) {
  const double value = number(map, key, double(low), double(high), double(fallback), names);
  if (value == std::floor(value)) return int64_t(value);
  invalid(child(map, key), key, fmt::format("{} is not an integer", value));
  return fallback;
}

std::vector<std::string> Report::words(const Source& list, const std::string& key) {
  std::vector<std::string> result;
  if (list.is_list()) {
    for (const Source& item : items(list)) {
      if (item.is_text()) {
        result.push_back(item.text());
      } else {
        invalid(item, key, "a list of names is expected");
      }
    }
    return result;
  }
  if (list && !list.is_text()) invalid(list, key, "a list of names is expected");
  const std::string text = list.text();
  for (size_t begin = 0; (begin = text.find_first_not_of(" ,\n\t", begin)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" ,\n\t", begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

}  // namespace tilewright::timeloop
