// Arithmetic on unsigned numbers, whose overflow is defined, and SplitMix64 for data that is not given.
#include "tilewright/cgra/graph/operation.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright::cgra {
namespace {

template <typename Combine>
int32_t fold(std::span<const int32_t> operands, Combine combine) {
  int32_t value = operands[0];
  for (const int32_t next : operands.subspan(1)) value = combine(value, next);
  return value;
}

int32_t sum(std::span<const int32_t> operands) {
  uint32_t value = 0;
  for (const int32_t operand : operands) value += uint32_t(operand);
  return int32_t(value);
}

int32_t divide(int32_t a, int32_t b, bool remainder) {
  if (b == 0) return 0;
  return int32_t(remainder ? int64_t(a) % b : int64_t(a) / b);
}

int32_t select(std::span<const int32_t> operands) {
  if (operands.size() == 1) return operands[0];
  if (operands.size() > 3 && operands[3] == 0) return 0;
  if (operands[0] != 0) return operands[1];
  return operands.size() > 2 ? operands[2] : 0;
}

int32_t merge(std::span<const int32_t> operands) {
  for (const int32_t operand : operands) {
    if (operand != 0) return operand;
  }
  return 0;
}

int32_t compare_by(Opcode op, int32_t a, int32_t b) {
  switch (op) {
    case Opcode::kEqual:
      return a == b;
    case Opcode::kNotEqual:
      return a != b;
    case Opcode::kLess:
      return a < b;
    case Opcode::kLessEqual:
      return a <= b;
    case Opcode::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

int32_t binary(Opcode op, int32_t a, int32_t b) {
  switch (op) {
    case Opcode::kSubtract:
      return int32_t(uint32_t(a) - uint32_t(b));
    case Opcode::kDivide:
      return divide(a, b, false);
    case Opcode::kRemainder:
      return divide(a, b, true);
    case Opcode::kShiftLeft:
      return int32_t(uint32_t(a) << (b & 31));
    case Opcode::kShiftRight:
      return a >> (b & 31);
    case Opcode::kShiftRightLogical:
      return int32_t(uint32_t(a) >> (b & 31));
    default:
      return compare_by(op, a, b);
  }
}

int32_t drawn(uint64_t kind, int number, int32_t place) {
  Random random(kind ^ (uint64_t(uint32_t(number)) << 32) ^ uint64_t(uint32_t(place)));
  return int32_t(random.between(-999, 999));
}

int32_t given_or(const std::map<int, std::vector<int32_t>>& given, int number, int32_t place,
                 int32_t (*otherwise)(int, int32_t)) {
  const auto found = given.find(number);
  if (found == given.end()) return otherwise(number, place);
  return place >= 0 && size_t(place) < found->second.size() ? found->second[size_t(place)] : 0;
}

}  // namespace

int32_t pseudo_element(int array, int32_t index) { return drawn(0xA44A7F00D15EA5E5u, array, index); }

int32_t pseudo_argument(int variable, int thread) { return drawn(0x0D15EA5EDA46F00Du, variable, thread); }

int32_t array_element(const Inputs& inputs, int array, int32_t index) {
  return given_or(inputs.arrays, array, index, pseudo_element);
}

int32_t argument_value(const Inputs& inputs, int variable, int thread) {
  return given_or(inputs.arguments, variable, thread, pseudo_argument);
}

int32_t apply_operation(Opcode op, std::span<const int32_t> operands) {
  TILEWRIGHT_CHECK(int(operands.size()) >= opcode_facts(op).least_operands, "an operation lacks operands");
  switch (op) {
    case Opcode::kCopy:
      return operands[0];
    case Opcode::kAdd:
      return sum(operands);
    case Opcode::kMultiply:
      return fold(operands, [](int32_t a, int32_t b) { return int32_t(uint32_t(a) * uint32_t(b)); });
    case Opcode::kAnd:
      return fold(operands, [](int32_t a, int32_t b) { return a & b; });
    case Opcode::kOr:
      return fold(operands, [](int32_t a, int32_t b) { return a | b; });
    case Opcode::kXor:
      return fold(operands, [](int32_t a, int32_t b) { return a ^ b; });
    case Opcode::kMinimum:
      return *std::min_element(operands.begin(), operands.end());
    case Opcode::kMaximum:
      return *std::max_element(operands.begin(), operands.end());
    case Opcode::kNot:
      return ~operands[0];
    case Opcode::kNegate:
      return int32_t(0u - uint32_t(operands[0]));
    case Opcode::kAbsolute:
      return operands[0] < 0 ? int32_t(0u - uint32_t(operands[0])) : operands[0];
    case Opcode::kSelect:
      return select(operands);
    case Opcode::kMerge:
      return merge(operands);
    case Opcode::kSignExtend:
      return int16_t(uint16_t(uint32_t(operands[0])));
    default:
      return binary(op, operands[0], operands[1]);
  }
}

int32_t operation_value(Opcode op, std::optional<Opcode> then, std::span<const int32_t> operands, int thread,
                        int array, const Inputs& inputs) {
  switch (op) {
    case Opcode::kLoad:
      return array_element(inputs, array, sum(operands));
    case Opcode::kInput:
      return array_element(inputs, array, int32_t(uint32_t(thread) + uint32_t(sum(operands))));
    case Opcode::kStore:
    case Opcode::kOutput:
      return operands[0];
    default:
      break;
  }
  if (!then) return apply_operation(op, operands);
  const int32_t both[] = {apply_operation(op, operands.first(2)), operands[2]};
  return apply_operation(*then, both);
}

StoreRecord store_record(Opcode op, std::span<const int32_t> operands, int thread) {
  const uint32_t behind = uint32_t(sum(operands.subspan(1)));
  const bool counts = op == Opcode::kOutput || operands.size() == 1;
  return {int32_t(behind + (counts ? uint32_t(thread) : 0u)), operands[0]};
}

size_t table_index(int32_t index, size_t size) {
  const int64_t rest = int64_t(index) % int64_t(size);
  return size_t(rest < 0 ? rest + int64_t(size) : rest);
}

}  // namespace tilewright::cgra
