// Programs of whole small networks for the comparison of engines.
#pragma once

#include "equality.h"
#include "tilewright/graph/graph.h"

namespace tilewright::overlay {

// `float_graph` (of the zoo) quantised and compiled for `hardware`: its overlay programs, each with the
// inputs that it gets in a run on the seeded image. The graph runs on the overlay alone, and the functional
// engine gives what the host's integer execution does; else Error (internal).
std::vector<EqualityProgram> network_programs(const std::string& name, const Graph& float_graph,
                                              const OverlayHardware& hardware);

}  // namespace tilewright::overlay
