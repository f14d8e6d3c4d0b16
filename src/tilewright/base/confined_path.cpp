// A name is followed one component at a time and every link on the way is resolved, so that ".." behind a
// link means what the system takes it for; components that do not exist yet are kept as written. Both places
// are then compared component by component.
#include "tilewright/base/confined_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Where `path` leads, with the parts of it that do not exist yet; empty: over a link that cannot be followed.
fs::path followed(const fs::path& path) {
  fs::path place;
  for (const fs::path& part : fs::current_path() / path) {
    if (part == "..") {
      place = place.parent_path();
    } else if (!part.empty() && part != ".") {
      place /= part;
    }
    std::error_code failure;
    if (!fs::is_symlink(fs::symlink_status(place, failure))) continue;
    place = fs::canonical(place, failure);
    if (failure) return {};
  }
  return place;
}

}  // namespace

fs::path confined_path(const fs::path& folder, const fs::path& name, Confinement confinement) {
  const fs::path path = folder / name;
  if (confinement == Confinement::kNone) return path;
  const fs::path home = followed(folder), place = followed(path);
  const std::string shown = folder.empty() ? "." : folder.string();
  if (place.empty() || home.empty()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' in '{}' goes through a symbolic link that cannot be followed",
                            name.string(), shown));
  }
  if (!lies_in(home, place)) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("'{}' leads outside '{}', the folder of the file that names it", name.string(), shown),
        "keep the files together, or pass --allow-outside if you trust where they come from");
  }
  return path;
}

}  // namespace tilewright
