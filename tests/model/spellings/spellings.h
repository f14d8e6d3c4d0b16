// Functions that exporters write as primitive operators, each in the spelling of one exporter or library.
#pragma once

#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct Spelling {
  const char* name;  // the function, and who writes it so
  Graph (*build)(bool between_layers);  // alone, or between two products with weights
};

// Normalisations, then activations.
const std::vector<Spelling>& spellings();

}  // namespace tilewright
