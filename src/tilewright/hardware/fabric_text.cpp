// The YAML form of fabrics, and the lookup of presets and short forms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/base/yaml.h"
#include "tilewright/hardware/fabric.h"
#include "tilewright/hardware/preset_files.h"

namespace tilewright {
namespace {

const char* starter_rule_name(StarterRule rule) {
  switch (rule) {
    case StarterRule::kOff:
      return "off";
    case StarterRule::kRoots:
      return "roots";
    case StarterRule::kFlows:
      return "flows";
  }
  return "off";
}

std::vector<int> read_spans(YamlMap& map) {
  const YAML::Node list = map.child("spans");
  if (!list.IsDefined()) return {1};
  std::vector<int> spans;
  bool sound = list.IsSequence();
  for (size_t i = 0; sound && i < list.size(); ++i) {
    int span = 0;
    sound = list[i].IsScalar() && YAML::convert<int>::decode(list[i], span);
    spans.push_back(span);
  }
  // A link stands once, however often its span is named.
  std::sort(spans.begin(), spans.end());
  spans.erase(std::unique(spans.begin(), spans.end()), spans.end());
  if (sound) return spans;
  map.error("spans", "a list of whole numbers is expected", "[1, 2]");
  return {1};
}

StarterRule read_starter_rule(YamlMap& map) {
  const std::string text = map.text("starters_apart", "off");
  for (const StarterRule rule : {StarterRule::kOff, StarterRule::kRoots, StarterRule::kFlows}) {
    if (text == starter_rule_name(rule)) return rule;
  }
  map.error("starters_apart", "'" + text + "' is not a variant of the rule", "off, roots or flows");
  return StarterRule::kOff;
}

// The tiles of the Streaming Engine, in a line of n.
Fabric streaming_line(int n, bool ring) {
  Fabric fabric;
  fabric.columns = n;
  fabric.wrap = ring;
  fabric.spans = n > 2 ? std::vector<int>{1, 2} : std::vector<int>{1};
  fabric.operation_latency_cycles = 3;
  fabric.cycles_per_distance = 1;
  fabric.pass_through = 1;
  fabric.tile_memories = 2;
  fabric.tile_memory_entries = 512;
  fabric.memory_interfaces = 4;
  fabric.starters_apart = StarterRule::kRoots;
  fabric.siblings_apart = true;
  return fabric;
}

Fabric grid(int rows, int columns, const std::string& kind) {
  Fabric fabric;
  fabric.rows = rows;
  fabric.columns = columns;
  fabric.wrap = kind == "torus";
  fabric.hops_per_cycle = kind == "hycube" ? 4 : 1;
  fabric.delay_registers = 4;
  fabric.operands = 4;
  return fabric;
}

bool parse_short_fabric(const std::string& text, Fabric& fabric) {
  std::smatch match;
  static const std::regex line("(line|ring)-([0-9]{1,4})"),
      array("(mesh|torus|hycube)-([0-9]{1,3})x([0-9]{1,3})");
  if (std::regex_match(text, match, line)) {
    fabric = streaming_line(std::stoi(match[2]), match[1] == "ring");
  } else if (std::regex_match(text, match, array)) {
    fabric = grid(std::stoi(match[2]), std::stoi(match[3]), match[1]);
  } else {
    return false;
  }
  fabric.name = text;
  return true;
}

}  // namespace

Fabric parse_fabric(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  YamlMap map(parse_yaml(text, source_name), source_name, diagnostics);
  const std::string kind = map.text("kind", "fabric");
  if (kind != "fabric") map.error("kind", "'" + kind + "' is not 'fabric'");
  const Fabric usual;
  Fabric fabric;
  fabric.name = map.text("name", std::filesystem::path(source_name).stem().string());
  fabric.rows = int(map.integer("rows", 1, Fabric::kMostTiles, usual.rows));
  fabric.columns = int(map.integer("columns", 1, Fabric::kMostTiles));
  fabric.wrap = map.boolean("wrap", usual.wrap);
  fabric.spans = read_spans(map);
  fabric.operation_latency_cycles =
      int(map.integer("operation_latency_cycles", 1, 64, usual.operation_latency_cycles));
  fabric.cycles_per_distance = int(map.integer("cycles_per_distance", 0, 64, usual.cycles_per_distance));
  fabric.hops_per_cycle = int(map.integer("hops_per_cycle", 1, 64, usual.hops_per_cycle));
  fabric.pass_through = int(map.integer("pass_through", 0, 64, usual.pass_through));
  fabric.delay_registers = int(map.integer("delay_registers", 0, 64, usual.delay_registers));
  fabric.operands = int(map.integer("operands", 1, 16, usual.operands));
  fabric.instructions = int(map.integer("instructions", 1, 65536, usual.instructions));
  fabric.max_ii = int(map.integer("max_ii", 1, 65536, usual.max_ii));
  fabric.tile_memories = int(map.integer("tile_memories", 0, 16, usual.tile_memories));
  fabric.tile_memory_entries = int(map.integer("tile_memory_entries", 0, 1 << 20, usual.tile_memory_entries));
  fabric.memory_interfaces = int(map.integer("memory_interfaces", 0, 64, usual.memory_interfaces));
  fabric.memory_left_column_only = map.boolean("memory_left_column_only", usual.memory_left_column_only);
  fabric.starters_apart = read_starter_rule(map);
  fabric.siblings_apart = map.boolean("siblings_apart", usual.siblings_apart);
  map.finish();
  diagnostics.raise_if_any();
  fabric.verify(diagnostics);
  diagnostics.raise_if_any(source_name);
  return fabric;
}

std::string print_fabric(const Fabric& f) {
  std::string text = fmt::format("kind: fabric\nname: {}\nrows: {}\ncolumns: {}\nwrap: {}\nspans: [{}]\n",
                                 json_quoted(f.name), f.rows, f.columns, f.wrap, fmt::join(f.spans, ", "));
  text += fmt::format("operation_latency_cycles: {}\ncycles_per_distance: {}\nhops_per_cycle: {}\n",
                      f.operation_latency_cycles, f.cycles_per_distance, f.hops_per_cycle);
  text += fmt::format("pass_through: {}\ndelay_registers: {}\noperands: {}\ninstructions: {}\nmax_ii: {}\n",
                      f.pass_through, f.delay_registers, f.operands, f.instructions, f.max_ii);
  text += fmt::format("tile_memories: {}\ntile_memory_entries: {}\nmemory_interfaces: {}\n", f.tile_memories,
                      f.tile_memory_entries, f.memory_interfaces);
  text += fmt::format("memory_left_column_only: {}\nstarters_apart: {}\nsiblings_apart: {}\n",
                      f.memory_left_column_only, starter_rule_name(f.starters_apart), f.siblings_apart);
  return text;
}

Fabric find_fabric(const std::string& name_or_path, const std::filesystem::path& preset_folder) {
  const std::vector<std::string> known = preset_names(preset_folder, "fabric");
  std::filesystem::path path;
  std::error_code failed;
  if (std::binary_search(known.begin(), known.end(), name_or_path)) {
    path = preset_folder / (name_or_path + ".yaml");
  } else if (Fabric fabric; parse_short_fabric(name_or_path, fabric)) {
    Diagnostics diagnostics;
    fabric.verify(diagnostics);
    diagnostics.raise_if_any();
    return fabric;
  } else if (std::filesystem::is_regular_file(name_or_path, failed)) {
    path = name_or_path;
  } else {
    throw Error(ErrorKind::kInvalidInput,
                "'" + name_or_path + "' is not a fabric preset, a short form or a file",
                words_hint(name_or_path, known, "presets") +
                    "; short forms: mesh-RxC, torus-RxC, hycube-RxC, line-N, ring-N");
  }
  return parse_fabric(read_text_file(path, size_t{1} << 20), path.string());
}

}  // namespace tilewright
