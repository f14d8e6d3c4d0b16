// A formula that every routed mapping of a kernel at one II satisfies, however long its schedule: refuting it
// refutes the II.
#pragma once

#include "tilewright/cgra/problem/model.h"
#include "tilewright/cgra/sat/cnf.h"
#include "tilewright/hardware/fabric.h"

namespace tilewright::cgra {

// Nodes have a tile and a slot but no time. A value is followed for `ages` clocks from its production, with
// links and registers counted in the slots they fall into; a use at a later age only demands that the value
// was still kept at the last one. Nodes of one cycle keep their exact distances in time, which the cycle
// bounds; others only agree modulo II. Links within the clock; `ages` at least 1.
Cnf any_length_formula(const Fabric& fabric, const PlacementModel& model, int ages);

}  // namespace tilewright::cgra
