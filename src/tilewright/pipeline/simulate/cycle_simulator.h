// Runs the netlist of a design clock by clock with the cycle models of its components, its task tables and a
// memory behind its ports: the cycles of the Verilog, without data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/search/deadline.h"

namespace tilewright::pipeline {

struct SimulationOptions {
  MemoryModel memory;
  uint64_t pause_seed = 0;  // other than 0: the memory's ready and valid pause at random
  int64_t images = 1;
  uint64_t limit_cycles = uint64_t{1} << 34;
  const Deadline* deadline = nullptr;  // throws Expired when its time is over
};

struct SimulationResult {
  uint64_t cycles = 0;                        // from the start bit to done, all images
  uint64_t start = 0;                         // the host's cycle (DesignHost) from which they count
  uint64_t first_image_cycles = 0;            // to the last beat of its result; of one image alone: cycles
  std::vector<uint64_t> task_end;             // by Design::tasks, in the first image
  std::vector<uint64_t> image_end;            // by image: of its last task
  std::map<std::string, uint64_t> busy;       // beats that passed each stream, by net
  std::map<std::string, int64_t> fifo_level;  // highest level of each stream_fifo instance
  uint64_t read_beats = 0, write_beats = 0;
};

// Errors (infeasible): the design stops moving (what each component waits for), the limit is reached.
SimulationResult simulate(const Design& design, const SimulationOptions& options);

}  // namespace tilewright::pipeline
