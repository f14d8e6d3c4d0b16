// What is installed: the libraries of this build, and the programs that other parts of the flow call.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/parts.h"

namespace tilewright::cli {
namespace {

struct Part {
  std::string name;
  std::string package;  // Debian package that brings it
  std::string gives;
  bool present;
  std::string detail;
};

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(candidate))
      return candidate;
  }
  return "";
}

Part program(const char* name, const char* package, const char* gives) {
  const std::string path = find_program(name);
  return {name, package, gives, !path.empty(), path};
}

Part file(const char* name, const char* package, const char* gives, const char* path) {
  std::error_code ignored;
  const bool present = std::filesystem::exists(path, ignored);
  return {name, package, gives, present, present ? path : ""};
}

std::vector<Part> parts() {
  std::vector<Part> all;
  for (const BuiltInPart& part : built_in_parts())
    all.push_back({part.name, part.package, part.gives, true, part.detail});
  const Part others[] = {
      file("Fashion-MNIST", "dataset-fashion-mnist", "the images of `tilewright demo`",
           "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz"),
      file("ONNX node tests", "libonnx-testdata", "the operator tests of the suite",
           "/usr/share/libonnx-testdata/data/node"),
      program("verilator", "verilator", "simulation of generated hardware"),
      program("iverilog", "iverilog", "a second simulator of generated hardware"),
      program("yosys", "yosys", "synthesis"),
      program("nextpnr-ice40", "nextpnr-ice40", "place and route"),
      program("icepack", "fpga-icestorm", "bitstreams"),
      program("sbatch", "slurm-client", "tuning and exploration on a cluster (--executor slurm)"),
      program("nextpnr-ecp5", "-", "place and route for ECP5; no package in Debian 12"),
      program("vivado", "-", "implementation on AMD parts, from the script that `synth` writes"),
  };
  all.insert(all.end(), std::begin(others), std::end(others));
  return all;
}

}  // namespace

void doctor(const DoctorOptions& options, std::ostream& out) {
  const std::vector<Part> all = parts();
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Part& part : all) {
      list.push_back({{"name", part.name},
                      {"present", part.present},
                      {"detail", part.detail},
                      {"package", part.package},
                      {"gives", part.gives}});
    }
    out << json_text(list, 2) << "\n";
    return;
  }
  for (const Part& part : all) {
    if (part.present) {
      out << fmt::format("  ok       {:<16} {}\n", part.name, part.detail);
    } else {
      const bool packaged = part.package != "-";
      out << fmt::format("  missing  {:<16} gives {}{}\n", part.name, part.gives,
                         packaged ? fmt::format("; apt-get install {}", part.package) : "");
    }
  }
}

}  // namespace tilewright::cli
