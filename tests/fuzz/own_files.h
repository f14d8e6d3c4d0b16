// Files of the project's networks in every format, for the fuzz tests.
#pragma once

#include <filesystem>
#include <vector>

#include "fuzz/fuzz_targets.h"

namespace tilewright {

// A folder of this process, made anew and removed at its end, with lenet.onnx, lenet_int8.onnx (QDQ),
// signs.onnx (QONNX), lenet.tflite and lenet.pb (GraphDef); residual_int8.onnx and residual.pb, with
// additions; depthwise.tflite; the folder lenet_saved, a SavedModel with variables.
std::filesystem::path own_files();
// The readers of those files.
std::vector<FuzzTarget> own_models();

}  // namespace tilewright
