// Bundles under damage: as files, where the checksums catch nearly everything, and with the checksums made
// right again, as somebody who wants to do harm would send them.
#pragma once

#include <filesystem>
#include <vector>

#include "fuzz/fuzz_targets.h"

namespace tilewright {

inline constexpr const char* kBundleModel = "onnx_from_tflite/kws_dscnn_qdq.onnx";  // of the shared models
inline constexpr const char* kBundleHardware = "overlay-16x16.yaml";

// Compiles the quantised model at `model` for the overlay described in the file `hardware`; then two targets
// for its bundle. What is accepted is loaded, and run on zeros by the functional simulator.
std::vector<FuzzTarget> bundle_targets(const std::filesystem::path& model,
                                       const std::filesystem::path& hardware);

}  // namespace tilewright
