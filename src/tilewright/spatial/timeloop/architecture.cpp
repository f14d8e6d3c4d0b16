// architecture_nodes.h brings the three forms into one list; here each memory becomes a level. A fan-out
// is the ratio of the instance counts of neighbouring levels, along x that of their meshX. An attribute that
// would change counts or time in Timeloop and has no counterpart here is refused, unless it has the value
// that changes nothing.
#include "tilewright/spatial/timeloop/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>

#include "tilewright/hardware/array_rules.h"
#include "tilewright/spatial/timeloop/architecture_nodes.h"

namespace tilewright::timeloop {
namespace {

constexpr int64_t kBitsPerKibibyte = 8192;

// Keys that change counts or time in Timeloop, with the value at which they do not.
const std::map<std::string, double> kNeutral{
    {"min_utilization", 0}, {"addr_gen_energy", 0},   {"allow_overbooking", 0},
    {"network_read", 0},    {"network_fill", 0},      {"network_drain", 0},
    {"network_update", 0},  {"network_word_bits", 0}, {"vector_access_energy", 0}};
const std::set<std::string> kUnderstood{"name",
                                        "instances",
                                        "meshX",
                                        "meshY",
                                        "entries",
                                        "depth",
                                        "memory_depth",
                                        "width",
                                        "memory_width",
                                        "word_bits",
                                        "datawidth",
                                        "block_size",
                                        "cluster_size",
                                        "sizeKB",
                                        "read_bandwidth",
                                        "write_bandwidth",
                                        "shared_bandwidth",
                                        "multiple_buffering",
                                        "reduction_supported",
                                        "global_cycle_seconds",
                                        "version"};

class ArchitectureBuilder {
 public:
  ArchitectureBuilder(const EnergyTable* table, const std::map<std::string, double>& variables,
                      Report& report)
      : table_(table), variables_(variables), report_(report) {}

  std::optional<Architecture> run(const Source& section) {
    const size_t before = report_.diagnostics().errors().size();
    if (!section.is_map()) {
      report_.invalid(section, "architecture", "a map is expected");
      return {};
    }
    const std::vector<ArchitectureNode> nodes = architecture_nodes(section, report_);
    if (nodes.empty()) return {};
    hardware().name = std::filesystem::path(section.file).stem().string();
    hardware().energy_unit = "pj";
    if (table_ == nullptr) report_.note(section, "ERT", "no energy table: every energy is 0");
    for (const ArchitectureNode& node : nodes) add(node);
    if (!has_arithmetic_) report_.invalid(section, "architecture", "no arithmetic inside the memories");
    parallel_keeps(nodes);
    if (report_.diagnostics().errors().size() != before) return {};
    rules(section);
    if (report_.diagnostics().errors().size() != before) return {};
    return std::move(result_);
  }

 private:
  ArrayHardware& hardware() { return result_.hardware; }

  // Whether the component stores words.
  bool stores(const ArchitectureNode& node) const {
    if (node.type == "compute") return false;
    for (const char* part : {"storage", "dram", "sram", "regfile", "buffer", "memory"}) {
      if (node.type.find(part) != std::string::npos) return true;
    }
    for (const char* key : {"depth", "memory_depth", "entries", "sizeKB"}) {
      if (node.attribute(key)) return true;
    }
    return false;
  }

  void add(const ArchitectureNode& node) {
    if (node.name.empty()) report_.invalid(node.place, "name", "a component needs a name");
    fan_out(node);
    if (node.fanout_only) return;
    if (!stores(node)) return arithmetic(node);
    if (has_arithmetic_) {
      report_.unsupported(node.place, node.name, "a memory inside the arithmetic");
      return;
    }
    attributes(node);
    ArrayLevel level;
    level.name = node.name;
    capacity(node, level);
    energy(node, level);
    level.read_words_per_cycle = rate(node, "read_bandwidth");
    level.write_words_per_cycle = rate(node, "write_bandwidth");
    const double shared = rate(node, "shared_bandwidth");
    if (shared > 0) {
      report_.unsupported(node.attribute("shared_bandwidth"), "shared_bandwidth",
                          "reads and writes that share a port", "state read_bandwidth and write_bandwidth");
    }
    level.copies = number(node, "multiple_buffering", 1, 1 << 20, 1);
    add_target(node.name, {int(hardware().levels.size()), false}, node.place);
    push(level, node);
    constraints(node, int(hardware().levels.size()) - 1, false);
  }

  void push(const ArrayLevel& level, const ArchitectureNode& node) {
    hardware().levels.push_back(level);
    instances_ = node.instances;
    mesh_x_ = node.mesh_x > 0 ? node.mesh_x : node.instances;
    open_ = true;
  }

