// What a design takes of an FPGA as Yosys counts it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "tilewright/pipeline/build/build.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::pipeline {

struct DesignSynthesisOptions {
  std::filesystem::path rtl_folder;  // the folder rtl of Tilewright
  std::filesystem::path folder;      // takes sources, scripts and logs; made if need be
  synthesis::DeviceFamily family = synthesis::DeviceFamily::kXc7;
  // Each distinct component by itself, times how often it stands in the design: for designs that would take
  // hours as a whole. Components that differ in the contents of their memories alone count as one.
  bool by_module = false;
  double timeout_s = 3600;  // of each run
};

struct DesignCounts {
  synthesis::Resources resources;
  std::map<std::string, int64_t> other;  // cells that are none of these, by type
  bool by_module = false;
  int64_t runs = 0;
  double seconds = 0;
};

// Errors: those of write_sources and run_yosys.
DesignCounts count_resources(const Design& design, const DesignSynthesisOptions& options);

}  // namespace tilewright::pipeline
