// Which Tilewright this is. In a file of its own: only this is compiled again when the commit changes.
#pragma once

#include <string>

namespace tilewright::cli {

std::string version_number();  // "1.0.0", as in JSON and file names
std::string version_text();    // "1.0.0 (commit 0123456789ab)"; what was changed since ends with "-dirty"
std::string commit_date();     // YYYY-MM-DD

}  // namespace tilewright::cli
