// The YAML form of mappings.
#include <fmt/format.h>

#include <charconv>

#include "tilewright/base/yaml.h"
#include "tilewright/nest/mapping.h"

namespace tilewright {
namespace {

template <typename Loops>
std::string print_loops(const Workload& workload, const Loops& loops) {
  std::string text;
  for (const auto& loop : loops) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", workload.dimensions[size_t(loop.dimension)].name,
                        loop.factor);
  }
  return text;
}

std::string print_spatial(const Workload& workload, const std::vector<SpatialLoop>& loops) {
  std::string text;
  for (const SpatialLoop& loop : loops) {
    text += fmt::format("{}{}:{}={}", text.empty() ? "" : " ", loop.axis == SpatialAxis::kX ? 'x' : 'y',
                        workload.dimensions[size_t(loop.dimension)].name, loop.factor);
  }
  return text;
}

uint32_t all_spaces(const Workload& workload) { return (1u << workload.data_space_count()) - 1u; }

class LevelParser {
 public:
  LevelParser(const Workload& workload, YAML::Node node, const std::string& where, Diagnostics& diagnostics)
      : workload_(workload), map_(std::move(node), where, diagnostics) {}

  MappingLevel parse() {
    MappingLevel level;
    level.name = map_.text("level");
    for_each_word("temporal", [&](std::string_view word) {
      TemporalLoop loop;
      if (parse_loop("temporal", word, loop.dimension, loop.factor)) level.temporal.push_back(loop);
    });
    for_each_word("spatial", [&](std::string_view word) {
      SpatialLoop loop;
      if (!word.starts_with("x:") && !word.starts_with("y:")) {
        map_.error("spatial", fmt::format("'{}' does not begin with x: or y:", word), "write x:M=16");
        return;
      }
      loop.axis = word[0] == 'x' ? SpatialAxis::kX : SpatialAxis::kY;
      if (parse_loop("spatial", word.substr(2), loop.dimension, loop.factor)) level.spatial.push_back(loop);
    });
    if (map_.has("keeps")) {
      level.keeps = ~all_spaces(workload_);
      for_each_word("keeps", [&](std::string_view word) {
        if (const auto space = workload_.find_data_space(word)) {
          level.keeps |= 1u << *space;
        } else {
          map_.error("keeps", fmt::format("the workload has no data space '{}'", word));
        }
      });
    }
    map_.finish();
    return level;
  }

 private:
  template <typename Body>
  void for_each_word(const std::string& key, Body&& body) {
    const std::string text = map_.text(key, "");
    size_t begin = 0;
    while ((begin = text.find_first_not_of(' ', begin)) != std::string::npos) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      body(std::string_view(text).substr(begin, end - begin));
      begin = end;
    }
  }

  bool parse_loop(const std::string& key, std::string_view word, int& dimension, int64_t& factor) {
    const size_t equals = word.find('=');
    const std::string_view digits = equals == std::string_view::npos ? "" : word.substr(equals + 1);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), factor);
    if (digits.empty() || result.ec != std::errc() || result.ptr != digits.data() + digits.size() ||
        factor < 1) {
      map_.error(key, fmt::format("'{}' is not of the form DIMENSION=FACTOR", word),
                 "factors are integers of at least 1");
      return false;
    }
    const auto found = workload_.find_dimension(word.substr(0, equals));
    if (!found) {
      map_.error(key, fmt::format("the workload has no dimension '{}'", word.substr(0, equals)));
      return false;
    }
    dimension = *found;
    return true;
  }

  const Workload& workload_;
  YamlMap map_;
};

}  // namespace

std::string print_mapping(const Workload& workload, const Mapping& mapping) {
  const uint32_t all = all_spaces(workload);
  std::string text;
  for (const MappingLevel& level : mapping.levels) {
    text += fmt::format("- level: {}\n", level.name);
    if (!level.temporal.empty()) {
      text += fmt::format("  temporal: {}\n", print_loops(workload, level.temporal));
    }
    if (!level.spatial.empty())
      text += fmt::format("  spatial: {}\n", print_spatial(workload, level.spatial));
    if ((level.keeps & all) == all) continue;
    std::string kept;
    for (int space = 0; space < workload.data_space_count(); ++space) {
      if (level.keeps_space(space)) {
        kept += (kept.empty() ? "" : " ") + workload.data_spaces[size_t(space)].name;
      }
    }
    text += kept.empty() ? "  keeps: \"\"\n" : fmt::format("  keeps: {}\n", kept);
  }
  return text.empty() ? "[]\n" : text;
}

Mapping parse_mapping(const std::string& text, const std::string& source_name, const Workload& workload) {
  const YAML::Node root = parse_yaml(text, source_name);
  Diagnostics diagnostics;
  Mapping mapping;
  if (!root.IsSequence()) {
    diagnostics.error(ErrorKind::kInvalidInput, source_name, "", "a mapping is a list of levels",
                      "begin each level with '- level: NAME'");
  } else {
    for (const YAML::Node& node : root) {
      mapping.levels.push_back(LevelParser(workload, node, source_name, diagnostics).parse());
    }
  }
  diagnostics.raise_if_any();
  return mapping;
}

}  // namespace tilewright
