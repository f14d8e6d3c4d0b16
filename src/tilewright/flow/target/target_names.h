// Names of targets in compiled models: in bundles, tables and JSON. What no target takes runs on the host,
// which is also the reference for all others.
#pragma once

namespace tilewright {

inline constexpr const char* kHost = "host";
inline constexpr const char* kOverlay = "overlay";

}  // namespace tilewright
