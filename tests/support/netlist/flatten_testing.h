// One module from a hierarchy.
#pragma once

#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// The top of a verified design with all its modules put in place; what stood in instance `a` gets names that
// begin with "a.". Instances of components stay instances.
Module flatten(const Netlist& design);

}  // namespace tilewright::netlist
