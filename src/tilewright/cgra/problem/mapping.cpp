// The length of a mapping.
#include "tilewright/cgra/problem/mapping.h"

#include <algorithm>

namespace tilewright::cgra {

int makespan_cycles(const GraphMapping& mapping, int operation_latency_cycles) {
  int end = 0;
  for (const Place& place : mapping.places) end = std::max(end, place.time + operation_latency_cycles);
  return end;
}

}  // namespace tilewright::cgra
