// Kernel files list nodes and edges; the table of names below maps every mapper's vocabulary to ours. A
// synthetic graph has no operations at all: its nodes get one by fan-in and number.
#include "tilewright/cgra/graph/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/base/plain_text.h"

namespace tilewright::cgra {
namespace {

using Json = nlohmann::json;
constexpr int kMostNodes = 100000;
constexpr int kMostOperands = 4;
constexpr size_t kMostKernelBytes = size_t{1} << 26;

struct Alias {
  std::string_view name;
  Opcode op;
};

constexpr std::array kAliases = {
    Alias{"ls", Opcode::kShiftLeft},
    Alias{"sl", Opcode::kShiftLeft},
    Alias{"rs", Opcode::kShiftRightLogical},
    Alias{"sr", Opcode::kShiftRightLogical},
    Alias{"ars", Opcode::kShiftRight},
    Alias{"sra", Opcode::kShiftRight},
    Alias{"shra", Opcode::kShiftRight},
    Alias{"mult", Opcode::kMultiply},
    Alias{"cmp", Opcode::kLess},
    Alias{"icmp", Opcode::kLess},
    Alias{"eql", Opcode::kEqual},
    Alias{"sel", Opcode::kSelect},
    Alias{"cat", Opcode::kOr},
    Alias{"shrl", Opcode::kShiftRightLogical},
    Alias{"ashr", Opcode::kShiftRight},
    Alias{"sdiv", Opcode::kDivide},
    Alias{"srem", Opcode::kRemainder},
    Alias{"gep", Opcode::kAdd},
    Alias{"trunc", Opcode::kCopy},
    Alias{"incr", Opcode::kCopy},
    Alias{"clt", Opcode::kLess},
    Alias{"vcmp", Opcode::kLess},
    Alias{"cgt", Opcode::kGreater},
    Alias{"loadb", Opcode::kLoad},
    Alias{"loadh", Opcode::kLoad},
    Alias{"oload", Opcode::kLoad},
    Alias{"oloadh", Opcode::kLoad},
    Alias{"vload", Opcode::kLoad},
    Alias{"storeb", Opcode::kStore},
    Alias{"storeh", Opcode::kStore},
    Alias{"ostore", Opcode::kStore},
    Alias{"cmerge", Opcode::kMerge},
    Alias{"phi", Opcode::kMerge},
    Alias{"vphi", Opcode::kMerge},
    Alias{"movc", Opcode::kCopy},
    Alias{"bitcast", Opcode::kCopy},
    Alias{"zext", Opcode::kCopy},
    Alias{"br", Opcode::kCopy},
    Alias{"32", Opcode::kCopy},
    Alias{"getelementptr", Opcode::kAdd},
    Alias{"udiv", Opcode::kDivide},
    Alias{"urem", Opcode::kRemainder},
    Alias{"vadd", Opcode::kAdd},
    Alias{"vmul", Opcode::kMultiply},
    Alias{"vsub", Opcode::kSubtract},
    Alias{"vselect", Opcode::kSelect},
};

int32_t filler(int id) { return 1 + id % 7; }

struct FileEdge {
  int from = 0, to = 0, distance = 0;
};

// "edges": lists of two or three integers.
std::vector<FileEdge> read_edges(JsonMap& map, int nodes, size_t numbers) {
  std::vector<FileEdge> edges;
  const Json* list = map.list("edges");
  if (!list) return edges;
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    std::vector<int64_t> values;
    for (size_t j = 0; entry.is_array() && entry.size() == numbers && j < numbers; ++j) {
      const int64_t most = j < 2 ? nodes - 1 : 1000;
      if (const std::optional<int64_t> value = json_integer(entry[j], 0, most)) values.push_back(*value);
    }
    if (values.size() != numbers) {
      map.error("edges", fmt::format("entry {} is not a list of {} numbers: two nodes{}", i, numbers,
                                     numbers == 3 ? " and a distance of 0..1000" : ""));
      continue;
    }
    edges.push_back({int(values[0]), int(values[1]), numbers == 3 ? int(values[2]) : 0});
  }
  return edges;
}

void add_operands(DataflowGraph& graph, const std::vector<FileEdge>& edges, JsonMap& map) {
  for (const FileEdge& edge : edges) {
    DataflowNode& node = graph.nodes[edge.to];
    node.operands.push_back({.kind = OperandKind::kNode, .index = edge.from, .distance = edge.distance});
    if (int(node.operands.size()) == kMostOperands + 1) {
      map.error("edges", fmt::format("node {} has more than {} operands", edge.to, kMostOperands));
    }
  }
}

// --- loop kernels ---

std::vector<std::string> read_operations(JsonMap& map) {
  std::vector<std::string> names;
  const Json* list = map.list("nodes");
  if (!list) {
    if (!map.has("nodes")) map.error("nodes", "missing field");
    return names;
  }
  if (list->size() > kMostNodes) {
    map.error("nodes", fmt::format("more than {} nodes", kMostNodes));
    return names;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    const bool sound =
        entry.is_object() && entry.contains("id") && entry.contains("op") && entry["op"].is_string();
    if (!sound || json_integer(entry["id"], int64_t(i), int64_t(i)) != int64_t(i)) {
      map.error("nodes", fmt::format("entry {} is not {{\"id\": {}, \"op\": NAME}}", i, i));
      names.emplace_back("copy");
      continue;
    }
    names.push_back(lower_case(entry["op"].get<std::string>()));
    if (names.back() != "const" && !find_kernel_opcode(names.back())) {
      map.error("nodes", fmt::format("node {}: unknown operation '{}'", i, names.back()));
      names.back() = "copy";
    }
  }
  return names;
}

// Constant nodes become operands; the others move up.
void fold_constants(DataflowGraph& graph, const std::vector<std::string>& names) {
  std::vector<int> moved(graph.nodes.size(), -1);
  std::vector<DataflowNode> kept;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (names[id] == "const") continue;
    moved[id] = int(kept.size());
    kept.push_back(std::move(graph.nodes[id]));
  }
  graph.nodes = std::move(kept);
  for (DataflowNode& node : graph.nodes) {
    for (Operand& operand : node.operands) {
      if (operand.kind != OperandKind::kNode) continue;
      const int id = operand.index;
      operand.index = moved[id];
      if (moved[id] < 0) operand = {.kind = OperandKind::kConstant, .value = filler(id)};
    }
  }
}

