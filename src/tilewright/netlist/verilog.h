// A netlist as SystemVerilog, in the subset that Yosys 0.23, Verilator 5.006 (-Wall) and Icarus 11 read
// alike.
#pragma once

#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// All modules of a verified design (verifier.h), the top last. Names that Verilog does not allow are changed
// (names.h): ports first, then nets, then the rest, so a module's ports keep their names unless those are
// illegal. `library` names modules and ports of hand-written components, which are printed as they are.
std::string to_verilog(const Netlist& design, const Library& library);

// A line of text as a comment can hold it: what is no printable ASCII becomes a question mark.
std::string comment_text(const std::string& line);

// The names of a module's ports as to_verilog prints them, in the order of Module::ports.
std::vector<std::string> printed_ports(const Module& module);
// Likewise of its instances.
std::vector<std::string> printed_instances(const Module& module);
// The name of the module itself.
std::string printed_module(const Netlist& design, const std::string& module_name, const Library& library);

}  // namespace tilewright::netlist
