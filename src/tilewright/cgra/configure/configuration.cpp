// The rules that a configuration keeps by itself, before anything runs: what the fabric has, what names mean,
// and what the configuration says twice.
#include "tilewright/cgra/configure/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tilewright::cgra {
namespace {

class Verifier {
 public:
  Verifier(const Configuration& configuration, Diagnostics& diagnostics)
      : configuration_(configuration), fabric_(configuration.fabric), diagnostics_(diagnostics) {}

  void run() {
    fabric_.verify(diagnostics_);
    if (!diagnostics_.ok()) return;
    for (const FabricLink& link : fabric_links(fabric_)) links_.insert({link.from, link.to});
    if (configuration_.ii > fabric_.max_ii) {
      error("ii", fmt::format("{} slots, the spoke RAM holds {}", configuration_.ii, fabric_.max_ii));
    }
    collect_variables();
    for (size_t flow = 0; flow < configuration_.flows.size(); ++flow) check_flow(int(flow));
    int last = -1;
    for (const TileConfiguration& tile : configuration_.tiles) {
      where_ = fmt::format("tile {}", tile.tile);
      if (tile.tile >= fabric_.tiles()) error("tile", "does not exist");
      if (tile.tile <= last) error("tile", "tiles are not in ascending order");
      last = tile.tile;
      check_tile(tile);
    }
    check_uses();
    for (size_t flow = 0; flow < configuration_.flows.size(); ++flow) {
      where_ = fmt::format("flow {}", flow);
      if (!started_flows_.contains(int(flow))) error("start", "no instruction belongs to it");
    }
  }

 private:
  void error(const char* field, std::string message, std::string hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, where_, field, std::move(message), std::move(hint));
  }

  void collect_variables() {
    for (const TileConfiguration& tile : configuration_.tiles) {
      for (const MemoryVariable& variable : tile.variables) {
        where_ = fmt::format("tile {}", tile.tile);
        if (variable.name.empty()) error("variables", "a variable without a name");
        if (!variables_.try_emplace(variable.name, tile.tile, &variable).second)
          error("variables", fmt::format("'{}' is defined twice", variable.name));
        if (variable.entries < 1) error("variables", fmt::format("'{}' has no entries", variable.name));
        if (variable.argument >= 0 && !arguments_.insert(variable.argument).second)
          error("variables", fmt::format("argument {} fills two variables", variable.argument));
      }
      check_room(tile);
    }
  }

  void check_room(const TileConfiguration& tile) {
    int64_t entries = 0;
    for (const MemoryVariable& variable : tile.variables) entries += variable.entries;
    const int64_t room = int64_t(fabric_.tile_memories) * fabric_.tile_memory_entries;
    if (entries > room)
      error("variables", fmt::format("{} entries, the tile's memories hold {}", entries, room));
  }

