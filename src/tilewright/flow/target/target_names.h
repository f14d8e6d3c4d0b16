// Names of targets that compiled models name: in bundles, in tables, in JSON. What no target takes runs on
// the host, which is also the reference of all others.
#pragma once

namespace tilewright {

inline constexpr const char* kHost = "host";
inline constexpr const char* kOverlay = "overlay";

}  // namespace tilewright
