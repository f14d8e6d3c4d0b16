// A compiled overlay program as a raw program for `tilewright exec`.
#pragma once

#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/referee/raw_program.h"

namespace tilewright {

// Static content, one image per input (what the program's memory holds there now: zeros, or the inputs
// written last), and one dump per output, in accelerator layout.
overlay::RawProgram raw_form(const overlay::OverlayProgram& program);

}  // namespace tilewright
