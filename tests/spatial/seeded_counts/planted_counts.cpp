// The copies of the closed forms that CMakeLists.txt plants bugs into.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "tilewright/base/integer_math.h"
#include "tilewright/nest/access_counts.h"
#include "tilewright/nest/footprint.h"

// The copies need the headers above.
#include "bug_bodies.inc"
