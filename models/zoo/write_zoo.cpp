// Writes the networks of the zoo as .onnx files with seeded weights.
//
// usage: write_zoo FOLDER [NAME...]     all networks at the papers' sizes without names (1.2 GB)
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "tilewright/frontend/onnx/onnx_writer.h"
#include "zoo/zoo.h"

int main(int argc, char** argv) {
  using namespace tilewright;
  if (argc < 2) {
    std::fprintf(stderr, "usage: write_zoo FOLDER [NAME...]\n");
    return 1;
  }
  try {
    std::vector<const zoo::Network*> chosen;
    for (int i = 2; i < argc; ++i) chosen.push_back(&zoo::network(argv[i]));
    if (argc == 2) {
      for (const zoo::Network& network : zoo::networks()) chosen.push_back(&network);
      for (const zoo::Network& network : zoo::tensorflow_networks()) chosen.push_back(&network);
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    for (const zoo::Network* network : chosen) {
      const std::filesystem::path path = folder / (std::string(network->name) + ".onnx");
      write_onnx(path, network->build({}));
      std::printf("%s\n", path.string().c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_zoo: %s\n", error.what());
    return 1;
  }
  return 0;
}
