// Files of real networks for the command, written when a test first asks for one.
#pragma once

#include <filesystem>
#include <string>

namespace tilewright {

// The network of models/zoo with a quarter of its channels, at the paper's image size, as ONNX.
std::string zoo_file(const std::string& network);

// The trained LeNet in 8 bits as lenet.tflite.
std::string tflite_file();

}  // namespace tilewright
