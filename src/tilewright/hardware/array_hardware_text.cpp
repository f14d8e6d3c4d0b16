// Reading the YAML form of array descriptions: parameters are put in first, then the curves are read, then
// the levels, whose costs are looked up in the curves. The rules come last, each with the line of its field.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/hardware/array_hardware.h"
#include "tilewright/hardware/array_parameters.h"
#include "tilewright/hardware/array_rules.h"
#include "tilewright/hardware/memory_curve.h"
#include "tilewright/hardware/preset_files.h"

namespace tilewright {
namespace {

// Sections of other modules.
constexpr const char* kSections[] = {"study", "row_stationary"};

class ArrayReader {
 public:
  ArrayReader(YAML::Node root, std::string source_name, Diagnostics& diagnostics)
      : root_(std::move(root)), source_(std::move(source_name)), diagnostics_(diagnostics) {}

  ArrayHardware read() {
    complete_ = root_.IsMap();  // asked before YamlMap puts an empty map in its place
    YamlMap map(root_, source_, diagnostics_);
    if (!complete_) return hardware_;
    const ArrayParameters parameters(map.child("parameters"), source_, diagnostics_);
    for (const char* key : {"word_bits", "clock_mhz", "arithmetic", "curves", "levels"}) {
      const YAML::Node child = map.child(key);
      if (child.IsDefined()) parameters.substitute(child, diagnostics_);
    }
    whole_array(map);
    curves(map.child("curves"));
    arithmetic(map);
    levels(map);
    for (const char* name : kSections) {
      const YAML::Node section = map.child(name);
      if (section.IsDefined()) hardware_.sections[name] = YAML::Dump(section);
    }
    map.finish();
    if (complete_) rules();
    return hardware_;
  }

 private:
  std::string line(const YAML::Node& node) const {
    return node.IsDefined() && !node.Mark().is_null() ? fmt::format("{}:{}", source_, node.Mark().line + 1)
                                                      : source_;
  }
  void error(const YAML::Node& node, const std::string& key, const std::string& message,
             const std::string& hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, line(node), key, message, hint);
  }

  // A nested map, empty when absent.
  YamlMap nested(YamlMap& map, const std::string& key) {
    const YAML::Node child = map.child(key);
    return YamlMap(child.IsDefined() ? child : YAML::Node(YAML::NodeType::Map), source_, diagnostics_);
  }

  double cost(YamlMap& map, const std::string& key, std::optional<double> fallback = 0) {
    return map.number(key, 0, kMostArrayCost, fallback);
  }

  void whole_array(YamlMap& map) {
    const std::string kind = map.text("kind", "array");
    if (kind != "array") map.error("kind", "'" + kind + "' is not an array", "write 'kind: array'");
    hardware_.name = map.text("name", std::filesystem::path(source_).stem().string());
    hardware_.energy_unit = map.text("energy_unit", hardware_.energy_unit);
    hardware_.word_bits = map.integer("word_bits", 1, 64, hardware_.word_bits);
    hardware_.clock_mhz = cost(map, "clock_mhz");
  }

  void arithmetic(YamlMap& map) {
    YamlMap mac = nested(map, "arithmetic");
    hardware_.mac_energy = cost(mac, "energy", hardware_.mac_energy);
    hardware_.mac_area_um2 = cost(mac, "area_um2");
    mac.finish();
  }

  void curves(const YAML::Node& node) {
    if (!node.IsDefined()) return;
    if (!node.IsMap()) return error(node, "curves", "a map of named curves is expected");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "...";
      if (!seen.insert(name).second) error(entry.first, name, "it is given twice", "leave one out");
      YamlMap map(entry.second, source_, diagnostics_);
      MemoryCurve curve;
      const std::string scale = map.text("interpolation", "log");
      if (scale != "log" && scale != "linear") {
        map.error("interpolation", "'" + scale + "' is not an interpolation", "log or linear");
      }
      curve.logarithmic = scale == "log";
      curve.per_byte = map.boolean("per_byte", false);
      // Points for wider accesses than a word.
      const int64_t access_bits = map.integer("access_bits", 1, 4096, hardware_.word_bits);
      const YAML::Node points = map.child("points");
      map.finish();
      bool readable = points.IsDefined() && points.IsSequence();
      for (size_t i = 0; readable && i < points.size(); ++i) {
        const YAML::Node point = points[i];
        MemoryCurvePoint value;
        readable = point.IsSequence() && point.size() == 2 &&
                   YAML::convert<double>::decode(point[0], value.bytes) &&
                   YAML::convert<double>::decode(point[1], value.value);
        value.value *= double(hardware_.word_bits) / double(access_bits);
        curve.points.push_back(value);
      }
      const std::string problem = readable ? curve.problem() : "points must be a list of [bytes, value]";
      if (!problem.empty()) {
        error(entry.first, name, problem);
        curve = MemoryCurve{};
      }
      curves_[name] = curve;
    }
  }

