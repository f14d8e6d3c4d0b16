// Checks that all components with tables or sizes share, and their messages.
#include "tilewright/pipeline/component/task_rows.h"

#include <fmt/format.h>

#include <bit>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {

const MemoryImage& task_table(const netlist::Parameters& parameters, const MemoryImages& images,
                              int64_t row_bits, const char* component) {
  const std::string name = netlist::text_or(parameters, "TABLE", "");
  const int64_t tasks = netlist::integer_or(parameters, "TASKS", 1);
  const auto found = images.find(name);
  if (found == images.end()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}: there is no task table '{}'", component, name),
                "add it to the images of the design");
  }
  const MemoryImage& image = found->second;
  if (image.width_bits() != row_bits || image.words() != tasks) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{}: the task table '{}' has {} rows of {} bits, {} of {} are expected",
                            component, name, image.words(), image.width_bits(), tasks, row_bits),
                "make it with the encode() of the component's header");
  }
  return image;
}

int64_t parameter_in(const netlist::Parameters& parameters, const char* component, const char* name,
                     int64_t low, int64_t high) {
  const int64_t value = netlist::integer(parameters, name);
  if (value < low || value > high) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}: {} is {}", component, name, value),
                fmt::format("{} to {} are possible", low, high));
  }
  return value;
}

int64_t parameter_in(const netlist::Parameters& parameters, const char* component, const char* name,
                     int64_t low, int64_t high, int64_t fallback) {
  return parameters.count(name) == 0 ? fallback : parameter_in(parameters, component, name, low, high);
}

int index_bits(int64_t count) { return count <= 2 ? 1 : int(std::bit_width(uint64_t(count - 1))); }

int64_t counted(const char* component, const char* field, int64_t value, int64_t bits) {
  if (value < 1 || value >= int64_t{1} << bits) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{}: {} of a task is {}, its counter has {} bits", component, field, value, bits),
                "counts begin at 1; widen the counter");
  }
  return value;
}

}  // namespace tilewright::pipeline
