// The FPGA resources of a design as counted by Yosys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/emit/component_parts.h"
#include "tilewright/synthesis/resources.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {

struct DesignSynthesisOptions {
  std::filesystem::path rtl_folder;  // the folder rtl of Tilewright
  std::filesystem::path folder;      // receives sources, scripts and logs; created if needed
  synthesis::DeviceFamily family = synthesis::DeviceFamily::kXc7;
  bool use_dsp = true;  // false: the part has no blocks
  // Each distinct component by itself, times its number of instances in the design: for designs that would
  // take hours as a whole. Components that differ in the contents of their memories alone count as one.
  bool by_module = false;
  double timeout_s = 3600;  // of each run
  PartLimits parts;         // component by component
  synthesis::StopRequest stop = {};
};

struct DesignCounts {
  synthesis::Resources resources;
  std::map<std::string, int64_t> other;  // cells that are none of these, by type
  bool by_module = false;
  int64_t runs = 0;
  double seconds = 0;
};

// A component of a design and its sizes, "NAME A=1 B=2", which determine its area except for memory contents.
std::string component_signature(const netlist::Instance& instance, const MemoryImages& images);
// The components of a design with distinct signatures, each with its number of instances.
struct DistinctComponent {
  std::string signature;
  const netlist::Instance* instance = nullptr;  // in the design
  int64_t times = 0;
};
std::vector<DistinctComponent> distinct_components(const Design& design);

// Components of a design, each by itself, in one run of Yosys. The columns of large arrays (UltraScale+:
// their products, too) and the banks of wide rings are synthesised once and counted as often as they stand
// there; the registers of activations that a run without that shares between the columns are taken off again.
// This is done for all components of a kind if one is large. Other wide components are counted by parts
// (component_parts.h). `columns_apart`: either way. Errors: those of write_sources and run_yosys.
struct ComponentCount {
  synthesis::CellCount count;
  bool columns_apart = false;
  double seconds = 0;
};
std::vector<ComponentCount> count_components(const std::vector<const netlist::Instance*>& components,
                                             const MemoryImages& images,
                                             const DesignSynthesisOptions& options);

// Errors: those of write_sources and run_yosys.
DesignCounts count_resources(const Design& design, const DesignSynthesisOptions& options);

}  // namespace tilewright::pipeline
