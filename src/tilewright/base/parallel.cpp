// One contiguous block per thread, equal but for one element, on threads that are started for the call and
// joined at its end. Where the system starts fewer threads, the caller's takes the blocks that are left. Of
// several exceptions, that of the first block is thrown again.
#include "tilewright/base/parallel.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace tilewright {

void parallel_for(int threads, int64_t count, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t workers = std::clamp<int64_t>(threads, 1, std::max<int64_t>(count, 1));
  if (workers == 1) {
    if (count > 0) body(0, count);
    return;
  }
  std::vector<std::exception_ptr> errors(static_cast<size_t>(workers));
  const auto run = [&](int64_t worker) {
    try {
      body(count * worker / workers, count * (worker + 1) / workers);
    } catch (...) {
      errors[size_t(worker)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    int64_t started = 1;
    try {
      for (; started < workers; ++started) pool.emplace_back(run, started);
    } catch (const std::exception&) {  // no thread, or no memory for one, is left
    }
    run(0);
    for (int64_t worker = started; worker < workers; ++worker) run(worker);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace tilewright
