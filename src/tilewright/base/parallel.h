// Data-parallel loops over an explicit number of threads.
#pragma once

#include <cstdint>
#include <functional>

namespace tilewright {

// Calls body(begin, end) on disjoint sub-ranges that cover [0, count), on up to `threads` threads (including
// the caller's; fewer if the system starts no more; threads <= 1 runs inline). The first exception thrown by
// a body is thrown again here.
void parallel_for(int threads, int64_t count, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace tilewright
