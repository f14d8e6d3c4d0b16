// What a tile takes of a capacity.
#include "tilewright/nest/access_counts.h"
#include "tilewright/nest/footprint.h"

namespace tilewright {

int64_t held_words(const DataSpace& space, std::span<const int64_t> extents, Accounting accounting) {
  return accounting == Accounting::kTimeloop ? bounding_box(space, extents) : footprint(space, extents);
}

}  // namespace tilewright
