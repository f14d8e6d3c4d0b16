// The JSON of a configuration: one line per instruction, spoke entry, variable and flow. The fabric is
// written field by field from its YAML form, so that a new field needs no change here.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tilewright/cgra/configure/configuration.h"

namespace tilewright::cgra {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Names come from files: what is not UTF-8 in them must not stop the printer.
std::string dump(const OrderedJson& json) {
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

// Fields that have their usual value are left out.
std::string fabric_text(const Fabric& fabric) {
  std::set<std::string> usual;
  std::istringstream usual_lines(print_fabric({}));
  for (std::string line; std::getline(usual_lines, line);) usual.insert(line);
  usual.erase(fmt::format("columns: {}", Fabric{}.columns));  // the reader asks for it
  std::istringstream lines(print_fabric(fabric));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (usual.contains(line)) continue;
    const size_t colon = line.find(": ");
    const std::string key = line.substr(0, colon), value = line.substr(colon + 2);
    const bool word = key == "kind" || key == "starters_apart";  // a name is in quotes already
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", dump(key), word ? dump(value) : value);
  }
  return "{" + text + "}";
}

std::string source_text(const ValueSource& source) {
  switch (source.kind) {
    case ValueSource::Kind::kResult:
      return "result";
    case ValueSource::Kind::kLink:
      return fmt::format("link {}", source.index);
    case ValueSource::Kind::kRegister:
      return fmt::format("register {}", source.index);
  }
  return "result";
}

OrderedJson operand_json(const InstructionOperand& operand) {
  switch (operand.kind) {
    case InstructionOperand::Kind::kConstant:
      return operand.constant;
    case InstructionOperand::Kind::kThread:
      return "thread";
    case InstructionOperand::Kind::kVariable:
      return {{"variable", operand.variable}};
    case InstructionOperand::Kind::kInput:
      break;
  }
  if (operand.initial.empty()) return "input";
  return {{"initial", operand.initial}};
}

OrderedJson instruction_json(const FabricInstruction& instruction) {
  OrderedJson json{{"name", instruction.name}, {"op", std::string(opcode_facts(instruction.op).name)}};
  if (instruction.then) json["then"] = std::string(opcode_facts(*instruction.then).name);
  json["operands"] = OrderedJson::array();
  for (const InstructionOperand& operand : instruction.operands)
    json["operands"].push_back(operand_json(operand));
  if (instruction.writes) {
    json["writes"] = {{"variable", instruction.writes->variable}};
    if (instruction.writes->stride > 1) json["writes"]["stride"] = instruction.writes->stride;
    if (instruction.writes->offset > 0) json["writes"]["offset"] = instruction.writes->offset;
  }
  if (instruction.sends)
    json["sends"] = {{"tile", instruction.sends->tile}, {"variable", instruction.sends->variable}};
  if (instruction.array >= 0) json["array"] = instruction.array;
  return json;
}

OrderedJson spoke_json(const SpokeEntry& entry) {
  OrderedJson json{{"slot", entry.slot}};
  if (entry.instruction >= 0) {
    json["instruction"] = entry.instruction;
    json["flow"] = entry.flow;
    json["clock"] = entry.clock;
    for (const ValueSource& input : entry.inputs) json["inputs"].push_back(source_text(input));
  }
  for (const SpokeEntry::Output& output : entry.outputs)
    json["outputs"].push_back({{"to", output.to}, {"from", source_text(output.from)}});
  for (const SpokeEntry::Keep& keep : entry.registers)
    json["registers"].push_back({{"register", keep.delay_register}, {"from", source_text(keep.from)}});
  return json;
}

OrderedJson variable_json(const MemoryVariable& variable) {
  OrderedJson json{{"name", variable.name}};
  if (!variable.table.empty()) {
    json["table"] = variable.table;
    return json;
  }
  if (variable.entries != MemoryVariable::kUsualEntries) json["entries"] = variable.entries;
  if (variable.reads > 0) json["reads"] = variable.reads;
  if (variable.argument >= 0) json["argument"] = variable.argument;
  return json;
}

OrderedJson flow_json(const FlowConfiguration& flow) {
  OrderedJson json{{"start", flow.start}};
  if (!flow.waits_for.empty()) json["waits_for"] = flow.waits_for;
  if (!flow.fills.empty()) json["fills"] = flow.fills;
  if (flow.period > 0) json["period"] = flow.period;
  return json;
}

// "key": [ one item per line ]
template <typename Items, typename ToJson>
std::string list(const char* key, const Items& items, ToJson to_json, const char* indent) {
  std::string text = fmt::format("{}\"{}\": [", indent, key);
  for (size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}\n{}  {}", i == 0 ? "" : ",", indent, dump(to_json(items[i])));
  return text + (items.empty() ? "]" : fmt::format("\n{}]", indent));
}

}  // namespace

std::string print_configuration(const Configuration& configuration) {
  std::string text = "{\n  \"kind\": \"fabric configuration\",\n";
  text += fmt::format("  \"name\": {},\n", dump(configuration.name));
  text += fmt::format("  \"fabric\": {},\n", fabric_text(configuration.fabric));
  text += fmt::format("  \"ii\": {},\n", configuration.ii);
  text += list("flows", configuration.flows, flow_json, "  ") + ",\n  \"tiles\": [";
  for (size_t i = 0; i < configuration.tiles.size(); ++i) {
    const TileConfiguration& tile = configuration.tiles[i];
    text += fmt::format("{}\n    {{\n      \"tile\": {},\n", i == 0 ? "" : ",", tile.tile);
    if (!tile.variables.empty()) text += list("variables", tile.variables, variable_json, "      ") + ",\n";
    if (!tile.instructions.empty())
      text += list("instructions", tile.instructions, instruction_json, "      ") + ",\n";
    text += list("spoke", tile.spoke, spoke_json, "      ") + "\n    }";
  }
  return text + (configuration.tiles.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace tilewright::cgra
