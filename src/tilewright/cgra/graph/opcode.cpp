// The table of operations.
#include "tilewright/cgra/graph/opcode.h"

#include <array>

#include "tilewright/base/error.h"

namespace tilewright::cgra {
namespace {

// Operations over any number of operands: the fabric's instructions set the limit.
constexpr int kAny = 1000;

// In the order of Opcode.
constexpr std::array<OpcodeFacts, kOpcodes> kFacts = {{
    {"copy", 1, 1, false},     {"add", 2, kAny, false}, {"sub", 2, 2, false},    {"mul", 2, kAny, false},
    {"div", 2, 2, false},      {"rem", 2, 2, false},    {"and", 2, kAny, false}, {"or", 2, kAny, false},
    {"xor", 2, kAny, false},   {"not", 1, 1, false},    {"shl", 2, 2, false},    {"shr", 2, 2, false},
    {"lshr", 2, 2, false},     {"min", 2, kAny, false}, {"max", 2, kAny, false}, {"abs", 1, 1, false},
    {"neg", 1, 1, false},      {"eq", 2, 2, false},     {"ne", 2, 2, false},     {"lt", 2, 2, false},
    {"le", 2, 2, false},       {"gt", 2, 2, false},     {"ge", 2, 2, false},     {"select", 1, 4, false},
    {"merge", 1, kAny, false}, {"sext", 1, 1, false},   {"lookup", 2, 2, false}, {"load", 1, 3, true},
    {"store", 1, 4, true},     {"input", 0, 1, false},  {"output", 1, 2, false},
}};

}  // namespace

const OpcodeFacts& opcode_facts(Opcode op) {
  TILEWRIGHT_CHECK(int(op) < kOpcodes, "an opcode outside the table");
  return kFacts[int(op)];
}

std::optional<Opcode> find_opcode(std::string_view name) {
  for (int op = 0; op < kOpcodes; ++op) {
    if (kFacts[op].name == name) return Opcode(op);
  }
  return {};
}

}  // namespace tilewright::cgra
