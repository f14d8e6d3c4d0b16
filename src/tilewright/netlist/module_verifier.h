// The part of the verifier that looks at one module alone.
#pragma once

#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// Everything but containment and loops (verifier.h).
void verify_module(const Netlist& design, const Library& library, const Module& module,
                   Diagnostics& diagnostics);

}  // namespace tilewright::netlist
