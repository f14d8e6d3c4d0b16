// The command lets only names of engines through; other callers pass what their user wrote.
#include "tilewright/flow/target/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tilewright {

void check_engine(const Target& target, const std::string& engine) {
  if (std::find(target.engines.begin(), target.engines.end(), engine) != target.engines.end()) return;
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("there is no engine '{}' for a {}", engine, target.artifact),
              fmt::format("choose {}", fmt::join(target.engines, ", ")));
}

}  // namespace tilewright
