// Launching, waiting and reading out are a handful of register accesses; most of this file turns what the
// hardware says about an error into the words of the simulators.
#include "tilewright/overlay/rtl/driver.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/overlay/execute/program_place.h"
#include "tilewright/overlay/rtl/registers.h"

namespace tilewright::overlay {
namespace {

struct ErrorText {
  HardwareError code;
  const char* message;
  const char* hint;
};

constexpr ErrorText kErrorTexts[] = {
    {HardwareError::kIllegal, "unknown opcode, memory type, version or ALU operation",
     "check the program for this hardware's instruction set"},
    {HardwareError::kScratchpadRange, "an index reaches beyond its scratchpad", "check the program"},
    {HardwareError::kAddress, "an access reaches beyond the memory", "check dram_base and strides"},
    {HardwareError::kBus, "the memory answered with an error", "check the memory behind the overlay"},
    {HardwareError::kTokenOverflow, "the 256th token waits on its channel", "check the push and pop bits"},
    {HardwareError::kBank, "a GEMM beside an ALU instruction uses that one's half of ACC",
     "beside_alu needs one half for each"},
    {HardwareError::kNoFinish, "the program does not end with FINISH", "FINISH must be the last instruction"},
};

// Fields packed into one register, lowest byte first.
struct HardwareField {
  const char* reg;
  const char* fields[4];
};

constexpr HardwareField kHardwareFields[] = {
    {"HW_BATCH", {"batch"}},
    {"HW_BLOCK_IN", {"block_in"}},
    {"HW_BLOCK_OUT", {"block_out"}},
    {"HW_WIDTHS", {"input_bits", "weight_bits", "accumulator_bits", "output_bits"}},
    {"HW_DEPTHS", {"log2 of UOP depth", "log2 of INP depth", "log2 of WGT depth", "log2 of ACC depth"}},
    {"HW_MEMORY_WIDTH", {"memory_width_bits"}},
    {"HW_WIDE", {"isa (1: wide, 0: vta)"}},
};

}  // namespace

uint32_t OverlayDriver::read(const char* name) { return port_.read32(register_offset(name)); }
void OverlayDriver::write(const char* name, uint32_t value) { port_.write32(register_offset(name), value); }

OverlayDriver::OverlayDriver(const OverlayHardware& hardware, RegisterPort& port)
    : hardware_(hardware), port_(port) {
  const uint32_t id = read("ID");
  if (id != kOverlayId) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("the device is not an overlay: its ID register reads {:#010x} instead of {:#010x}", id,
                    kOverlayId),
        "check the address of the device");
  }
  Diagnostics diagnostics;
  for (const HardwareField& row : kHardwareFields) {
    const uint32_t found = read(row.reg), wanted = hardware_register(hardware, register_offset(row.reg));
    const bool packed = row.fields[1] != nullptr;
    for (int i = 0; i < (packed ? 4 : 1); ++i) {
      const uint32_t mask = packed ? 0xFFu : ~0u;
      const uint32_t is = found >> 8 * i & mask, should = wanted >> 8 * i & mask;
      if (is == should) continue;
      diagnostics.error(ErrorKind::kInvalidInput, "overlay '" + hardware.name + "'", row.fields[i],
                        fmt::format("the device has {}, the program was made for {}", is, should),
                        "load the bitstream of this hardware, or compile for the device's");
    }
  }
  diagnostics.raise_if_any();
}

void OverlayDriver::launch(uint64_t address, uint64_t count) {
  Diagnostics diagnostics;
  verify_place(hardware_, uint64_t(hardware_.dram_bytes), address, count, diagnostics);
  diagnostics.raise_if_any();
  write("PROGRAM_LO", uint32_t(address));
  write("PROGRAM_HI", uint32_t(address >> 32));
  write("PROGRAM_COUNT", uint32_t(count));
  write("CONTROL", kControlStart);
}

bool OverlayDriver::running() { return (read("CONTROL") & kControlRunning) != 0; }

CycleCounters OverlayDriver::counters() {
  CycleCounters counters;
  uint16_t offset = register_offset("CYCLES");
  for (const auto counter : kCounterRegisters) {
    counters.*counter = port_.read32(offset);
    offset = uint16_t(offset + 4);
  }
  return counters;
}

void OverlayDriver::raise_error() {
  const uint32_t status = read("STATUS");
  if ((status & kStatusError) == 0) return;
  const HardwareError code = HardwareError(status >> 8 & 0xFF);
  if (code == HardwareError::kDeadlock) {
    constexpr std::pair<const char*, const char*> kQueues[] = {
        {"WAIT_LOAD", "load queue"}, {"WAIT_COMPUTE", "compute queue"}, {"WAIT_STORE", "store queue"}};
    Diagnostics diagnostics;
    for (const auto& [reg, queue] : kQueues) {
      const uint32_t index = read(reg);
      if (index == ~uint32_t{0}) continue;
      diagnostics.error(ErrorKind::kInvalidInput, fmt::format("instruction {}", index), queue,
                        "deadlock: it waits for a token that nothing will push",
                        "check the push and pop bits of both modules");
    }
    diagnostics.raise_if_any();
  }
  const std::string where = fmt::format("instruction {}", read("ERROR_INDEX"));
  for (const ErrorText& text : kErrorTexts) {
    if (text.code != code) continue;
    throw Error(std::vector<Diagnostic>{{ErrorKind::kInvalidInput, where, "", text.message, text.hint}});
  }
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("the device reports unknown error {} at {}", int(code), where),
              "check that driver and hardware are of one version");
}

CycleCounters OverlayDriver::run(uint64_t address, uint64_t count) {
  launch(address, count);
  if (!port_.wait_for_interrupt()) {
    throw Error(ErrorKind::kInfeasible, "the device has not finished in the time allowed", "allow more time");
  }
  raise_error();
  return counters();
}

void OverlayDriver::soft_reset() {
  write("CONTROL", kControlSoftReset);
  constexpr int kPolls = 1 << 20;
  for (int i = 0; i < kPolls; ++i) {
    if (!running()) return;
  }
  throw Error(ErrorKind::kInfeasible, "the device does not stop", "reset the device as a whole");
}

}  // namespace tilewright::overlay
