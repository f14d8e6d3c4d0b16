// What a generated design is and does, as numbers for people: printed, written as JSON, and drawn
// (design_page.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright {

struct DesignLayer {
  std::string name, kind;
  std::string place;  // the engine, or "stage"
  std::string array;  // "16 x 32, pair"
  int64_t macs = 0;
  int64_t multipliers = 0;   // products per cycle of its array; 0: none (maxima)
  int64_t work_cycles = 0;   // of its array, nothing waiting
  int64_t cycles = 0;        // that it adds to the latency of one image
  int64_t weight_bytes = 0;  // fetched per image; 0: on chip
  int64_t fetch_cycles = 0;  // that takes, whoever works meanwhile
  std::string bound;
  int64_t input_fifo = 0, residual_fifo = 0;
  // Share of what its array could multiply in its cycles (stages: in the interval between images).
  double share_of_peak = 0;

  // The least time that it needs: what it adds to the latency is less where it hides behind its neighbours.
  int64_t own_cycles() const { return std::max({cycles, work_cycles, fetch_cycles}); }
};

// A layer with weights that the host computes: the model has it in other numbers.
struct HostLayer {
  std::string name, op;
};

// A bar of the chart over time: a task of an engine, or a stage at one image.
struct DesignBar {
  int lane = 0;    // of DesignReport::lanes
  int layer = -1;  // of DesignReport::layers; -1: input and output
  int64_t first_row = 0, rows = 0;
  // It had the lane to itself from `begin` to `end` and worked at most for the last `work` cycles; before
  // that it waited for data, weights or space.
  int64_t begin = 0, end = 0, work = 0;
};

struct DesignNeed {
  std::string resource;
  int64_t need = 0, budget = 0, have = 0;  // have: of the device
  // How far the estimates of nine of ten components lie from Yosys' counts (pipeline::error_band); below 0:
  // no estimate, or no such measurement.
  double error_percent = -1;
};

struct DesignQueue {
  std::string name;
  int64_t depth = 0;
  int64_t level = -1;  // the highest that was seen in simulation; -1: not simulated
};

// How the bits of its layers were chosen: what was measured.
struct PrecisionPoints {
  struct Point {
    int64_t need = 0;  // of the resource
    double accuracy = 0, output_db = 0, mean_weight_bits = 0;
    bool chosen = false, equal_bits = false;  // equal: 8 bits everywhere
  };
  std::string resource;
  int64_t limit = 0, samples = 0;
  std::vector<Point> points;
};

struct DesignReport {
  std::string network, device, number_type;
  bool streaming = false;
  double clock_mhz = 100;
  int64_t port_bytes = 8, channels = 1;
  int64_t macs = 0, multipliers = 0;
  std::vector<DesignLayer> layers;
  std::vector<HostLayer> host_layers;  // their time is in none of the numbers
  int64_t batch = 1;                   // of the model; the hardware takes its images one after another
  double share_of_products = 1;        // of the model's, in hardware
  std::vector<std::string> left_out;   // what keeps layers on the host: node, operator, reason, way out
  std::vector<std::string> lanes;
  std::vector<DesignBar> bars;
  std::vector<DesignNeed> needs;
  std::vector<DesignQueue> queues;
  int64_t estimated_cycles = 0, estimated_interval = 0;
  int64_t simulated_cycles = 0, simulated_interval = 0;  // 0: not simulated
  int64_t dram_bytes = 0;                                // per image, read and written
  int64_t one_way_bytes = 0;                             // the larger of the two: ports do both at once
  int64_t read_beats = 0, write_beats = 0;               // simulated, one image
  std::optional<PrecisionPoints> precision;              // where bits were chosen

  // Simulated where there is a simulation.
  int64_t cycles() const { return simulated_cycles > 0 ? simulated_cycles : estimated_cycles; }
  int64_t interval() const { return simulated_interval > 0 ? simulated_interval : estimated_interval; }
  double milliseconds() const { return double(cycles()) / (clock_mhz * 1e3); }
  double images_per_second() const { return clock_mhz * 1e6 / double(interval()); }
  // Of all multipliers over the interval between images.
  double share_of_peak() const;
};

// `simulation`: of one image, `interval` the cycles to the next one that was simulated too; nullptr: none.
// `device`: nullptr: none, the budget stands alone.
DesignReport design_report(const pipeline::Network& network, const pipeline::Allocation& allocation,
                           const pipeline::Design& design, const pipeline::Estimate& estimate,
                           const pipeline::Budget& budget, const Device* device,
                           const pipeline::SimulationResult* simulation, int64_t interval);

std::string to_string(const DesignReport& report);
// Ends with a newline.
std::string to_json(const DesignReport& report);

}  // namespace tilewright
