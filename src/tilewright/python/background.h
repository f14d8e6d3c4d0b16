// Long work of a Python call: it runs on a thread of its own without Python's lock, while the caller's thread
// looks for Ctrl-C and hands progress on.
#pragma once

#include <pybind11/pybind11.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "tilewright/search/deadline.h"

namespace tilewright::python {

class Background {
 public:
  // `deadline` (may be null) ends with the first Ctrl-C: the work then gives the best that it has.
  // `progress`: called on the caller's thread with a line of text and the share that is done, 0 to 1, or
  // None; None: nothing is.
  Background(const Deadline* deadline, pybind11::object progress)
      : deadline_(deadline), progress_(std::move(progress)) {}

  // From the work's thread: the latest line of progress, and what share is done where that is known.
  void report(std::string line, std::optional<double> share = {});

  // Runs `work`. A Ctrl-C that the work cannot heed is raised as KeyboardInterrupt when it is done; so is one
  // after which it has no result.
  template <typename Work>
  auto run(const Work& work) {
    std::optional<decltype(work())> result;
    wait_for([&] { result.emplace(work()); });
    return std::move(*result);
  }

 private:
  struct Progress {
    std::string line;
    std::optional<double> share;
  };

  void wait_for(const std::function<void()>& work);
  // With Python's lock. False after Ctrl-C; errors of the callback leave it.
  bool hand_on(const std::optional<Progress>& now);

  const Deadline* deadline_;
  pybind11::object progress_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Progress> latest_;
  bool fresh_ = false;  // not handed on yet
  bool done_ = false;
};

}  // namespace tilewright::python
