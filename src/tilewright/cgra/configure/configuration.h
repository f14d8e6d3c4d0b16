// The device configuration: everything that a fabric is loaded with before it runs, and all that the
// simulator knows. Format: docs/reference/cgra_configuration.md.
//
// Time. The spoke counter of every tile runs 0..II-1; in slot s the tile uses its spoke entry of slot s. An
// entry says which value each link leaving the tile takes, which value each delay register keeps for the next
// clock, and which instruction starts, for which flow, how many clocks after the flow's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/cgra/graph/opcode.h"
#include "tilewright/hardware/fabric.h"

namespace tilewright::cgra {

// A value available on a tile in a clock.
struct ValueSource {
  enum class Kind : uint8_t {
    kResult,    // of the tile's instruction that started one operation latency ago
    kLink,      // what arrives from tile `index`
    kRegister,  // the value that delay register `index` kept in the previous clock
  };
  Kind kind = Kind::kResult;
  int index = 0;
  bool operator==(const ValueSource&) const = default;
};

struct InstructionOperand {
  enum class Kind : uint8_t {
    kInput,     // what the spoke entry selects
    kConstant,  // `constant`
    kThread,    // number of the thread
    kVariable,  // the thread's entry of `variable`; a table where the opcode is lookup
  };
  Kind kind = Kind::kInput;
  int32_t constant = 0;
  std::string variable;          // on this tile
  std::vector<int32_t> initial;  // kInput: thread k reads initial[k] instead, where there is one
  bool operator==(const InstructionOperand&) const = default;
};

// A variable of another tile, reached by an asynchronous message.
struct MessageTarget {
  int tile = 0;
  std::string variable;
  bool operator==(const MessageTarget&) const = default;
};

// A variable of the instruction's own tile: thread k writes entry (k mod (entries / stride)) *
// stride + offset, so that the records of several writers never meet.
struct MemoryWrite {
  std::string variable;
  int stride = 1, offset = 0;
  bool operator==(const MemoryWrite&) const = default;
};

// Opcodes mean what graph/operation.h says.
struct FabricInstruction {
  std::string name;  // unique in the configuration: results are reported by it
  Opcode op = Opcode::kAdd;
  std::optional<Opcode> then;
  std::vector<InstructionOperand> operands;
  std::optional<MemoryWrite> writes;
  std::optional<MessageTarget> sends;  // where the result goes as a message, too
  int array = -1;                      // number of the external array of a load, store, input or output
  bool operator==(const FabricInstruction&) const = default;
};

struct SpokeEntry {
  struct Output {
    int to = 0;  // the link to this tile
    ValueSource from;
    bool operator==(const Output&) const = default;
  };
  struct Keep {
    int delay_register = 0;
    ValueSource from;
    bool operator==(const Keep&) const = default;
  };
  int slot = 0;
  int instruction = -1;             // of the tile's instruction RAM; -1: none starts
  int flow = 0;                     // of the instruction
  int clock = 0;                    // after the start of the flow's thread; of the instruction
  std::vector<ValueSource> inputs;  // of the instruction's kInput operands, in order
  std::vector<Output> outputs;
  std::vector<Keep> registers;
  bool operator==(const SpokeEntry&) const = default;
};

// A variable in the tile's memories: variables lie one after the other in the given order, continuing from
// one memory to the next. Thread k uses entry k mod entries. An entry is free, waits for its thread's value,
// or holds it until `reads` reads are done.
struct MemoryVariable {
  static constexpr int kUsualEntries = 16;
  std::string name;  // unique in the configuration
  int entries = kUsualEntries;
  std::vector<int32_t> table;  // constants, as many as entries; empty: an entry per thread
  int reads = 0;               // of a thread's entry; 0: nothing reads it or waits for it
  int argument = -1;           // number of the program's argument that the dispatch interface fills it with
  bool operator==(const MemoryVariable&) const = default;
};

struct TileConfiguration {
  int tile = 0;
  std::vector<MemoryVariable> variables;
  std::vector<FabricInstruction> instructions;
  std::vector<SpokeEntry> spoke;  // by slot; slots in which nothing happens are left out
  bool operator==(const TileConfiguration&) const = default;
};

// A synchronous flow starts its thread k at clock start + p * II for the least p for which thread k-1 has
// started before, every variable of `waits_for` holds its value of thread k, and every variable of `fills`
// has its entry of thread k free; p mod period equals k mod period where there is a period (then the tiles
// repeat, in the clocks without a thread, what they computed `period` threads' times before: values carried
// from thread to thread stay in step).
struct FlowConfiguration {
  int start = 0;
  std::vector<std::string> waits_for, fills;
  int period = 0;
  bool operator==(const FlowConfiguration&) const = default;
};

struct Configuration {
  std::string name;
  Fabric fabric;
  int ii = 1;
  std::vector<FlowConfiguration> flows;
  std::vector<TileConfiguration> tiles;  // ascending; idle tiles are left out
  bool operator==(const Configuration&) const = default;

  // Everything inconsistent with the fabric or within itself: links that do not exist or take two values,
  // slots used twice, instructions that no entry starts, unknown variables, memories that overflow, ...
  void verify(Diagnostics& diagnostics) const;
};

// The JSON text; parse_configuration gives an equal configuration back.
std::string print_configuration(const Configuration& configuration);
// Errors (invalid input): everything wrong with the text, with lines, then everything verify finds.
Configuration parse_configuration(const std::string& text, const std::string& source_name);

}  // namespace tilewright::cgra
