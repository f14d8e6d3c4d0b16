// What every operation computes, and the data that a program finds outside. Values are 32-bit integers;
// arithmetic wraps.
//
//   copy a                 a                       add, mul, and, or, xor, min, max a b ...   of all operands
//   sub a b, neg a, abs a  wrap (abs of the least number is itself)
//   div a b, rem a b       towards zero; 0 where b is 0
//   shl, shr, lshr a b     by b mod 32; shr keeps the sign
//   eq, ne, lt, ... a b    1 or 0                  not a       all bits inverted
//   select c a b p         a where c is not 0, b (0 where missing) otherwise; 0 where p is given and 0
//   merge a b ...          the first operand that is not 0; 0 where all are
//   sext a                 the low 16 bits, signed
//   load i ...             array[sum of the operands]
//   input i                array[thread + i]       (no operand: array[thread])
//   store v i ...          record (sum of the operands after v, v); its index is the thread where v stands
//   output v i             record (thread + i, v)                                                    alone
// A store's or output's own result is v. lookup (table, index) reads a table of the tile's memory at index
// mod size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tilewright/cgra/graph/opcode.h"

namespace tilewright::cgra {

// Data from outside. What is not given comes from pure functions of array and index, so every graph can run.
struct Inputs {
  std::map<int, std::vector<int32_t>> arrays;     // by number of the array; 0 outside
  std::map<int, std::vector<int32_t>> arguments;  // by number of the variable: an entry per thread; 0 beyond
};

// What a store or an output writes.
struct StoreRecord {
  int32_t index = 0, value = 0;
  bool operator==(const StoreRecord&) const = default;
};

// An element of an array that is not given; a value of a variable that is neither computed nor given.
int32_t pseudo_element(int array, int32_t index);
int32_t pseudo_argument(int variable, int thread);

// As given in `inputs`, or from the pure functions. `array` may be -1: an array of its own.
int32_t array_element(const Inputs& inputs, int array, int32_t index);
int32_t argument_value(const Inputs& inputs, int variable, int thread);

// Every operation but lookup, load, store, input and output. `operands`: at least as many as the opcode
// takes.
int32_t apply_operation(Opcode op, std::span<const int32_t> operands);

// An instruction: (a op b) then c where `then` is given. `operands` without the table of a lookup; lookups
// excepted, everything has a value.
int32_t operation_value(Opcode op, std::optional<Opcode> then, std::span<const int32_t> operands, int thread,
                        int array, const Inputs& inputs);

// Of a store or output.
StoreRecord store_record(Opcode op, std::span<const int32_t> operands, int thread);

// index mod size, never negative; size > 0.
size_t table_index(int32_t index, size_t size);

}  // namespace tilewright::cgra
