// Tunes the networks of the zoo on presets of the overlay: the records that `compile` finds by itself
// (models/tune/README.md) are the best of each layer in the database that this fills. Started again it
// measures only what is missing.
//
// usage: tune_zoo DATABASE [--trials N] [--hardware PRESET]... [NETWORK]...
//        without names all networks at the papers' sizes, on the presets below
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tilewright/flow/tune/tuning.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace {

using namespace tilewright;

struct Arguments {
  std::string database;
  int64_t trials = 300;
  std::vector<std::string> presets, networks;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--trials" && i + 1 < argc) {
      a.trials = std::atoll(argv[++i]);
    } else if (word == "--hardware" && i + 1 < argc) {
      a.presets.push_back(argv[++i]);
    } else if (a.database.empty()) {
      a.database = word;
    } else {
      a.networks.push_back(word);
    }
  }
  if (a.presets.empty())
    a.presets = {"vta-default", "vta-ultra96", "overlay-8x8", "overlay-16x16", "overlay-32x32"};
  if (a.networks.empty()) {
    for (const zoo::Network& network : zoo::networks()) a.networks.push_back(network.name);
    for (const zoo::Network& network : zoo::tensorflow_networks()) a.networks.push_back(network.name);
  }
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.database.empty()) {
    std::fprintf(stderr, "usage: tune_zoo DATABASE [--trials N] [--hardware PRESET]... [NETWORK]...\n");
    return 1;
  }
  try {
    tune::RecordStore records(arguments.database, tune::RecordStore::Mode::kWrite);
    NetworkTuneOptions options;
    options.trials = arguments.trials;
    options.threads = 2;
    options.records = &records;
    for (const std::string& name : arguments.networks) {
      for (const std::string& preset : arguments.presets) {
        const OverlayHardware hardware =
            read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") + preset + ".yaml");
        const NetworkTuning tuning =
            tune_network(zoo::seeded_compilation(zoo::network(name).build({}), hardware).bundle, options);
        std::printf("%-16s %-14s %2zu shapes, %10.0f -> %10.0f cycles (%.3fx), %.0f s\n", name.c_str(),
                    preset.c_str(), tuning.layers.size(), double(tuning.before.cycles()),
                    double(tuning.after.cycles()),
                    double(tuning.before.cycles()) / double(tuning.after.cycles()), tuning.seconds);
        std::fflush(stdout);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tune_zoo: %s\n", error.what());
    return 1;
  }
  return 0;
}
