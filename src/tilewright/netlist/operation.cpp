// Results are cut to their width where an operation can exceed it.
#include "tilewright/netlist/operation.h"

namespace tilewright::netlist {
namespace {

int64_t sign_extended(uint64_t value, int width) {
  return int64_t(value << (kWordBits - width)) >> (kWordBits - width);
}

uint64_t concatenated(const CellOperator& own) {
  uint64_t value = 0;
  for (size_t i = 0; i < own.operands.size(); ++i) {
    value = (own.widths[i] >= kWordBits ? 0 : value << own.widths[i]) | *own.operands[i];
  }
  return value;
}

uint64_t compute(const CellOperator& own) {
  const auto operand = [&](size_t i) { return *own.operands[i]; };
  const auto as_signed = [&](size_t i) { return sign_extended(operand(i), own.widths[i]); };
  switch (own.operation) {
    case Operation::kConstant:
      return own.value;
    case Operation::kNot:
      return ~operand(0);
    case Operation::kAnd:
      return operand(0) & operand(1);
    case Operation::kOr:
      return operand(0) | operand(1);
    case Operation::kXor:
      return operand(0) ^ operand(1);
    case Operation::kAdd:
      return operand(0) + operand(1);
    case Operation::kSubtract:
      return operand(0) - operand(1);
    case Operation::kMultiply:
      return uint64_t(as_signed(0)) * uint64_t(as_signed(1));
    case Operation::kEqual:
      return operand(0) == operand(1) ? 1 : 0;
    case Operation::kLess:
      return operand(0) < operand(1) ? 1 : 0;
    case Operation::kLessSigned:
      return as_signed(0) < as_signed(1) ? 1 : 0;
    case Operation::kMux:
      return operand(0) != 0 ? operand(1) : operand(2);
    case Operation::kConcatenate:
      return concatenated(own);
    case Operation::kSlice:
      return operand(0) >> own.value;
    case Operation::kSignExtend:
      return uint64_t(as_signed(0));
    case Operation::kZeroExtend:
      return operand(0);
    case Operation::kReduceAnd:
      return operand(0) == low_bits(~uint64_t{0}, own.widths[0]) ? 1 : 0;
    case Operation::kReduceOr:
      return operand(0) != 0 ? 1 : 0;
  }
  return 0;
}

}  // namespace

void CellOperator::evaluate() const { *result = low_bits(compute(*this), width); }

CellOperator make_operator(const Module& module, const Assign& assign, std::vector<uint64_t>& cells) {
  CellOperator own{assign.operation,
                   &cells[size_t(assign.result)],
                   module.nets[size_t(assign.result)].width,
                   assign.value,
                   {},
                   {}};
  for (const NetId operand : assign.operands) {
    own.operands.push_back(&cells[size_t(operand)]);
    own.widths.push_back(module.nets[size_t(operand)].width);
  }
  return own;
}

}  // namespace tilewright::netlist
