// Functions that exporters write as primitive operators, each in the spelling of one exporter or library.
#pragma once

#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct Spelling {
  const char* name;                     // the function, and who writes it so
  Graph (*build)(bool between_layers);  // alone, or between two products with weights
};

// Normalisations and what else works along rows, then activations.
const std::vector<Spelling>& spellings();
// Attentions of two sentences of five words, four heads of eight; alone.
const std::vector<Spelling>& attention_spellings();

}  // namespace tilewright
