// Generated designs from the host program's point of view: registers, and memory that both sides see. Here
// behind it is the Verilog in simulation with an AXI memory at each port; on a board it would be mapped
// registers and a buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tilewright/hardware/axi_memory.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/register_port.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/verilog/rtl_model.h"
#include "tilewright/search/deadline.h"
#include "tilewright/synthesis/activity.h"

namespace tilewright::pipeline {

// What a driver works through.
class DesignPort : public RegisterPort {
 public:
  // At least `bytes` of memory, from address 0, zero or as the run before left them.
  virtual std::vector<std::byte>& memory(size_t bytes) = 0;
};

struct DesignRun {
  std::vector<std::vector<int32_t>> outputs;  // row, column, channel
  uint64_t cycles = 0;                        // from the write of the start bit to the end, all images
};

// Runs `images` (row, column, channel of the network's input) in one go. Errors: another design behind the
// port, naming what differs (invalid input); no end (infeasible); a memory error (internal).
DesignRun run_design(const Design& design, DesignPort& port, const std::vector<std::vector<int32_t>>& images);

struct RtlPortOptions {
  RtlModelOptions model;
  MemoryModel memory;       // behind every port
  uint64_t pause_seed = 0;  // other than 0: ready and valid of the memories pause at random
  uint64_t limit_cycles = uint64_t{1} << 32;
  const Deadline* deadline = nullptr;  // wait_for_interrupt throws Expired when it is over
};

// The Verilog of a design in Verilator.
class RtlDesignPort final : public DesignPort {
 public:
  RtlDesignPort(const Design& design, const RtlPortOptions& options);
  ~RtlDesignPort() override;

  // Errors (internal) of all: the design broke a rule of AXI, or does not answer on its register port.
  uint32_t read32(uint16_t offset) override;
  void write32(uint16_t offset, uint32_t value) override;
  bool wait_for_interrupt() override;
  std::vector<std::byte>& memory(size_t bytes) override;

  // As after power-up, with another seed of pauses (0: none).
  void restart(uint64_t pause_seed);
  // The next run gets one answer of memory port 0 that is an error.
  void fail_next_run(const AxiFault& fault);
  // Of a model with activity: runs are logged from now on, in cycles of the host; null: no longer.
  void log_activity(ActivityLog* log) { log_ = log; }
  // Beats that the memory ports carried since the design was made.
  uint64_t read_beats() const;
  uint64_t write_beats() const;

 private:
  struct Host;

  RtlModel model_;
  std::unique_ptr<Host> host_;
  const Deadline* deadline_;
  ActivityLog* log_ = nullptr;
};

}  // namespace tilewright::pipeline
