// The reader of configurations. Every wrong field is reported, and a field that is wrong leaves its default
// so that the rest can be looked at.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/base/json.h"
#include "tilewright/cgra/configure/configuration.h"

namespace tilewright::cgra {
namespace {

using Json = nlohmann::json;

constexpr int kMostNumber = 1 << 24;
constexpr size_t kMostBytes = size_t{1} << 26;

class Reader {
 public:
  Reader(std::string source_name, Diagnostics& diagnostics)
      : source_(std::move(source_name)), diagnostics_(diagnostics) {}

  Configuration read(const Json& root) {
    Configuration configuration;
    JsonMap map(root, source_, diagnostics_);
    if (map.text("kind", "") != "fabric configuration") map.error("kind", "is not 'fabric configuration'");
    configuration.name = map.text("name", "");
    read_fabric(map, configuration.fabric);
    configuration.ii = int(map.integer("ii", 1, kMostNumber));
    for (const Json& item : items(map, "flows", true)) {
      const std::string where = fmt::format("{}: flow {}", source_, configuration.flows.size());
      configuration.flows.push_back(flow(item, where));
    }
    for (const Json& item : items(map, "tiles", true)) configuration.tiles.push_back(tile(item));
    map.finish();
    return configuration;
  }

 private:
  int number(JsonMap& map, const char* key, std::optional<int64_t> fallback = {}) {
    return int(map.integer(key, 0, kMostNumber, fallback));
  }

  const Json& items(JsonMap& map, const char* key, bool required = false) {
    static const Json none = Json::array();
    if (required && !map.has(key)) map.error(key, "missing field", "give a list");
    const Json* list = map.list(key);
    return list ? *list : none;
  }

  void read_fabric(JsonMap& map, Fabric& fabric) {
    const Json* node = map.child("fabric");
    if (!node || !node->is_object()) {
      map.error("fabric", "a machine description is expected");
      return;
    }
    try {
      fabric = parse_fabric(json_text(*node), source_ + ": fabric");
    } catch (const Error& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics_.add(diagnostic);
    }
  }

  std::vector<std::string> words(JsonMap& map, const char* key) {
    std::vector<std::string> list;
    for (const Json& item : items(map, key)) {
      if (item.is_string()) {
        list.push_back(item.get<std::string>());
      } else {
        map.error(key, "a list of strings is expected");
      }
    }
    return list;
  }

  std::vector<int32_t> integers(JsonMap& map, const char* key) {
    std::vector<int32_t> list;
    for (const Json& item : items(map, key)) {
      const std::optional<int64_t> value = json_integer(item, INT32_MIN, INT32_MAX);
      if (!value) map.error(key, "a list of 32-bit integers is expected");
      list.push_back(int32_t(value.value_or(0)));
    }
    return list;
  }

  FlowConfiguration flow(const Json& json, const std::string& where) {
    JsonMap map(json, where, diagnostics_);
    FlowConfiguration flow;
    flow.start = number(map, "start");
    flow.waits_for = words(map, "waits_for");
    flow.fills = words(map, "fills");
    flow.period = number(map, "period", 0);
    map.finish();
    return flow;
  }

  TileConfiguration tile(const Json& json) {
    JsonMap map(json, source_ + ": tiles", diagnostics_);
    TileConfiguration tile;
    tile.tile = number(map, "tile");
    const std::string where = fmt::format("{}: tile {}", source_, tile.tile);
    for (const Json& item : items(map, "variables")) tile.variables.push_back(variable(item, where));
    for (const Json& item : items(map, "instructions")) tile.instructions.push_back(instruction(item, where));
    for (const Json& item : items(map, "spoke", true)) tile.spoke.push_back(spoke(item, where));
    map.finish();
    return tile;
  }

  MemoryVariable variable(const Json& json, const std::string& where) {
    JsonMap map(json, where + ", variables", diagnostics_);
    MemoryVariable variable;
    variable.name = map.text("name");
    if (map.has("table")) {
      variable.table = integers(map, "table");
      variable.entries = int(variable.table.size());
    } else {
      variable.entries = number(map, "entries", MemoryVariable::kUsualEntries);
      variable.reads = number(map, "reads", 0);
      variable.argument = int(map.integer("argument", 0, kMostNumber, -1));
    }
    map.finish();
    return variable;
  }

  Opcode opcode(JsonMap& map, const char* key) {
    const std::string name = map.text(key);
    const std::optional<Opcode> op = find_opcode(name);
    if (!op) map.error(key, "'" + name + "' is not an instruction of the tiles");
    return op.value_or(Opcode::kCopy);
  }

