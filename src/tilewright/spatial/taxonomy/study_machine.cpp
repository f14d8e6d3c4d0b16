// Reading study machines.
#include "tilewright/spatial/taxonomy/study_machine.h"

#include <fmt/format.h>

#include <utility>

#include "tilewright/base/yaml.h"

namespace tilewright::study {
namespace {

constexpr double kMostBytes = 1e12, kMostArea = 1e15;

// [[x, y], ...] with positive numbers and ascending x.
std::vector<std::pair<double, double>> read_curve(YamlMap& map, const std::string& key) {
  const YAML::Node list = map.child(key);
  std::vector<std::pair<double, double>> points;
  if (!list.IsDefined() || !list.IsSequence() || list.size() < 2) {
    map.error(key, "a list of at least two [x, y] pairs is expected");
    return {{1, 1}, {2, 1}};
  }
  for (const YAML::Node& entry : list) {
    std::pair<double, double> point;
    const bool ok = entry.IsSequence() && entry.size() == 2 &&
                    YAML::convert<double>::decode(entry[0], point.first) &&
                    YAML::convert<double>::decode(entry[1], point.second);
    if (!ok ||
        !(point.first > 0 && point.first < kMostArea && point.second > 0 && point.second < kMostArea)) {
      map.error(key, fmt::format("entry {} is not a pair of positive numbers", points.size() + 1));
      return {{1, 1}, {2, 1}};
    }
    if (!points.empty() && point.first <= points.back().first) {
      map.error(key, fmt::format("entry {} does not ascend", points.size() + 1));
      return {{1, 1}, {2, 1}};
    }
    points.push_back(point);
  }
  return points;
}

AreaModel read_area(YamlMap map) {
  AreaModel area;
  area.baseline_bytes_per_pe = map.number("baseline_bytes_per_pe", 0, kMostBytes);
  for (const auto& point : read_curve(map, "per_byte_um2")) area.area.push_back({point.first, point.second});
  for (const auto& point : read_curve(map, "bytes_of")) area.size.push_back({point.first, point.second});
  map.finish();
  return area;
}

}  // namespace

StudyMachine parse_study_machine(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  YamlMap map(parse_yaml(text, source_name), source_name, diagnostics);
  StudyMachine machine;
  machine.name = source_name;
  machine.pes = map.integer("pes", 1, int64_t{1} << 30);
  machine.word_bytes = map.integer("word_bytes", 1, 64, 2);
  YamlMap energy(map.child("energy"), source_name, diagnostics);
  machine.energy.dram = energy.number("dram", 0, 1e9);
  machine.energy.buffer = energy.number("buffer", 0, 1e9);
  machine.energy.array = energy.number("array", 0, 1e9);
  machine.energy.register_file = energy.number("register_file", 0, 1e9);
  machine.energy.alu = energy.number("alu", 0, 1e9);
  energy.finish();
  machine.buffer_bytes = map.number("buffer_bytes", 1, kMostBytes, 0);
  if (map.has("area")) {
    machine.area = read_area(YamlMap(map.child("area"), source_name, diagnostics));
  } else if (machine.buffer_bytes == 0) {
    map.error("area", "neither an area nor buffer_bytes is given");
  }
  if (map.has("run_length_code")) {
    YamlMap code(map.child("run_length_code"), source_name, diagnostics);
    machine.run_length_code =
        RunLengthCode{code.integer("run_bits", 1, 16), code.integer("pairs_per_word", 1, 1024),
                      code.integer("word_bits", 1, 65536)};
    code.finish();
  }
  map.finish();
  diagnostics.raise_if_any();
  return machine;
}

StudyMachine study_machine(const ArrayHardware& hardware) {
  const auto section = hardware.sections.find("study");
  if (section == hardware.sections.end()) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("array '{}' has no 'study' section, which dataflows are costed with", hardware.name),
        "use eyeriss-256, eyeriss-512 or eyeriss-1024, or see docs/reference/dataflows.md");
  }
  StudyMachine machine = parse_study_machine(section->second, fmt::format("{}, study", hardware.name));
  machine.name = hardware.name;
  Diagnostics diagnostics;
  const auto differs = [&](const char* field, int64_t here, int64_t there) {
    if (here == there) return;
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("{}, study", hardware.name), field,
                      fmt::format("{}, but the array has {}", here, there));
  };
  differs("pes", machine.pes, hardware.pe_count());
  differs("word_bytes", machine.word_bytes, hardware.word_bits / 8);
  diagnostics.raise_if_any();
  return machine;
}

}  // namespace tilewright::study