  // The curve's cost of a memory of `words`; 0 with a message if there is none.
  double from_curve(YamlMap& map, const std::string& key, const std::string& name, double words) {
    const auto found = curves_.find(name);
    if (found == curves_.end()) {
      std::string known;
      for (const auto& [other, curve] : curves_) known += (known.empty() ? "" : ", ") + other;
      map.error(key, fmt::format("'{}' is neither a number nor a curve", name),
                known.empty() ? "the file has no curves" : "curves: " + known);
      return 0;
    }
    const MemoryCurve& curve = found->second;
    if (curve.points.empty()) return 0;  // reported with the curve
    const double bytes = words * double(hardware_.word_bits) / 8;
    if (!(bytes >= curve.smallest() && bytes <= curve.largest())) {
      map.error(key,
                bytes < 0 ? fmt::format("curve '{}' gives no cost of an unlimited memory", name)
                          : fmt::format("curve '{}' reaches from {} to {} bytes, the memory has {}", name,
                                        curve.smallest(), curve.largest(), bytes),
                "give a number or more points");
      return 0;
    }
    return curve.at(bytes);
  }

  void levels(YamlMap& map) {
    const YAML::Node list = map.child("levels");
    if (!list.IsDefined() || !list.IsSequence() || list.size() == 0) {
      map.error("levels", "a list of levels, outermost first, is expected");
      return;
    }
    if (list.size() > size_t(kMostArrayLevels)) {
      map.error("levels", fmt::format("{} levels are more than {}", list.size(), kMostArrayLevels));
      return;
    }
    for (const YAML::Node& node : list) {
      const bool is_map = node.IsMap();
      YamlMap fields(node, source_, diagnostics_);
      complete_ = complete_ && is_map;
      if (!is_map) continue;
      level_nodes_.push_back(node);
      hardware_.levels.push_back(level(fields, hardware_.levels.empty()));
      fields.finish();
    }
  }

  ArrayLevel level(YamlMap& map, bool outermost) {
    ArrayLevel level;
    level.name = map.text("name");
    capacity(map, outermost, level);
    uint32_t roomy = 0;
    for (size_t role = 0; role < kDataRoles; ++role) {
      const int64_t reserved = level.role_capacity_words[role];
      if ((reserved == kUnlimitedWords ? level.capacity_words : reserved) != 0) roomy |= 1u << role;
    }
    level.may_keep = roles(map, "may_keep", roomy);
    level.must_keep = roles(map, "must_keep", 0);
    level.copies = map.integer("copies", 1, 1 << 20, 1);
    level.overlaps_transfers = map.boolean("overlaps_transfers", true);
    energy(map, level);
    area(map, level);
    YamlMap ports = nested(map, "bandwidth");
    level.read_words_per_cycle = cost(ports, "read");
    level.write_words_per_cycle = cost(ports, "write");
    ports.finish();
    const YAML::Node fanout = map.child("fanout");
    if (fanout.IsDefined() && fanout.IsScalar()) {
      level.fanout_x = map.integer("fanout", 1, kMostArrayInstances, 1);
    } else {
      YamlMap axes = nested(map, "fanout");
      level.fanout_x = axes.integer("x", 1, kMostArrayInstances, 1);
      level.fanout_y = axes.integer("y", 1, kMostArrayInstances, 1);
      axes.finish();
    }
    network(map, level.network);
    return level;
  }

