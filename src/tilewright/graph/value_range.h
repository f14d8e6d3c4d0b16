// The integers that a value can hold, as far as the graph says: narrow activations (4, 2 and 1 bits) are
// stored as i8, and the clip that makes them says how narrow they are.
#pragma once

#include <cstdint>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct ValueRange {
  int64_t low = 0, high = 0;
  bool bipolar = false;  // nothing but -1 and +1
  bool operator==(const ValueRange&) const = default;
};

// Of an integer value: of its constant, of the clip or table of the integer operator that makes it, through
// operators that only move, pick or compare (MaxPool, Reshape, Concat, ...); else the range of its type. A
// maximum over padding alone is ignored.
ValueRange value_range(const Graph& graph, ValueId value);

}  // namespace tilewright