  void add_target(const std::string& name, TargetLevel target, const Source& place) {
    if (!result_.targets.emplace(name, target).second) {
      report_.invalid(place, "name", fmt::format("a second component '{}'", name));
    }
  }

  // The fan-out from the last level to the node. A second container in a row gets a level of its own that
  // stores nothing, so that each can be constrained.
  void fan_out(const ArchitectureNode& node) {
    const int64_t node_x = node.mesh_x > 0 ? node.mesh_x : node.instances;
    if (hardware().levels.empty()) {
      if (node.instances != 1) {
        report_.unsupported(node.place, node.name, "several instances of the outermost memory");
      }
      if (node.fanout_only && node.constraints) {
        report_.unsupported(node.constraints, "constraints", "constraints outside of every memory");
      }
      return;
    }
    if (node.instances % instances_ != 0 || node_x % mesh_x_ != 0 ||
        (node.instances / instances_) % (node_x / mesh_x_) != 0) {
      report_.invalid(node.place, node.name,
                      fmt::format("{} instances (meshX {}) cannot be fed evenly by {} (meshX {})",
                                  node.instances, node_x, instances_, mesh_x_));
      return;
    }
    const int64_t x = node_x / mesh_x_, y = node.instances / instances_ / x;
    if (x * y == 1) {
      if (node.fanout_only && node.constraints) constraints(node, int(hardware().levels.size()) - 1, true);
      return;
    }
    if (!open_) {
      ArrayLevel level;
      level.name = node.name;
      if (!node.fanout_only) level.name = "inter_" + node.name + "_spatial";
      level.capacity_words = 0;
      level.may_keep = 0;
      result_.without_loops.push_back(int(hardware().levels.size()));
      hardware().levels.push_back(level);
      if (!node.fanout_only) add_target(level.name, {int(hardware().levels.size()) - 1, false}, node.place);
    }
    hardware().levels.back().fanout_x = x;
    hardware().levels.back().fanout_y = y;
    open_ = false;
    instances_ = node.instances;
    mesh_x_ = node_x;
    if (!node.fanout_only) return;
    const int level = int(hardware().levels.size()) - 1;
    add_target(node.name, {level, true}, node.place);
    add_target("inter_" + node.name + "_spatial", {level, true}, node.place);
    constraints(node, level, true);
  }

  void arithmetic(const ArchitectureNode& node) {
    if (has_arithmetic_) {
      report_.unsupported(node.place, node.name, "a second kind of arithmetic");
      return;
    }
    if (hardware().levels.empty()) {
      report_.invalid(node.place, node.name, "arithmetic without a memory");
      return;
    }
    has_arithmetic_ = true;
    attributes(node);
    constraints(node, int(hardware().levels.size()), false);
    hardware().word_bits = bits(node, hardware_bits_);
    if (table_ == nullptr) return;
    const auto found = table_->actions.find(node.name);
    if (found == table_->actions.end()) {
      report_.invalid(node.place, node.name, "the energy table has no such component");
    } else if (const std::optional<double> energy =
                   action_energy(found->second, {"mac_random", "mult_random", "mac", "mult", "compute"})) {
      hardware().mac_energy = *energy;
    } else {
      report_.unsupported(
          node.place, node.name,
          "the energy table gives it none of the actions compute, mac_random, mac, mult_random "
          "and mult");
    }
  }

  void attributes(const ArchitectureNode& node) {
    for (const Source& source : node.attributes) {
      if (!source.is_map()) continue;
      for (const auto& entry : source.node) {
        if (!entry.first.IsScalar()) continue;
        std::string key = entry.first.Scalar();
        std::replace(key.begin(), key.end(), '-', '_');
        const Source value = source.with(entry.second);
        if (kUnderstood.count(key) || key == "<<") continue;
        const auto neutral = kNeutral.find(key);
        bool flag = false;
        double number = 0;
        if (neutral == kNeutral.end()) {
          report_.note(value, key, "says nothing about counts here: not used");
        } else if (YAML::convert<bool>::decode(value.node, flag)
                       ? flag != (neutral->second != 0)
                       : !YAML::convert<double>::decode(value.node, number) || number != neutral->second) {
          report_.unsupported(value, key, fmt::format("'{}' is not modelled", value.text()),
                              fmt::format("{} would be", neutral->second));
        }
      }
    }
    const Source reduction = node.attribute("reduction_supported");
    bool reduces = true;
    if (reduction && (!YAML::convert<bool>::decode(reduction.node, reduces) || !reduces)) {
      report_.unsupported(reduction, "reduction_supported", "a memory that cannot add partial sums");
    }
    const double seconds = number_at(node, "global_cycle_seconds", 1e-12, 1, 0);
    if (seconds > 0) hardware().clock_mhz = 1 / (seconds * 1e6);
  }

