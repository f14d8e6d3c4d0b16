// Whether a netlist is hardware: everything that printers, evaluator and simulators rely on.
#pragma once

#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// Finds all of: names that are missing or taken, ports without nets; operands and results of wrong widths;
// nets with no driver or several; instances of unknown modules, unknown or unconnected ports, unknown
// parameters, modules that contain themselves; memories, queues, pipelines and state machines of impossible
// shape; combinational loops, through instances too. Diagnostics (invalid input) name module, part and net.
void verify(const Netlist& design, const Library& library, Diagnostics& diagnostics);
// For designs of our own making, where a finding is a bug. Errors (internal): all findings, with `what` as
// their context.
void require_verified(const Netlist& design, const Library& library, const std::string& what);

}  // namespace tilewright::netlist
