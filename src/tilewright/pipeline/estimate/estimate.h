// Closed forms of a design's cycles and resources from network and allocation alone, microseconds each;
// against the cycle simulation and Yosys see docs/design/pipeline/pipeline_models.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/hardware/device.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/design/network_facts.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// DRAM at one port (a channel), as the device file says.
struct MemoryPort {
  int64_t latency_cycles = 32;
  int efficiency_percent = 100;
};

struct LayerEstimate {
  int64_t compute_cycles = 0;  // its own work, nothing waiting
  int64_t weight_cycles = 0;   // that it waits for weights
  int64_t fetch_cycles = 0;    // of its weights through the memory ports, whatever else works meanwhile
  int64_t cycles = 0;          // that it adds to the latency of one image
  const char* bound = "";      // "array", "finish", "weights", "input", "window", ...
};

struct Estimate {
  int64_t latency_cycles = 0;   // start to done, one image
  int64_t interval_cycles = 0;  // between images
  std::vector<LayerEstimate> layers;
  synthesis::Resources resources;  // bram in blocks of the family: 18 Kb, iCE40: 4 Kb
  int64_t multipliers = 0;
  int64_t dram_bytes = 0;  // per image
};

// For many allocations of one network: what takes a walk over its weights is done once. The network must
// outlive it; calls from several threads at once are fine.
class Estimator {
 public:
  Estimator(const Network& network, synthesis::DeviceFamily family, const MemoryPort& port)
      : network_(network), family_(family), port_(port), facts_(network_facts(network)) {}
  // For an allocation that keeps all rules (Allocation::verify).
  Estimate operator()(const Allocation& allocation) const;
  const std::vector<LayerFacts>& facts() const { return facts_; }

 private:
  const Network& network_;
  synthesis::DeviceFamily family_;
  MemoryPort port_;
  std::vector<LayerFacts> facts_;
};

Estimate estimate(const Network& network, const Allocation& allocation, synthesis::DeviceFamily family,
                  const MemoryPort& port);

// How far estimates of single components lie from Yosys' counts, of components that were held out from the
// fit of the model and have at least 50 of the cells (docs/design/pipeline/pipeline_models.md). Whole designs
// add up many of them.
struct ErrorBand {
  double median_percent = 0, nine_of_ten_percent = 0, worst_percent = 0;
};
struct AreaErrors {
  int64_t components = 0;
  ErrorBand lut, ff, blocks;  // blocks: DSP, BRAM and URAM alike, of any number
};
// Of kXc7 or kXcup (for other families that of kXc7).
const AreaErrors& error_band(synthesis::DeviceFamily family);

// Resources of one component, as Yosys counts them (calibrated: docs/design/pipeline/pipeline_models.md).
synthesis::Resources component_resources(const std::string& component, const netlist::Parameters& parameters,
                                         synthesis::DeviceFamily family);

}  // namespace tilewright::pipeline
