// The command lets only names of engines through; other callers pass what their user wrote.
#include "tilewright/flow/target/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/words/nearest_word.h"

namespace tilewright {

synthesis::StopRequest stop_of(const SynthesisRequest& request) {
  return [deadline = request.deadline] { return deadline != nullptr && deadline->expired(); };
}

void check_engine(const Target& target, const std::string& engine) {
  if (std::find(target.engines.begin(), target.engines.end(), engine) != target.engines.end()) return;
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("there is no engine '{}' for a {}", engine, target.artifact),
              words_hint(engine, target.engines, "choose one of"));
}

}  // namespace tilewright