  double number_at(const ArchitectureNode& node, const std::string& key, double low, double high,
                   double fallback) {
    for (auto source = node.attributes.rbegin(); source != node.attributes.rend(); ++source) {
      if (child(*source, key)) return report_.number(*source, key, low, high, fallback, names_of(node));
    }
    return fallback;
  }

  int64_t number(const ArchitectureNode& node, const std::string& key, int64_t low, int64_t high,
                 int64_t fallback) {
    const double value = number_at(node, key, double(low), double(high), double(fallback));
    if (value == std::floor(value)) return int64_t(value);
    report_.unsupported(node.attribute(key), key, fmt::format("{} is not an integer", value));
    return fallback;
  }

  // The numbers an attribute's expression may name: variables and plain numeric attributes.
  std::map<std::string, double> names_of(const ArchitectureNode& node) const {
    std::map<std::string, double> names = variables_;
    for (const Source& source : node.attributes) {
      if (!source.is_map()) continue;
      for (const auto& entry : source.node) {
        double value = 0;
        if (entry.first.IsScalar() && YAML::convert<double>::decode(entry.second, value)) {
          names[entry.first.Scalar()] = value;
        }
      }
    }
    return names;
  }

  // Of the first of these actions that the table has.
  static std::optional<double> action_energy(const std::map<std::string, double>& actions,
                                             std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (const auto found = actions.find(name); found != actions.end()) return found->second;
    }
    return {};
  }

  double rate(const ArchitectureNode& node, const std::string& key) {
    return number_at(node, key, 0, kMostArrayCost, 0);
  }

  int64_t bits(const ArchitectureNode& node, int64_t fallback) {
    return number(node, node.attribute("word_bits") ? "word_bits" : "datawidth", 1, 64, fallback);
  }

  void capacity(const ArchitectureNode& node, ArrayLevel& level) {
    const int64_t word_bits = bits(node, 16);
    if (hardware_bits_ == 0) hardware_bits_ = word_bits;
    if (word_bits != hardware_bits_ && node.type.find("dummy") == std::string::npos) {
      report_.note(node.place, "word_bits",
                   "memories have words of different widths: each capacity is in its own");
    }
    const Source technology = node.attribute("technology");
    std::string kind = technology ? technology.text() : "";
    const bool dram = kind == "DRAM" || node.type == "dram";
    const char* depth_key = node.attribute("memory_depth") ? "memory_depth" : "depth";
    const char* width_key = node.attribute("memory_width") ? "memory_width" : "width";
    constexpr int64_t kMost = kMostArrayWords;
    int64_t words = kUnlimitedWords;
    cluster_ = number(node, "cluster_size", 1, 1 << 20, 1);
    if (node.instances % cluster_ != 0) {
      report_.invalid(node.attribute("cluster_size"), "cluster_size",
                      fmt::format("{} instances do not make up clusters of {}", node.instances, cluster_));
    }
    block_ = number(node, "block_size", 1, 1 << 20, 0);
    if (block_ == 0) {
      const int64_t width = number(node, width_key, 1, 1 << 20, 0);
      block_ = width == 0 ? 1 : std::max<int64_t>(1, width / word_bits / cluster_);
    }
    if (node.type == "dummy_storage") {
      words = 0;
      level.may_keep = 0;
    } else if (dram) {
      words = kUnlimitedWords;
    } else if (node.attribute("entries")) {
      words = number(node, "entries", 0, kMost, 0);
    } else if (node.attribute("sizeKB")) {
      words = number(node, "sizeKB", 0, kMost / kBitsPerKibibyte, 0) * kBitsPerKibibyte / word_bits;
    } else if (node.attribute(depth_key)) {
      words = number(node, depth_key, 0, kMost / block_, 0) * block_;
    } else {
      report_.note(node.place, node.name, "no capacity is stated: unlimited");
    }
    if (hardware().levels.empty() && words != kUnlimitedWords) {
      report_.note(node.place, node.name, "the capacity of the outermost memory is not checked");
      words = kUnlimitedWords;
    }
    level.capacity_words = words;
    if (words == 0) level.may_keep = 0;
  }

  // The table gives energies of accesses to whole blocks.
  void energy(const ArchitectureNode& node, ArrayLevel& level) {
    if (table_ == nullptr) return;
    const auto found = table_->actions.find(node.name);
    if (found == table_->actions.end()) {
      if (level.capacity_words != 0) {
        report_.invalid(node.place, node.name, "the energy table has no such component");
      }
      return;
    }
    if (level.capacity_words == 0) return;
    const auto action = [&](std::initializer_list<const char*> names) {
      return action_energy(found->second, names).value_or(0) / double(block_ * cluster_);
    };
    level.read_energy = action({"random_read", "read"});
    level.fill_energy = action({"random_fill", "random_write", "fill", "write"});
    level.update_energy = action({"random_update", "random_write", "update", "random_fill", "fill", "write"});
    if (block_ > 1) {
      report_.note(node.place, node.name,
                   fmt::format("a word takes 1/{} of the energy of its block, full or not", block_));
    }
    if (cluster_ > 1) {
      report_.note(
          node.place, node.name,
          fmt::format("an access takes 1/{} of the energy of its cluster, however many instances of it "
                      "work",
                      cluster_));
    }
  }

