// For tests: an emitted design of a random network.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "tilewright/pipeline/emit/emit.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright::pipeline {

// An emitted design that is removed again.
class EmittedDesign {
 public:
  explicit EmittedDesign(bool streaming, uint64_t seed = 1) : network(random_network(seed)) {
    design = build(network, streaming ? random_stages(network, seed) : random_processors(network, seed));
    folder =
        std::filesystem::temp_directory_path() / fmt::format("tilewright-emit-{}-{}", ::getpid(), streaming);
    std::filesystem::create_directories(folder);
    options.rtl_folder = TILEWRIGHT_SOURCE_DIR "/rtl";
    Device device = find_device("xc7z020", TILEWRIGHT_SOURCE_DIR "/hardware/devices");
    emit(design, network, &device, folder, options);
  }
  ~EmittedDesign() { std::filesystem::remove_all(folder); }
  std::vector<std::string> sources(std::initializer_list<const char*> folders) const {
    std::vector<std::string> list;
    for (const char* name : folders) {
      for (const auto& entry : std::filesystem::directory_iterator(folder / name)) {
        if (entry.path().extension() == ".sv") list.push_back(entry.path().string());
      }
    }
    std::sort(list.begin(), list.end());
    return list;
  }
  std::string expected_line() const {
    SimulationOptions simulation;
    simulation.images = options.testbench_images;
    const int64_t words = design.output.bytes * options.testbench_images / design.port_bytes;
    return fmt::format("PASS: {} words equal, {} cycles", words, simulate(design, simulation).cycles);
  }

  Network network;
  Design design;
  EmitOptions options;
  std::filesystem::path folder;
};

}  // namespace tilewright::pipeline