void complete_operation(DataflowNode& node, int id, const std::string& name, JsonMap& map) {
  node.name = fmt::format("{}{}", name == "32" ? "unnamed" : name, id);
  if (name == "const") return;
  node.op = *find_kernel_opcode(name);
  if (node.op == Opcode::kCopy && node.operands.size() > 1) node.op = Opcode::kMerge;
  const OpcodeFacts& facts = opcode_facts(node.op);
  while (int(node.operands.size()) < facts.least_operands) {
    node.operands.push_back({.kind = OperandKind::kConstant, .value = filler(id)});
  }
  if (int(node.operands.size()) > facts.most_operands) {
    map.error("edges", fmt::format("node {} ({}) has {} operands, at most {} are possible", id, name,
                                   node.operands.size(), facts.most_operands));
  }
}

void add_arrays(DataflowGraph& graph) {
  int memory = -1;
  for (DataflowNode& node : graph.nodes) {
    if (node.op == Opcode::kLoad) {
      if (memory < 0) {
        memory = int(graph.arrays.size());
        graph.arrays.push_back({"memory"});
      }
      node.array = memory;
    } else if (node.op == Opcode::kStore || node.op == Opcode::kInput) {
      node.array = int(graph.arrays.size());
      graph.arrays.push_back({node.name});
    }
  }
}

// --- synthetic graphs ---

void choose_operation(DataflowNode& node, int id) {
  constexpr std::array kTwo = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kXor,
                               Opcode::kMaximum};
  constexpr std::array kThen = {Opcode::kAdd, Opcode::kSubtract, Opcode::kXor};
  if (node.operands.empty()) node.operands.push_back({.kind = OperandKind::kThread});
  if (node.operands.size() == 1)
    node.operands.push_back({.kind = OperandKind::kConstant, .value = filler(id)});
  node.op = kTwo[size_t(id) % kTwo.size()];
  if (node.operands.size() < 3) return;
  node.op = Opcode::kMultiply;
  node.then = kThen[size_t(id) % kThen.size()];
}

void read_groups(JsonMap& map, DataflowGraph& graph) {
  const Json* list = map.list("same_tile_groups");
  if (!list) return;
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& group = (*list)[i];
    if (!group.is_array() || group.size() < 2) {
      map.error("same_tile_groups", fmt::format("entry {} is not a list of at least two nodes", i));
      continue;
    }
    for (const Json& member : group) {
      const std::optional<int64_t> node = json_integer(member, 0, int64_t(graph.nodes.size()) - 1);
      if (!node || graph.nodes[size_t(*node)].writes >= 0) {
        map.error("same_tile_groups",
                  fmt::format("entry {} names {}", i,
                              node ? "a node of another group" : "a node that does not exist"));
        continue;
      }
      graph.nodes[size_t(*node)].writes = int(graph.variables.size());
    }
    graph.variables.push_back({.name = fmt::format("shared{}", i)});
  }
}