  void capacity(YamlMap& map, bool outermost, ArrayLevel& level) {
    const bool reserved = map.has("role_capacity_words") || map.has("role_capacity_bytes");
    const bool stated = map.has("capacity_words") || map.has("capacity_bytes") || map.has("capacity_kib");
    if (!stated && !reserved && !outermost) {
      map.error("capacity_words", "missing field",
                "give capacity_words, capacity_bytes, capacity_kib or role_capacity_words");
    }
    level.capacity_words = outermost ? kUnlimitedWords : 0;
    int units = 0;
    for (const auto& [key, unit_bits] : kCapacityUnits) {
      if (!map.has(key)) continue;
      if (++units == 2) map.error(key, "the capacity is given twice");
      level.capacity_words = words(map, key, unit_bits);
    }
    std::set<std::string> told;
    for (const auto& [key, unit_bits] : kRoleCapacityUnits) {
      if (!map.has(key)) continue;
      YamlMap by_role = nested(map, key);
      for (size_t role = 0; role < kDataRoles; ++role) {
        const char* name = kDataRoleNames[role];
        if (!by_role.has(name)) continue;
        if (!told.insert(name).second) by_role.error(name, "the capacity is given twice");
        level.role_capacity_words[role] = words(by_role, name, unit_bits);
      }
      by_role.finish();
    }
  }

  // A capacity in units of `unit_bits` (0: words) or `unlimited`.
  int64_t words(YamlMap& map, const std::string& key, int64_t unit_bits) {
    const YAML::Node node = map.child(key);
    if (node.IsScalar() && node.Scalar() == "unlimited") return kUnlimitedWords;
    if (unit_bits == 0) return map.integer(key, 0, kMostArrayWords);
    const double word_count =
        map.number(key, 0, double(kMostArrayWords), 0) * double(unit_bits) / double(hardware_.word_bits);
    if (word_count > double(kMostArrayWords)) {
      map.error(key, "more than 2^40 words", "or say unlimited");
      return 0;
    }
    return int64_t(word_count);
  }

  uint32_t roles(YamlMap& map, const std::string& key, uint32_t fallback) {
    if (!map.has(key)) return fallback;
    const std::string text = map.text(key, "");
    uint32_t bits = 0;
    for (size_t begin = 0; (begin = text.find_first_not_of(" ,", begin)) != std::string::npos;) {
      const size_t end = std::min(text.find_first_of(" ,", begin), text.size());
      const std::string word = text.substr(begin, end - begin);
      const auto* role = std::find(kDataRoleNames.begin(), kDataRoleNames.end(), word);
      if (role == kDataRoleNames.end()) {
        map.error(key, fmt::format("'{}' is not a data role", word), "input, weight and output");
      } else {
        bits |= 1u << (role - kDataRoleNames.begin());
      }
      begin = end;
    }
    return bits;
  }

  // The memories that make up one instance of a level.
  static std::vector<int64_t> memories(const ArrayLevel& level) {
    std::vector<int64_t> sizes;
    if (level.capacity_words != 0) sizes.push_back(level.capacity_words);
    for (const int64_t words : level.role_capacity_words) {
      if (words > 0) sizes.push_back(words);
    }
    return sizes;
  }

  void energy(YamlMap& map, ArrayLevel& level) {
    const std::vector<int64_t> sizes = memories(level);
    // Reserved memories have one energy between them: that of the largest.
    const double largest = sizes.empty() ? 0 : double(*std::max_element(sizes.begin(), sizes.end()));
    const bool unlimited = std::find(sizes.begin(), sizes.end(), kUnlimitedWords) != sizes.end();
    const double size = unlimited ? double(kUnlimitedWords) : largest;
    if (!map.has("energy")) {
      if (!sizes.empty()) map.error("energy", "missing field", "a number, a curve or {read, fill, update}");
      return;
    }
    const YAML::Node node = map.child("energy");
    double all = 0;
    if (node.IsScalar()) {
      all = number_or_curve(map, "energy", size);
    } else if (node.IsMap()) {
      YamlMap actions = nested(map, "energy");
      const bool curve = actions.has("curve");
      if (curve) all = from_curve(actions, "curve", actions.text("curve"), size);
      const std::optional<double> fallback = curve ? std::optional<double>(all) : std::nullopt;
      level.read_energy = cost(actions, "read", fallback);
      level.fill_energy = cost(actions, "fill", fallback);
      level.update_energy = cost(actions, "update", fallback);
      actions.finish();
      return;
    } else {
      map.error("energy", "a number, a curve or {read, fill, update} is expected");
    }
    level.read_energy = level.fill_energy = level.update_energy = all;
  }

