// What can go wrong while a configuration runs. A fault ends the run; it says where and why.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright::cgra {

enum class FaultKind : uint8_t {
  kMissingOperand,  // an instruction starts and one of its inputs carries no value
  kTooManyHops,     // a value crosses more links within a clock than the fabric allows, or runs in a circle
  kTooManyPassing,  // more values pass a tile in a clock than the fabric allows
  kDeadlock,        // flows wait for each other
  kClockLimit,
};

// "missing operand", ...
const char* fault_name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kDeadlock;
  int64_t clock = 0;
  int tile = -1;     // -1: of no single tile
  std::string text;  // with names
};

// Inside the simulator: ends the run. simulate_fabric turns it into a result.
struct FaultStop {
  Fault fault;
};

}  // namespace tilewright::cgra