  void constraints(const ArchitectureNode& node, int level, bool fanout_only) {
    if (!node.constraints) return;
    if (!node.constraints.is_map()) {
      return report_.invalid(node.constraints, "constraints", "a map is expected");
    }
    report_.only_keys(node.constraints, {"spatial", "temporal", "dataspace"});
    if (const Source spatial = child(node.constraints, "spatial")) {
      // The constraint of a component is that of the fan-out into it.
      const int outside = fanout_only ? level : level - 1;
      if (outside < 0) {
        report_.unsupported(spatial, "spatial", "a fan-out into the outermost memory");
      } else {
        result_.constraints.push_back({outside, DirectiveKind::kSpatial, spatial});
      }
    }
    for (const auto& [key, kind] :
         {std::pair{"temporal", DirectiveKind::kTemporal}, {"dataspace", DirectiveKind::kKeeps}}) {
      const Source body = child(node.constraints, key);
      if (!body) continue;
      if (fanout_only || level == int(hardware().levels.size())) {
        report_.unsupported(body, key, "containers and arithmetic store nothing and have no loops in time");
      } else {
        result_.constraints.push_back({level, kind, body});
      }
    }
  }

  // What one of the parallel memories keeps, the others do not.
  void parallel_keeps(const std::vector<ArchitectureNode>& nodes) {
    for (const ArchitectureNode& node : nodes) {
      if (node.parallel_group == 0 || !result_.targets.count(node.name)) continue;
      std::string kept;
      for (const ArchitectureNode& other : nodes) {
        if (other.parallel_group != node.parallel_group || &other == &node) continue;
        const Source dataspace = child(other.constraints, "dataspace");
        for (const char* key : {"keep", "keep_only"}) {
          for (const std::string& name : report_.words(child(dataspace, key), key)) kept += name + ",";
        }
      }
      if (kept.empty()) continue;
      YAML::Node body(YAML::NodeType::Map);
      body["bypass"] = kept;
      result_.constraints.push_back(
          {result_.targets.at(node.name).level, DirectiveKind::kKeeps, node.place.with(body)});
    }
  }

  void rules(const Source& section) {
    for (const ArrayProblem& p : array_problems(hardware())) {
      const std::string level = p.level < 0 ? "" : hardware().levels[size_t(p.level)].name;
      report_.invalid(section, level.empty() ? p.field : level, p.message, p.hint);
    }
  }

  const EnergyTable* table_;
  const std::map<std::string, double>& variables_;
  Report& report_;
  Architecture result_;
  int64_t instances_ = 1, mesh_x_ = 1;  // of what the last level feeds so far
  int64_t hardware_bits_ = 0;
  int64_t block_ = 1;    // words per access of the component at hand
  int64_t cluster_ = 1;  // instances that one access of its macro serves
  bool open_ = false;    // the last level has no fan-out yet
  bool has_arithmetic_ = false;
};

// "system.chip.PE[0..167].spad": the name after the last dot, without its range.
std::string component_name(const std::string& path) {
  size_t begin = 0;
  int brackets = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    brackets += path[i] == '[' ? 1 : path[i] == ']' ? -1 : 0;
    if (path[i] == '.' && brackets == 0) begin = i + 1;
  }
  int64_t count = 1;
  return without_range(path.substr(begin), count);
}

}  // namespace

EnergyTable read_energy_table(const Source& section, Report& report) {
  EnergyTable table;
  const Source tables = child(section, "tables");
  if (!tables.is_list()) {
    report.invalid(section, "ERT", "a list of tables is expected");
    return table;
  }
  for (const Source& component : items(tables)) {
    auto& actions = table.actions[component_name(child(component, "name").text())];
    for (const Source& action : items(child(component, "actions"))) {
      const double energy = report.number(action, "energy", 0, kMostArrayCost, 0);
      // Actions with arguments are listed once for each of their values: the dearest counts.
      double& stored = actions[child(action, "name").text()];
      stored = std::max(stored, energy);
    }
    const auto leak = actions.find("leak");
    if (leak != actions.end() && leak->second > 0) report.note(component, "leak", "leakage is not charged");
  }
  return table;
}

std::optional<Architecture> read_architecture(const Source& section, const EnergyTable* table,
                                              const std::map<std::string, double>& variables,
                                              Report& report) {
  return ArchitectureBuilder(table, variables, report).run(section);
}

}  // namespace tilewright::timeloop
