// Lists are words separated by blanks or commas. `order` is written outermost loop first and stored
// innermost first. The printer leaves out what constrains nothing.
#include "tilewright/spatial/mapspace/mapspace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"

namespace tilewright {
namespace {

constexpr const char* kOthers = "others";

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; (begin = text.find_first_not_of(" ,", begin)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" ,", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

template <typename Items>
std::string known_names(const Items& items) {
  std::string names;
  for (const auto& item : items) names += (names.empty() ? "" : ", ") + item.name;
  return names;
}

class LevelReader {
 public:
  LevelReader(YamlMap& map, const Workload& workload) : map_(map), workload_(workload) {}

  LevelConstraints read() {
    LevelConstraints level;
    level.temporal = factors("temporal");
    level.spatial_x = factors("spatial_x");
    level.spatial_y = factors("spatial_y");
    for (const std::string& word : split_words(map_.text("order", ""))) {
      const std::optional<int> d = dimension("order", word);
      if (!d) continue;
      if (std::find(level.innermost.begin(), level.innermost.end(), *d) != level.innermost.end()) {
        map_.error("order", fmt::format("dimension {} is named twice", word));
      }
      level.innermost.insert(level.innermost.begin(), *d);
    }
    level.must_keep = spaces("keep");
    level.must_bypass = spaces("bypass");
    level.one_axis_per_dimension = map_.boolean("one_axis_per_dimension", false);
    return level;
  }

 private:
  std::optional<int> dimension(const std::string& key, const std::string& name) {
    const std::optional<int> d = workload_.find_dimension(name);
    if (!d) {
      map_.error(key, fmt::format("the workload has no dimension '{}'", name),
                 "dimensions: " + known_names(workload_.dimensions));
    }
    return d;
  }

  std::vector<int64_t> factors(const std::string& key) {
    const std::vector<std::string> words = split_words(map_.text(key, ""));
    if (words.empty()) return {};
    std::vector<int64_t> result(workload_.dimensions.size(), kFree);
    std::set<int> named;
    int64_t others = kFree;
    for (const std::string& word : words) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      int64_t factor = kFree;
      if (equals != std::string::npos) {
        const char* end = word.data() + word.size();
        const auto [stop, error] = std::from_chars(word.data() + equals + 1, end, factor);
        if (error != std::errc() || stop != end || factor < 1) {
          map_.error(key, fmt::format("'{}' is not of the form DIMENSION or DIMENSION=FACTOR", word),
                     "factors are integers of at least 1");
          factor = 1;
        }
      }
      if (name == kOthers) {
        others = factor;
        continue;
      }
      const std::optional<int> d = dimension(key, name);
      if (!d) continue;
      if (!named.insert(*d).second) map_.error(key, fmt::format("dimension {} is named twice", name));
      result[size_t(*d)] = factor;
    }
    for (int d = 0; d < workload_.dimension_count(); ++d) {
      if (!named.count(d)) result[size_t(d)] = others;
    }
    return result;
  }

  uint32_t spaces(const std::string& key) {
    uint32_t bits = 0;
    for (const std::string& word : split_words(map_.text(key, ""))) {
      const std::optional<int> space = workload_.find_data_space(word);
      if (space) {
        bits |= 1u << *space;
      } else {
        map_.error(key, fmt::format("the workload has no data space '{}'", word),
                   "data spaces: " + known_names(workload_.data_spaces));
      }
    }
    return bits;
  }

  YamlMap& map_;
  const Workload& workload_;
};

std::string print_factors(const Workload& workload, const std::string& key,
                          const std::vector<int64_t>& factors) {
  std::string words;
  for (size_t d = 0; d < factors.size(); ++d) {
    if (factors[d] == kFree) continue;
    words += fmt::format(" {}={}", workload.dimensions[d].name, factors[d]);
  }
  return words.empty() ? "" : fmt::format("  {}:{}\n", key, words);
}

std::string print_spaces(const Workload& workload, const std::string& key, uint32_t spaces) {
  std::string words;
  for (int space = 0; space < workload.data_space_count(); ++space) {
    if (spaces >> space & 1u) words += " " + workload.data_spaces[size_t(space)].name;
  }
  return words.empty() ? "" : fmt::format("  {}:{}\n", key, words);
}

}  // namespace

Mapspace parse_mapspace(const std::string& text, const std::string& source_name, const Workload& workload,
                        const ArrayHardware& hardware) {
  Diagnostics diagnostics;
  const YAML::Node root = parse_yaml(text, source_name);
  YamlMap map(root, source_name, diagnostics);
  Mapspace mapspace{workload, hardware, std::vector<LevelConstraints>(hardware.levels.size()), false};
  map.text("name", "");
  mapspace.imperfect = map.boolean("imperfect", false);
  const YAML::Node levels = map.child("levels");
  map.finish();
  std::set<std::string> seen;
  if (levels.IsDefined() && !levels.IsSequence()) map.error("levels", "a list of levels is expected");
  for (size_t i = 0; levels.IsDefined() && levels.IsSequence() && i < levels.size(); ++i) {
    const bool is_map = levels[i].IsMap();
    YamlMap fields(levels[i], source_name, diagnostics);
    if (!is_map) continue;
    const std::string name = fields.text("level");
    const auto level = std::find_if(hardware.levels.begin(), hardware.levels.end(),
                                    [&](const ArrayLevel& l) { return l.name == name; });
    const LevelConstraints constraints = LevelReader(fields, workload).read();
    fields.finish();
    if (level == hardware.levels.end()) {
      if (fields.has("level")) {
        fields.error("level", fmt::format("the array has no level '{}'", name),
                     "levels: " + known_names(hardware.levels));
      }
    } else if (!seen.insert(name).second) {
      fields.error("level", fmt::format("a second list of constraints for '{}'", name));
    } else {
      mapspace.constraints[size_t(level - hardware.levels.begin())] = constraints;
    }
  }
  diagnostics.raise_if_any();
  return mapspace;
}

Mapspace read_mapspace(const std::filesystem::path& path, const Workload& workload,
                       const ArrayHardware& hardware) {
  return parse_mapspace(read_text_file(path, size_t{1} << 20), path.string(), workload, hardware);
}

std::string print_mapspace(const Mapspace& mapspace) {
  const Workload& workload = mapspace.workload;
  std::string text = fmt::format("imperfect: {}\nlevels:\n", mapspace.imperfect);
  std::string levels;
  for (size_t l = 0; l < mapspace.constraints.size(); ++l) {
    const LevelConstraints& level = mapspace.constraints[l];
    std::string fields = print_factors(workload, "temporal", level.temporal);
    fields += print_factors(workload, "spatial_x", level.spatial_x);
    fields += print_factors(workload, "spatial_y", level.spatial_y);
    std::string order;
    for (const int d : level.innermost) order = " " + workload.dimensions[size_t(d)].name + order;
    if (!order.empty()) fields += fmt::format("  order:{}\n", order);
    fields += print_spaces(workload, "keep", level.must_keep);
    fields += print_spaces(workload, "bypass", level.must_bypass);
    if (level.one_axis_per_dimension) fields += "  one_axis_per_dimension: true\n";
    if (!fields.empty()) levels += fmt::format("- level: {}\n{}", mapspace.hardware.levels[l].name, fields);
  }
  return levels.empty() ? fmt::format("imperfect: {}\n", mapspace.imperfect) : text + levels;
}

}  // namespace tilewright
