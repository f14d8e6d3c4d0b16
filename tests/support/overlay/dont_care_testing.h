// The bits of an instruction that have no meaning in it (docs/reference/isa.md, "Fields without meaning"), to
// test that every engine ignores them.
#pragma once

#include <cstdint>

#include "tilewright/base/random.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {

// Replaces them by random ones in the `layout.words` words of a legal instruction.
void randomise_dont_cares(const OverlayHardware& hardware, const IsaLayout& layout, Random& random,
                          uint64_t* words);

}  // namespace tilewright::overlay
