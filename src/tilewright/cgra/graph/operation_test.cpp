// Every operation on the numbers that are easily wrong, and the data nobody gave.
#include "tilewright/cgra/graph/operation.h"

#include <gtest/gtest.h>

#include <limits>

namespace tilewright::cgra {
namespace {

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();

int32_t apply(Opcode op, std::vector<int32_t> operands) { return apply_operation(op, operands); }

TEST(Operation, WrapsAndDividesTowardsZero) {
  EXPECT_EQ(apply(Opcode::kAdd, {kMost, 1}), kLeast);
  EXPECT_EQ(apply(Opcode::kAdd, {1, 2, 3, 4}), 10);
  EXPECT_EQ(apply(Opcode::kSubtract, {kLeast, 1}), kMost);
  EXPECT_EQ(apply(Opcode::kMultiply, {65537, 65537}), 131073);
  EXPECT_EQ(apply(Opcode::kMultiply, {3, -4, 5}), -60);
  EXPECT_EQ(apply(Opcode::kDivide, {-7, 2}), -3);
  EXPECT_EQ(apply(Opcode::kRemainder, {-7, 2}), -1);
  EXPECT_EQ(apply(Opcode::kDivide, {7, 0}), 0);
  EXPECT_EQ(apply(Opcode::kRemainder, {7, 0}), 0);
  EXPECT_EQ(apply(Opcode::kDivide, {kLeast, -1}), kLeast);
  EXPECT_EQ(apply(Opcode::kRemainder, {kLeast, -1}), 0);
  EXPECT_EQ(apply(Opcode::kNegate, {kLeast}), kLeast);
  EXPECT_EQ(apply(Opcode::kAbsolute, {kLeast}), kLeast);
  EXPECT_EQ(apply(Opcode::kAbsolute, {-5}), 5);
}

TEST(Operation, ShiftsByTheLowFiveBits) {
  EXPECT_EQ(apply(Opcode::kShiftLeft, {1, 31}), kLeast);
  EXPECT_EQ(apply(Opcode::kShiftLeft, {3, 33}), 6);
  EXPECT_EQ(apply(Opcode::kShiftRight, {-8, 1}), -4);
  EXPECT_EQ(apply(Opcode::kShiftRight, {-8, -31}), -4);
  EXPECT_EQ(apply(Opcode::kShiftRightLogical, {-1, 28}), 15);
}

TEST(Operation, BitsChoicesAndComparisons) {
  EXPECT_EQ(apply(Opcode::kAnd, {12, 10, 9}), 8);
  EXPECT_EQ(apply(Opcode::kOr, {12, 3}), 15);
  EXPECT_EQ(apply(Opcode::kXor, {12, 10}), 6);
  EXPECT_EQ(apply(Opcode::kNot, {0}), -1);
  EXPECT_EQ(apply(Opcode::kMinimum, {3, -4, 5}), -4);
  EXPECT_EQ(apply(Opcode::kMaximum, {3, -4, 5}), 5);
  EXPECT_EQ(apply(Opcode::kSelect, {9}), 9);
  EXPECT_EQ(apply(Opcode::kSelect, {0, 4}), 0);
  EXPECT_EQ(apply(Opcode::kSelect, {-1, 4, 5}), 4);
  EXPECT_EQ(apply(Opcode::kSelect, {0, 4, 5}), 5);
  EXPECT_EQ(apply(Opcode::kSelect, {0, 4, 5, 0}), 0);
  EXPECT_EQ(apply(Opcode::kMerge, {0, 0, 7, 8}), 7);
  EXPECT_EQ(apply(Opcode::kMerge, {0}), 0);
  EXPECT_EQ(apply(Opcode::kSignExtend, {0x18000}), -32768);
  EXPECT_EQ(apply(Opcode::kCopy, {-3}), -3);
  const auto compared = [](int32_t a, int32_t b) {
    std::vector<int32_t> values;
    for (int op = int(Opcode::kEqual); op <= int(Opcode::kGreaterEqual); ++op)
      values.push_back(apply(Opcode(op), {a, b}));
    return values;
  };
  EXPECT_EQ(compared(1, 2), (std::vector<int32_t>{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(compared(2, 2), (std::vector<int32_t>{1, 0, 0, 1, 0, 1}));
  EXPECT_EQ(compared(2, -1), (std::vector<int32_t>{0, 1, 0, 0, 1, 1}));
}

TEST(Operation, TwoStepsOfOneInstruction) {
  const std::vector<int32_t> operands{3, 4, 5};
  EXPECT_EQ(operation_value(Opcode::kMultiply, Opcode::kSubtract, operands, 0, -1, {}), 7);
  EXPECT_EQ(operation_value(Opcode::kAdd, {}, operands, 0, -1, {}), 12);
}

TEST(Operation, ReachesArraysAndArguments) {
  const Inputs inputs{{{2, {10, 20, 30}}}, {{1, {7}}}};
  const auto value = [&](Opcode op, std::vector<int32_t> operands, int thread, int array = 2) {
    return operation_value(op, {}, operands, thread, array, inputs);
  };
  EXPECT_EQ(value(Opcode::kLoad, {1, 1}, 9), 30);
  EXPECT_EQ(value(Opcode::kLoad, {3}, 0), 0);
  EXPECT_EQ(value(Opcode::kLoad, {-1}, 0), 0);
  EXPECT_EQ(value(Opcode::kLoad, {5}, 0, 3), pseudo_element(3, 5));
  EXPECT_EQ(value(Opcode::kInput, {}, 1), 20);
  EXPECT_EQ(value(Opcode::kInput, {1}, 1), 30);
  EXPECT_EQ(value(Opcode::kStore, {8, 3}, 0), 8);
  EXPECT_EQ(argument_value(inputs, 1, 0), 7);
  EXPECT_EQ(argument_value(inputs, 1, 1), 0);
  EXPECT_EQ(argument_value(inputs, 4, 1), pseudo_argument(4, 1));
  EXPECT_NE(pseudo_element(0, 1), pseudo_element(0, 2));
  EXPECT_NE(pseudo_element(0, 1), pseudo_element(1, 1));
}

TEST(Operation, RecordsOfStoresAndOutputs) {
  const auto record = [](Opcode op, std::vector<int32_t> operands) { return store_record(op, operands, 6); };
  EXPECT_EQ(record(Opcode::kStore, {8}), (StoreRecord{6, 8}));
  EXPECT_EQ(record(Opcode::kStore, {8, 3, 4}), (StoreRecord{7, 8}));
  EXPECT_EQ(record(Opcode::kOutput, {8}), (StoreRecord{6, 8}));
  EXPECT_EQ(record(Opcode::kOutput, {8, 3}), (StoreRecord{9, 8}));
}

TEST(Operation, TablesWrapAround) {
  EXPECT_EQ(table_index(5, 4), 1u);
  EXPECT_EQ(table_index(-1, 4), 3u);
  EXPECT_EQ(table_index(kLeast, 3), 1u);
}

}  // namespace
}  // namespace tilewright::cgra
