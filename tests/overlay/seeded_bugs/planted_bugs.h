// Twenty-odd ways in which a compiler like ours goes wrong, each as a change of a correct program.
#pragma once

#include <string>
#include <vector>

#include "tilewright/overlay/program/program.h"

namespace tilewright::seeded_bugs {

// A program taken apart: instructions and micro-ops decoded, the rest of the memory as it is.
struct OpenProgram {
  overlay::OverlayProgram program;
  std::vector<overlay::Instruction> instructions;
  std::vector<overlay::MicroOp> uops;
};

OpenProgram open_program(overlay::OverlayProgram program);
// Encodes instructions and micro-ops back into the memory.
overlay::OverlayProgram close_program(OpenProgram open);

struct Bug {
  std::string name;
  // Plants the bug; false when the program offers no place for it.
  bool (*plant)(OpenProgram&);
  // Part of the programs in which it must be found: 1 where every program changes its result or breaks a
  // rule; less where a change of the last bit may hide behind rounding and clipping.
  double must_find = 1;
};

std::vector<Bug> all_bugs();

}  // namespace tilewright::seeded_bugs