  double number_or_curve(YamlMap& map, const std::string& key, double words) {
    const YAML::Node node = map.child(key);
    double value = 0;
    if (YAML::convert<double>::decode(node, value)) return cost(map, key);
    return from_curve(map, key, map.text(key), words);
  }

  void area(YamlMap& map, ArrayLevel& level) {
    if (!map.has("area_um2")) return;
    double value = 0;
    if (YAML::convert<double>::decode(map.child("area_um2"), value)) {
      level.area_um2 = cost(map, "area_um2");
      return;
    }
    for (const int64_t words : memories(level)) {
      level.area_um2 += from_curve(map, "area_um2", map.text("area_um2"), double(words));
    }
  }

  void network(YamlMap& map, ArrayNetwork& network) {
    YamlMap fields = nested(map, "network");
    network.multicast = fields.boolean("multicast", true);
    network.reduction = fields.boolean("reduction", true);
    network.delivery_energy = cost(fields, "delivery_energy");
    network.hop_energy = cost(fields, "hop_energy");
    const YAML::Node width = fields.child("words_per_cycle");
    if (width.IsDefined() && width.IsScalar()) {
      network.words_per_cycle.fill(cost(fields, "words_per_cycle"));
    } else {
      YamlMap by_role = nested(fields, "words_per_cycle");
      for (size_t role = 0; role < kDataRoles; ++role) {
        network.words_per_cycle[role] = cost(by_role, kDataRoleNames[role]);
      }
      by_role.finish();
    }
    fields.finish();
  }

  // The rules with the lines of their fields; a field that could not be read keeps its first message.
  void rules() {
    for (const ArrayProblem& p : array_problems(hardware_)) {
      const YAML::Node map = p.level < 0 ? root_ : level_nodes_[size_t(p.level)];
      const size_t dot = p.field.find('.');
      const std::string key = p.field.substr(0, dot);
      const YAML::Node field = std::as_const(map).IsMap() ? std::as_const(map)[key] : YAML::Node();
      const std::string place = line(field.IsDefined() && !field.IsNull() ? field : map);
      const bool reported =
          std::any_of(diagnostics_.errors().begin(), diagnostics_.errors().end(),
                      [&](const Diagnostic& d) { return d.where == place && (d.op == key || d.op.empty()); });
      if (!reported) diagnostics_.error(ErrorKind::kInvalidInput, place, p.field, p.message, p.hint);
    }
  }

  static constexpr std::pair<const char*, int64_t> kCapacityUnits[] = {
      {"capacity_words", 0}, {"capacity_bytes", 8}, {"capacity_kib", 8192}};
  static constexpr std::pair<const char*, int64_t> kRoleCapacityUnits[] = {{"role_capacity_words", 0},
                                                                           {"role_capacity_bytes", 8}};

  YAML::Node root_;
  std::string source_;
  Diagnostics& diagnostics_;
  ArrayHardware hardware_;
  std::map<std::string, MemoryCurve> curves_;
  std::vector<YAML::Node> level_nodes_;
  bool complete_ = true;  // false: parts are missing that the rules need
};

}  // namespace

ArrayHardware parse_array_hardware(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  ArrayHardware hardware = ArrayReader(parse_yaml(text, source_name), source_name, diagnostics).read();
  diagnostics.raise_if_any();
  return hardware;
}

ArrayHardware read_array_hardware(const std::filesystem::path& path) {
  return parse_array_hardware(read_text_file(path, size_t{1} << 20), path.string());
}

std::vector<std::string> array_preset_names(const std::filesystem::path& preset_folder) {
  return preset_names(preset_folder, "array");
}

ArrayHardware find_array_hardware(const std::string& name_or_path,
                                  const std::filesystem::path& preset_folder) {
  const std::vector<std::string> presets = array_preset_names(preset_folder);
  if (std::binary_search(presets.begin(), presets.end(), name_or_path)) {
    return read_array_hardware(preset_folder / (name_or_path + ".yaml"));
  }
  std::error_code failed;
  if (std::filesystem::is_regular_file(name_or_path, failed)) return read_array_hardware(name_or_path);
  throw no_such_preset(name_or_path, "array", preset_folder);
}

}  // namespace tilewright
