// Checks of the options that every tree search shares.
#include "tilewright/search/tree_search.h"

namespace tilewright {

void TreeOptions::verify() const {
  limits.verify();
  Diagnostics problems;
  const auto refuse = [&](bool bad, const char* field) {
    if (bad) problems.error(ErrorKind::kInvalidInput, "search options", field, "must be positive");
  };
  refuse(threads <= 0, "threads");
  refuse(lanes <= 0, "lanes");
  refuse(quantum <= 0, "quantum");
  refuse(max_open <= 0, "max_open");
  problems.raise_if_any();
}

}  // namespace tilewright
