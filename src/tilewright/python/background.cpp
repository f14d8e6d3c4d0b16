// A second Ctrl-C waits like the first one: the thread cannot be ended from outside.
#include "tilewright/python/background.h"

#include <pybind11/stl.h>

#include <chrono>
#include <thread>

namespace tilewright::python {

namespace py = pybind11;

void Background::report(std::string line, std::optional<double> share) {
  const std::lock_guard lock(mutex_);
  latest_ = Progress{std::move(line), share};
  fresh_ = true;
}

bool Background::hand_on(const std::optional<Progress>& now) {
  if (now && !progress_.is_none()) progress_(now->line, now->share);  // throws error_already_set
  return PyErr_CheckSignals() == 0;
}

void Background::wait_for(const std::function<void()>& work) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  constexpr int kRepeat = 10;  // pauses after which the latest line comes again
  int silent = 0;
  std::exception_ptr failure;
  std::optional<py::error_already_set> raised;  // the first exception in Python
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  });
  for (bool done = false; !done;) {
    std::optional<Progress> now;
    {
      const py::gil_scoped_release release;
      std::unique_lock lock(mutex_);
      done = changed_.wait_for(lock, kPause, [&] { return done_; });
      if (fresh_ || ++silent % kRepeat == 0) now = latest_;
      fresh_ = false;
    }
    try {
      if (!raised && !hand_on(now)) raised.emplace();
    } catch (py::error_already_set& error) {
      raised.emplace(error);
    }
    if (raised && deadline_ != nullptr) deadline_->expire(Ending::kRequest);
  }
  worker.join();
  // A search that heeded Ctrl-C gives what it has; only its own failure, or that of a callback, is raised.
  const bool heeded = raised && deadline_ != nullptr && raised->matches(PyExc_KeyboardInterrupt) && !failure;
  if (raised && !heeded) throw py::error_already_set(*raised);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tilewright::python
