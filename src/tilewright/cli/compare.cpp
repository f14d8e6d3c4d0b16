#include "tilewright/cli/model_input.h"
#include "tilewright/cli/verbs.h"

namespace tilewright::cli {

void compare(const CompareOptions&, std::ostream&) {
  throw Error(ErrorKind::kUnsupported, "compare is being built");
}

}  // namespace tilewright::cli
