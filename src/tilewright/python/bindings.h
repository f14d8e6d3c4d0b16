// What the parts of tilewright._native share.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/run/overlay_target.h"
#include "tilewright/flow/target/limit_words.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/python/background.h"
#include "tilewright/report/page.h"
#include "tilewright/search/deadline.h"

namespace tilewright::python {

// Each part adds its classes and functions.
void bind_models(pybind11::module_& m);
void bind_onnx(pybind11::module_& m);
void bind_runs(pybind11::module_& m);
void bind_searches(pybind11::module_& m);
void bind_tuning(pybind11::module_& m);

// A bundle and the engines that its runs made.
struct CompiledBundle {
  std::shared_ptr<const PreparedBundle> prepared;
  Answer layers;  // empty for a bundle from a file
};

// [(name, type, shape)] of a graph's inputs or outputs.
pybind11::list values_of(const Graph& graph, const std::vector<ValueId>& values);

inline SharedFolders folders(const std::filesystem::path& prefix) {
  return find_shared_folders(prefix, TILEWRIGHT_SOURCE_DIR);
}

// What pages of this package say about where they are from.
inline PageOrigin page_origin() {
  return {.command = "import tilewright  # Python", .version = TILEWRIGHT_VERSION, .inputs = {}};
}
inline Page page_of(Page page) {
  page.origin = page_origin();
  return page;
}

inline pybind11::tuple pair_of(const Answer& answer) {
  return pybind11::make_tuple(answer.text, answer.json);
}

// What may end a search early, as people write it: "10min" (empty: no limit), and "16G" of memory of this
// process (empty: no limit).
struct Limits {
  std::string time, memory;
};

// The deadline of a call; lives as long as it.
class CallDeadline {
 public:
  explicit CallDeadline(const Limits& limits)
      : deadline_(limits.time.empty() ? Deadline::kNoLimit : seconds_in(limits.time)) {
    if (!limits.memory.empty()) deadline_.limit_memory(bytes_in(limits.memory));
  }
  Deadline* get() { return &deadline_; }

 private:
  Deadline deadline_;
};

// Work without a part result: Ctrl-C is raised when it is done. `progress` as in Background: it sees that
// time goes by.
template <typename Work>
auto in_background(const Work& work, const pybind11::object& progress = pybind11::none()) {
  Background background(nullptr, progress);
  background.report("");
  return background.run(work);
}

}  // namespace tilewright::python