  // The variable, if it exists and (on_tile >= 0) is on that tile.
  const MemoryVariable* find(const char* field, const std::string& name, int on_tile = -1) {
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
      error(field, fmt::format("no variable is called '{}'", name));
      return nullptr;
    }
    if (on_tile >= 0 && found->second.first != on_tile) {
      error(field, fmt::format("'{}' is on tile {}, not on {}", name, found->second.first, on_tile));
      return nullptr;
    }
    return found->second.second;
  }

  void check_flow(int number) {
    const FlowConfiguration& flow = configuration_.flows[size_t(number)];
    where_ = fmt::format("flow {}", number);
    for (const auto& [field, list] :
         {std::pair<const char*, const std::vector<std::string>*>("waits_for", &flow.waits_for),
          std::pair<const char*, const std::vector<std::string>*>("fills", &flow.fills)}) {
      for (const std::string& name : *list) find(field, name);
    }
  }

  void check_tile(const TileConfiguration& tile) {
    if (int(tile.instructions.size()) > fabric_.instructions) {
      error("instructions", fmt::format("{} instructions, the instruction RAM holds {}",
                                        tile.instructions.size(), fabric_.instructions));
    }
    std::vector<int> started(tile.instructions.size(), 0);
    int last = -1;
    for (const SpokeEntry& entry : tile.spoke) {
      where_ = fmt::format("tile {}, slot {}", tile.tile, entry.slot);
      if (entry.slot >= configuration_.ii) error("slot", fmt::format("is outside II {}", configuration_.ii));
      if (entry.slot <= last) error("slot", "slots are not in ascending order");
      last = entry.slot;
      check_ways(tile.tile, entry);
      if (entry.instruction < 0) continue;
      if (entry.instruction >= int(tile.instructions.size())) {
        error("instruction", fmt::format("{} is not in the instruction RAM", entry.instruction));
        continue;
      }
      ++started[size_t(entry.instruction)];
      note_uses(tile.instructions[size_t(entry.instruction)], entry.flow);
      check_start(tile.instructions[size_t(entry.instruction)], entry);
    }
    for (size_t i = 0; i < started.size(); ++i) {
      where_ = fmt::format("tile {}, instruction '{}'", tile.tile, tile.instructions[i].name);
      if (started[i] != 1) error("spoke", fmt::format("starts in {} slots, not in one", started[i]));
      check_instruction(tile.tile, tile.instructions[i]);
    }
  }

  void note_uses(const FabricInstruction& instruction, int flow) {
    started_flows_.insert(flow);
    if (instruction.sends) sending_flows_[instruction.sends->variable].push_back(flow);
    for (const InstructionOperand& operand : instruction.operands) {
      if (operand.kind == InstructionOperand::Kind::kVariable)
        reading_flows_[operand.variable].push_back(flow);
    }
  }

  void check_start(const FabricInstruction& instruction, const SpokeEntry& entry) {
    const auto inputs =
        std::count_if(instruction.operands.begin(), instruction.operands.end(),
                      [](const InstructionOperand& o) { return o.kind == InstructionOperand::Kind::kInput; });
    if (int(entry.inputs.size()) != int(inputs))
      error("inputs", fmt::format("{} selected, the instruction takes {}", entry.inputs.size(), inputs));
    if (entry.flow >= int(configuration_.flows.size())) {
      error("flow", fmt::format("flow {} does not exist", entry.flow));
    } else if ((configuration_.flows[size_t(entry.flow)].start + entry.clock) % configuration_.ii !=
               entry.slot) {
      error("clock", fmt::format("clock {} of flow {} is not in this slot", entry.clock, entry.flow));
    }
  }

  void check_source(int tile, const char* field, const ValueSource& source) {
    if (source.kind == ValueSource::Kind::kLink && !links_.contains({source.index, tile}))
      error(field, fmt::format("no link comes from tile {}", source.index));
    if (source.kind == ValueSource::Kind::kRegister && source.index >= fabric_.delay_registers)
      error(field, fmt::format("delay register {} does not exist", source.index));
  }

  void check_ways(int tile, const SpokeEntry& entry) {
    for (const ValueSource& input : entry.inputs) check_source(tile, "inputs", input);
    std::set<int> used;
    for (const SpokeEntry::Output& output : entry.outputs) {
      check_source(tile, "outputs", output.from);
      if (!links_.contains({tile, output.to}))
        error("outputs", fmt::format("no link leads to tile {}", output.to));
      if (!used.insert(output.to).second)
        error("outputs", fmt::format("two values on the link to tile {}", output.to));
    }
    used.clear();
    for (const SpokeEntry::Keep& keep : entry.registers) {
      check_source(tile, "registers", keep.from);
      if (keep.delay_register >= fabric_.delay_registers)
        error("registers", fmt::format("delay register {} does not exist", keep.delay_register));
      if (!used.insert(keep.delay_register).second)
        error("registers", fmt::format("two values in delay register {}", keep.delay_register));
    }
  }

  void check_instruction(int tile, const FabricInstruction& instruction) {
    if (instruction.name.empty() || !names_.insert(instruction.name).second)
      error("name", "the name is missing or used twice");
    const int operands = int(instruction.operands.size());
    const OpcodeFacts& facts = opcode_facts(instruction.op);
    const int most = std::min(fabric_.operands, instruction.then ? 3 : facts.most_operands);
    const int least = instruction.then ? 3 : facts.least_operands;
    if (operands < least || operands > most)
      error("operands", fmt::format("{} of {}..{}", operands, least, most));
    const bool memory = facts.memory || instruction.op == Opcode::kInput || instruction.op == Opcode::kOutput;
    if (!memory && instruction.array >= 0) error("array", "the operation accesses no array");
    if (facts.memory && fabric_.memory_left_column_only && tile % fabric_.columns != 0)
      error("op", "only tiles of column 0 load and store");
    if (instruction.writes) {
      const MemoryVariable* variable = find("writes", instruction.writes->variable, tile);
      if (variable && (!variable->table.empty() || variable->reads > 0))
        error("writes", "a table, or a variable that messages fill, is written");
      if (variable && (instruction.writes->stride < 1 || variable->entries < instruction.writes->stride))
        error("writes", fmt::format("{} entries are fewer than the stride", variable->entries));
      if (instruction.writes->offset >= instruction.writes->stride)
        error("writes", "the offset is not below the stride");
    }
    if (instruction.sends) {
      const MemoryVariable* variable = find("sends", instruction.sends->variable, instruction.sends->tile);
      if (variable && !variable->table.empty()) error("sends", "a table is written");
    }
    for (size_t i = 0; i < instruction.operands.size(); ++i) check_operand(tile, instruction, i);
  }

  void check_operand(int tile, const FabricInstruction& instruction, size_t i) {
    const InstructionOperand& operand = instruction.operands[i];
    const bool table = instruction.op == Opcode::kLookup && i == 0;
    if (table && operand.kind != InstructionOperand::Kind::kVariable) {
      error("operands", "a lookup's first operand is a table");
    } else if (operand.kind == InstructionOperand::Kind::kVariable) {
      const MemoryVariable* variable = find("operands", operand.variable, tile);
      if (variable && variable->table.empty() == table)
        error("operands", fmt::format("'{}' is {} table", operand.variable, table ? "not a" : "a"));
    }
  }

  // What readers, senders and flows say of a variable must agree.
  void check_uses() {
    for (const auto& [name, where] : variables_) {
      const MemoryVariable& variable = *where.second;
      if (!variable.table.empty()) continue;
      where_ = fmt::format("tile {}, variable '{}'", where.first, name);
      const std::vector<int>& reads = reading_flows_[name];
      const std::vector<int>& sends = sending_flows_[name];
      if (int(reads.size()) != variable.reads)
        error("reads", fmt::format("counts {}, {} operands read it", variable.reads, reads.size()));
      const int sources = int(sends.size()) + (variable.argument >= 0 ? 1 : 0);
      if (sources != (variable.reads > 0 ? 1 : 0))
        error("argument", fmt::format("{} sources fill it and {} operands read it", sources, reads.size()));
      for (size_t flow = 0; flow < configuration_.flows.size(); ++flow) {
        const FlowConfiguration& given = configuration_.flows[flow];
        check_listed("waits_for", given.waits_for, name, int(flow), reads);
        check_listed("fills", given.fills, name, int(flow), sends);
      }
    }
  }

  void check_listed(const char* field, const std::vector<std::string>& list, const std::string& name,
                    int flow, const std::vector<int>& users) {
    const int expected = std::find(users.begin(), users.end(), flow) == users.end() ? 0 : 1;
    const int listed = int(std::count(list.begin(), list.end(), name));
    if (listed != expected)
      error(field, fmt::format("flow {} lists it {} times, not {}", flow, listed, expected));
  }

  const Configuration& configuration_;
  const Fabric& fabric_;
  Diagnostics& diagnostics_;
  std::string where_ = "configuration";
  std::set<std::pair<int, int>> links_;
  std::map<std::string, std::pair<int, const MemoryVariable*>> variables_;  // name -> tile, variable
  std::map<std::string, std::vector<int>> reading_flows_, sending_flows_;   // of a variable, one per use
  std::set<int> started_flows_;
  std::set<std::string> names_;
  std::set<int> arguments_;
};

}  // namespace

void Configuration::verify(Diagnostics& diagnostics) const { Verifier(*this, diagnostics).run(); }

}  // namespace tilewright::cgra