void read_recorded(JsonMap& map, SyntheticFile& file) {
  RecordedOptimum& recorded = file.recorded;
  recorded.critical_path_cycles = int(map.integer("critical_path_bound", 0, INT32_MAX, 0));
  const bool proven = map.text("status", "") == "optimal";
  if (map.has("optimal_makespan")) {
    const int makespan = int(map.integer("optimal_makespan", 0, INT32_MAX));
    if (proven) recorded.makespan = makespan;
  }
  const Json* witness = map.list("witness");
  for (size_t i = 0; witness && i < witness->size(); ++i) {
    const Json& entry = (*witness)[i];
    const bool pair = entry.is_array() && entry.size() == 2;
    const std::optional<int64_t> tile = pair ? json_integer(entry[0], 0, INT32_MAX) : std::nullopt;
    const std::optional<int64_t> start = pair ? json_integer(entry[1], 0, INT32_MAX) : std::nullopt;
    if (tile && start) {
      recorded.witness.emplace_back(int(*tile), int(*start));
    } else {
      map.error("witness", fmt::format("entry {} is not a tile and a start", i));
    }
  }
}

}  // namespace

std::optional<Opcode> find_kernel_opcode(const std::string& name) {
  const std::string key = lower_case(name);
  const auto alias =
      std::find_if(kAliases.begin(), kAliases.end(), [&](const Alias& a) { return a.name == key; });
  return alias != kAliases.end() ? alias->op : find_opcode(key);
}

KernelFile parse_kernel_file(const std::string& text, const std::string& source_name) {
  const Json document = parse_json(text, source_name);
  Diagnostics diagnostics;
  JsonMap map(document, source_name, diagnostics);
  KernelFile file;
  file.graph.name = map.text("name");
  const std::vector<std::string> names = read_operations(map);
  file.graph.nodes.resize(names.size());
  const std::vector<FileEdge> edges = read_edges(map, int(names.size()), 3);
  add_operands(file.graph, edges, map);
  for (size_t id = 0; id < names.size(); ++id)
    complete_operation(file.graph.nodes[id], int(id), names[id], map);
  file.recurrence_ii = int(map.integer("rec_mii_unit_latency", 0, INT32_MAX, 0));
  file.resource_ii_16_tiles = int(map.integer("res_mii_16_tiles", 0, INT32_MAX, 0));
  file.critical_path_nodes = int(map.integer("critical_path_nodes", 0, INT32_MAX, 0));
  diagnostics.raise_if_any();
  fold_constants(file.graph, names);
  add_arrays(file.graph);
  file.graph.verify(kMostOperands, diagnostics);
  diagnostics.raise_if_any(source_name);
  return file;
}

SyntheticFile parse_synthetic_file(const std::string& text, const std::string& source_name) {
  const Json document = parse_json(text, source_name);
  Diagnostics diagnostics;
  JsonMap map(document, source_name, diagnostics);
  SyntheticFile file;
  file.graph.name = map.text("name");
  const int nodes = int(map.integer("nodes", 1, kMostNodes));
  file.tiles = int(map.integer("tiles", 1, 1 << 16));
  file.ii = int(map.integer("ii", 1, 1 << 16));
  file.operation_latency_cycles = int(map.integer("pipeline", 1, 1 << 16));
  file.starters_apart = map.boolean("roots_distinct_tiles");
  file.siblings_apart = map.boolean("siblings_distinct_tiles");
  if (const std::string delay = map.text("delay", "unbounded"); delay != "unbounded") {
    map.error("delay", fmt::format("'{}' is not known", delay), "unbounded");
  }
  file.graph.nodes.resize(size_t(nodes));
  add_operands(file.graph, read_edges(map, nodes, 2), map);
  for (int id = 0; id < nodes; ++id) {
    file.graph.nodes[id].name = fmt::format("n{}", id);
    choose_operation(file.graph.nodes[id], id);
  }
  read_groups(map, file.graph);
  read_recorded(map, file);
  diagnostics.raise_if_any();
  file.graph.verify(3, diagnostics);
  diagnostics.raise_if_any(source_name);
  return file;
}

KernelFile read_kernel_file(const std::filesystem::path& path) {
  return parse_kernel_file(read_text_file(path, kMostKernelBytes), path.string());
}

SyntheticFile read_synthetic_file(const std::filesystem::path& path) {
  return parse_synthetic_file(read_text_file(path, kMostKernelBytes), path.string());
}

}  // namespace tilewright::cgra
