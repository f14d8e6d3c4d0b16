#include "tilewright/overlay/rtl_simulator.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/overlay/rtl_config.h"

namespace tilewright::overlay {

RtlSimulator::RtlSimulator(const OverlayHardware& hardware, const MemoryModel& memory,
                           const RtlOptions& options)
    : instruction_bytes_(uint64_t(hardware.instruction_bytes())),
      address_limit_(uint64_t{1} << address_bits(hardware)),
      model_(hardware, memory, options),
      driver_(hardware, model_) {}

TimedRun RtlSimulator::run(std::span<std::byte> dram, uint64_t address, uint64_t count,
                           const AxiMemoryOptions& options) {
  if (address > dram.size() || count > (dram.size() - address) / instruction_bytes_) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("{} instructions at byte {} do not fit in a memory of {}", count, address, dram.size()));
  }
  if (dram.size() > address_limit_) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("a memory of {} bytes is more than the {} that the hardware addresses",
                            dram.size(), address_limit_),
                "raise dram_bytes of the hardware");
  }
  model_.memory().begin(dram, options);
  TimedRun run;
  run.cycles = driver_.run(address, count);
  run.work.instructions = count;
  run.transactions = model_.memory().transactions();
  return run;
}

}  // namespace tilewright::overlay
