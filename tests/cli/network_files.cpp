#include "network_files.h"

#include "command.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

struct Folder {
  std::filesystem::path path = fresh_folder("networks");
  ~Folder() { std::filesystem::remove_all(path); }
};

std::filesystem::path folder() {
  static const Folder made;
  return made.path;
}

}  // namespace

std::string zoo_file(const std::string& network) {
  const std::filesystem::path file = folder() / (network + ".onnx");
  if (!std::filesystem::exists(file)) write_onnx(file, zoo::network(network).build({0, 4}));
  return file.string();
}

std::string tflite_file() {
  const std::filesystem::path file = folder() / "lenet.tflite";
  if (!std::filesystem::exists(file)) write_file(file, tflite_twin(quantized_lenet()));
  return file.string();
}

}  // namespace tilewright
