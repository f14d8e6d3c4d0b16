// The knobs of ImplementationSpace with their values, and its rules.
#pragma once

#include "tilewright/overlay/implementation_space.h"

namespace tilewright::overlay {

std::vector<ImplementationKnob> implementation_knobs();
std::vector<EliminationRule> implementation_rules();

}  // namespace tilewright::overlay
