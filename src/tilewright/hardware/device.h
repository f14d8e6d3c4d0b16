// An FPGA part: its resources, and how the tools name it (hardware/devices/*.yaml).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright {

// The memory that a board (or a system on chip) provides for a part: equal channels, each with its own port.
struct DeviceMemory {
  int64_t channels = 1, port_bytes = 8;  // bytes per beat and channel
  int64_t latency_cycles = 32;
  int64_t efficiency_percent = 100;
  bool operator==(const DeviceMemory&) const = default;
  // One channel as simulators take it.
  MemoryModel model() const;
};

struct Device {
  std::string name;
  synthesis::DeviceFamily family = synthesis::DeviceFamily::kXc7;
  std::string part, package, speed_grade;      // as the vendor writes them
  synthesis::Resources has;                    // carry 0: never the limit
  std::vector<std::string> nextpnr_arguments;  // that choose the part; empty: nextpnr does not know it
  std::optional<DeviceMemory> memory;          // `dram:` of the file; a bare part has none
  double clock_mhz = 0;                        // at which designs for it usually run; 0: none stated
  bool operator==(const Device&) const = default;
  // Every rule the description breaks (names that a tool's script cannot hold, a part without logic, ...).
  void verify(Diagnostics& diagnostics) const;
};

// The YAML form; parses back to an equal description.
std::string print_device(const Device& device);
// Errors (invalid input): all problems at once, each with its line.
Device read_device(const std::filesystem::path& path);
Device parse_device(const std::string& text, const std::string& source_name);
// `name_or_path`: NAME of a NAME.yaml in `device_folder`, or a file. Errors (invalid input): neither, listing
// the known devices; whatever reading reports.
Device find_device(const std::string& name_or_path, const std::filesystem::path& device_folder);

// One resource of a device against what a design needs.
struct ResourceFit {
  const char* resource;  // "LUT", "FF", "DSP", "BRAM", "URAM"
  int64_t need = 0, have = 0;
  bool fits() const { return need <= have; }
};

// All five, in this order.
std::vector<ResourceFit> fit(const Device& device, const synthesis::Resources& need);
// One error (infeasible) per resource that does not fit: need, have, and what to make smaller.
void report_misfits(const Device& device, const synthesis::Resources& need, Diagnostics& diagnostics);

}  // namespace tilewright
