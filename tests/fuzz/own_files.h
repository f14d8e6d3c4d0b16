// Files of the project's networks in every format, for the fuzz tests.
#pragma once

#include <filesystem>

namespace tilewright {

// A folder of this process, made anew and removed at its end, with lenet.onnx, lenet_int8.onnx (QDQ),
// signs.onnx (QONNX), lenet.tflite and lenet.pb (GraphDef).
std::filesystem::path own_files();

}  // namespace tilewright
