// What the operators of a netlist compute, for nets of at most 64 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

inline constexpr int kWordBits = 64;

inline uint64_t low_bits(uint64_t value, int width) {
  return width >= kWordBits ? value : value & ((uint64_t{1} << width) - 1);
}

// An operator between cells that hold the nets' values, zero-extended.
struct CellOperator {
  Operation operation = Operation::kConstant;
  uint64_t* result = nullptr;
  int width = 1;
  uint64_t value = 0;
  std::vector<const uint64_t*> operands;
  std::vector<int> widths;  // of the operands

  // Sets the result.
  void evaluate() const;
};

// Of a verified module; `cells` by net.
CellOperator make_operator(const Module& module, const Assign& assign, std::vector<uint64_t>& cells);

}  // namespace tilewright::netlist
