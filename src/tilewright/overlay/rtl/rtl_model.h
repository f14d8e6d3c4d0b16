// The overlay's RTL in simulation as a device: Verilated for one hardware description, loaded as a shared
// library, with an AXI memory at its port and its registers as a RegisterPort.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "tilewright/hardware/axi_memory.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/execute/run_time.h"
#include "tilewright/overlay/rtl/driver.h"
#include "tilewright/synthesis/activity.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {

struct RtlOptions {
  std::filesystem::path rtl_folder;    // the folder rtl of Tilewright
  std::filesystem::path cache_folder;  // keeps the compiled models
  std::filesystem::path wave_file;     // FST waves of everything; empty: none
  bool activity = false;               // counts what switches, instead of waves; some ten times slower
  synthesis::StopRequest stop = {};    // of the compilation
};

class OverlayRtlModel final : public RegisterPort {
 public:
  // Compiles the model unless the cache has it, and resets it. Errors: whatever verify_rtl finds (invalid
  // input), a missing tool (unsupported), messages of the tools about the sources (invalid input).
  OverlayRtlModel(const OverlayHardware& hardware, const MemoryModel& memory, const RtlOptions& options);
  ~OverlayRtlModel() override;

  // The memory behind the port; its begin() connects bytes.
  AxiMemory& memory() { return memory_; }

  // Errors (internal) of all below: the design broke a rule of AXI or an assertion of its own, or does not
  // answer on its register port; names cycle or line.
  uint32_t read32(uint16_t offset) override;
  void write32(uint16_t offset, uint32_t value) override;
  bool wait_for_interrupt() override;
  // How many cycles wait_for_interrupt waits at most.
  void limit_wait(uint64_t cycles) { wait_cycles_ = cycles; }
  // And for how long; null: for any time. Errors (infeasible) of wait_for_interrupt: the deadline is over.
  void end_at(Deadline* deadline) { time_.begin(deadline); }
  // Of a model with activity: waits for an interrupt are logged from now on, in cycles of the run; null: no
  // longer.
  void log_activity(ActivityLog* log) { log_ = log; }
  // Lets that many cycles pass.
  void step(uint64_t cycles);
  // Resets it as if it had just been made: scratchpads zero, everything reset, with another kind of memory.
  // Much faster than making a new one.
  void restart(const MemoryModel& memory);
  // The reset pin: the design restarts, and outstanding memory requests are forgotten.
  void reset();

 private:
  struct Library;
  void raise_complaint();
  std::span<const ScopeActivity> activity();

  AxiMemory memory_;
  std::unique_ptr<Library> library_;
  ActivityLog* log_ = nullptr;
  uint64_t wait_cycles_ = uint64_t{1} << 40;
  RunTime time_;
};

}  // namespace tilewright::overlay
