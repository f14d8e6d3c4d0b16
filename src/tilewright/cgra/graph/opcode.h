// The operations of a fabric's tile: name, operand count, value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright::cgra {

enum class Opcode : uint8_t {
  kCopy,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kAnd,
  kOr,
  kXor,
  kNot,
  kShiftLeft,
  kShiftRight,
  kShiftRightLogical,
  kMinimum,
  kMaximum,
  kAbsolute,
  kNegate,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kSelect,
  kMerge,
  kSignExtend,
  kLookup,
  kLoad,
  kStore,
  kInput,
  kOutput,
};

inline constexpr int kOpcodes = int(Opcode::kOutput) + 1;

struct OpcodeFacts {
  std::string_view name;  // as graph files write it
  int least_operands = 1, most_operands = 1;
  bool memory = false;  // load or store
};

const OpcodeFacts& opcode_facts(Opcode op);
// By name; nothing where there is none.
std::optional<Opcode> find_opcode(std::string_view name);

}  // namespace tilewright::cgra
