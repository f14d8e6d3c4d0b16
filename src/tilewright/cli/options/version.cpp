// The commit comes from cmake/commit.cmake at build time; it is "unknown" where there is no repository.
#include "tilewright/cli/options/version.h"

#include "tilewright_commit.h"

namespace tilewright::cli {

std::string version_number() { return TILEWRIGHT_VERSION; }
std::string version_text() { return TILEWRIGHT_VERSION " (commit " TILEWRIGHT_COMMIT ")"; }
std::string commit_date() { return TILEWRIGHT_COMMIT_DATE; }

}  // namespace tilewright::cli