  FabricInstruction instruction(const Json& json, const std::string& tile) {
    JsonMap map(json, tile + ", instructions", diagnostics_);
    FabricInstruction instruction;
    instruction.name = map.text("name");
    const std::string where = fmt::format("{}, instruction '{}'", tile, instruction.name);
    instruction.op = opcode(map, "op");
    if (map.has("then")) instruction.then = opcode(map, "then");
    for (const Json& item : items(map, "operands", true))
      instruction.operands.push_back(operand(map, item, where));
    if (const Json* writes = map.child("writes")) {
      JsonMap fields(*writes, where + ", writes", diagnostics_);
      instruction.writes =
          MemoryWrite{fields.text("variable"), number(fields, "stride", 1), number(fields, "offset", 0)};
      fields.finish();
    }
    if (const Json* sends = map.child("sends")) {
      JsonMap fields(*sends, where + ", sends", diagnostics_);
      instruction.sends = MessageTarget{number(fields, "tile"), fields.text("variable")};
      fields.finish();
    }
    instruction.array = int(map.integer("array", 0, kMostNumber, -1));
    map.finish();
    return instruction;
  }

  InstructionOperand operand(JsonMap& owner, const Json& json, const std::string& where) {
    InstructionOperand operand;
    const std::optional<int64_t> constant = json_integer(json, INT32_MIN, INT32_MAX);
    if (json.is_object()) {
      JsonMap map(json, where + ", operands", diagnostics_);
      if (map.has("variable")) {
        operand.kind = InstructionOperand::Kind::kVariable;
        operand.variable = map.text("variable");
      } else {
        if (!map.has("initial")) map.error("initial", "missing field", "or name a variable");
        operand.initial = integers(map, "initial");
      }
      map.finish();
    } else if (json == "thread") {
      operand.kind = InstructionOperand::Kind::kThread;
    } else if (constant) {
      operand.kind = InstructionOperand::Kind::kConstant;
      operand.constant = int32_t(*constant);
    } else if (json != "input") {
      owner.error("operands", "an operand is wrong",
                  "input, thread, a 32-bit constant, {\"variable\": name} or {\"initial\": [...]}");
    }
    return operand;
  }

  ValueSource source(JsonMap& owner, const char* key, const std::string& text) {
    ValueSource source;
    if (text == "result") return source;
    for (const auto& [word, kind] :
         {std::pair<std::string, ValueSource::Kind>("link ", ValueSource::Kind::kLink),
          std::pair<std::string, ValueSource::Kind>("register ", ValueSource::Kind::kRegister)}) {
      if (text.rfind(word, 0) != 0) continue;
      const std::string digits = text.substr(word.size());
      if (digits.empty() || digits.size() > 7) break;
      if (digits.find_first_not_of("0123456789") != std::string::npos) break;
      source.kind = kind;
      source.index = std::stoi(digits);
      return source;
    }
    owner.error(key, "'" + text + "' is not a source of a value", "result, 'link TILE' or 'register NUMBER'");
    return source;
  }

  SpokeEntry spoke(const Json& json, const std::string& tile) {
    JsonMap map(json, tile + ", spoke", diagnostics_);
    SpokeEntry entry;
    entry.slot = number(map, "slot");
    const std::string where = fmt::format("{}, slot {}", tile, entry.slot);
    if (map.has("instruction")) {
      entry.instruction = number(map, "instruction");
      entry.flow = number(map, "flow");
      entry.clock = number(map, "clock");
      for (const std::string& text : words(map, "inputs"))
        entry.inputs.push_back(source(map, "inputs", text));
    }
    for (const Json& item : items(map, "outputs")) {
      JsonMap output(item, where + ", outputs", diagnostics_);
      entry.outputs.push_back({number(output, "to"), source(output, "from", output.text("from"))});
      output.finish();
    }
    for (const Json& item : items(map, "registers")) {
      JsonMap keep(item, where + ", registers", diagnostics_);
      entry.registers.push_back({number(keep, "register"), source(keep, "from", keep.text("from"))});
      keep.finish();
    }
    map.finish();
    return entry;
  }

  std::string source_;
  Diagnostics& diagnostics_;
};

}  // namespace

Configuration parse_configuration(const std::string& text, const std::string& source_name) {
  if (text.size() > kMostBytes)
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} is larger than 64 MiB", source_name));
  Diagnostics diagnostics;
  const Json root = parse_json(text, source_name);
  Configuration configuration = Reader(source_name, diagnostics).read(root);
  diagnostics.raise_if_any();
  configuration.verify(diagnostics);
  diagnostics.raise_if_any(source_name);
  return configuration;
}

}  // namespace tilewright::cgra
