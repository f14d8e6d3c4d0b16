// Every reader of text (machines, layers, mappings, graphs, records, assembly, what tools report) and of
// samples (arrays, pictures, sounds), each with files of the project, or made here.
#pragma once

#include <vector>

#include "fuzz/fuzz_targets.h"

namespace tilewright {

// YAML and JSON documents (damage_document), and texts of formats of their own.
std::vector<FuzzTarget> text_targets();

}  // namespace tilewright
