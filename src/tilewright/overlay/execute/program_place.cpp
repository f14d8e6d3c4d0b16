// Reports all that is wrong at once. Sizes are compared by subtraction and division, so nothing overflows.
#include "tilewright/overlay/execute/program_place.h"

#include <fmt/format.h>

namespace tilewright::overlay {

void verify_place(const OverlayHardware& hardware, uint64_t memory_bytes, uint64_t address, uint64_t count,
                  Diagnostics& diagnostics) {
  const auto error = [&](const char* where, const char* field, const std::string& message, const char* hint) {
    diagnostics.error(ErrorKind::kInvalidInput, where, field, message, hint);
  };
  const uint64_t bytes = uint64_t(hardware.instruction_bytes());
  if (count > UINT32_MAX) {
    error("instructions", "count", fmt::format("{} instructions are more than a run can take", count),
          "split the program");
  } else if (address > memory_bytes || count > (memory_bytes - address) / bytes) {
    error("instructions", "address",
          fmt::format("{} instructions at byte {} do not fit in a memory of {} bytes", count, address,
                      memory_bytes),
          "make the memory larger or move the program");
  }
  if (address % bytes != 0) {
    error("instructions", "address",
          fmt::format("byte {} is not aligned to the instructions of {} bytes", address, bytes),
          "move the program");
  }
  if (memory_bytes > uint64_t(hardware.dram_bytes)) {
    error("memory", "memory_bytes",
          fmt::format("{} bytes are more than the {} that the hardware addresses", memory_bytes,
                      hardware.dram_bytes),
          "raise dram_bytes of the hardware");
  }
}

}  // namespace tilewright::overlay
