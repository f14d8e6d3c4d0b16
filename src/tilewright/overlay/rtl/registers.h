// The registers of the overlay's AXI4-Lite port: one table from which the RTL's package (rtl_config.h), the
// page docs/reference/overlay_registers.md and the driver (driver.h) are made. All registers have 32 bits.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/hardware/register_port.h"
#include "tilewright/overlay/time/cycle_counters.h"

namespace tilewright::overlay {

inline constexpr DeviceRegister kRegisters[] = {
    {"CONTROL", 0x00, "rw",
     "write 1 to bit 0: launch; to bit 1: soft reset (drains, then clears). Read, bit 0: running"},
    {"STATUS", 0x04, "r", "bit 0: done; bit 1: error; bits 15:8: error code. Cleared by a launch"},
    {"ERROR_INDEX", 0x08, "r", "index of the instruction that the error names"},
    {"ID", 0x0C, "r", "the letters TWO1, T in bits 31:24"},
    {"PROGRAM_LO", 0x10, "rw", "byte address of the first instruction, low half"},
    {"PROGRAM_HI", 0x14, "rw", "byte address of the first instruction, high half"},
    {"PROGRAM_COUNT", 0x18, "rw", "number of instructions"},
    {"WAIT_LOAD", 0x20, "r",
     "deadlock: index of the instruction at the head of load's queue; all ones: none"},
    {"WAIT_COMPUTE", 0x24, "r", "the same for compute"},
    {"WAIT_STORE", 0x28, "r", "the same for store"},
    {"CYCLES", 0x40, "r", "cycles of the last run"},
    {"FETCH_BUSY", 0x44, "r", "cycles in which fetch waited for instructions or pushed them"},
    {"FETCH_BLOCKED", 0x48, "r", "cycles in which fetch waited for a full queue"},
    {"FETCH_IDLE", 0x4C, "r", "cycles after fetch had pushed all"},
    {"LOAD_BUSY", 0x50, "r", "cycles in which load worked"},
    {"LOAD_TOKEN", 0x54, "r", "cycles in which load waited for a token"},
    {"LOAD_STARVED", 0x58, "r", "cycles in which load had nothing to do"},
    {"COMPUTE_GEMM", 0x5C, "r", "cycles of GEMM instructions"},
    {"COMPUTE_ALU", 0x60, "r", "cycles of ALU instructions"},
    {"COMPUTE_LOAD", 0x64, "r", "cycles of compute's own loads"},
    {"COMPUTE_TOKEN_LOAD", 0x68, "r", "cycles in which compute waited for load's token"},
    {"COMPUTE_TOKEN_STORE", 0x6C, "r", "cycles in which compute waited for store's token"},
    {"COMPUTE_STARVED", 0x70, "r", "cycles in which compute had nothing to do"},
    {"STORE_BUSY", 0x74, "r", "cycles in which store worked"},
    {"STORE_TOKEN", 0x78, "r", "cycles in which store waited for a token"},
    {"STORE_STARVED", 0x7C, "r", "cycles in which store had nothing to do"},
    {"READ_BURSTS", 0x80, "r", "bursts read"},
    {"READ_BEATS", 0x84, "r", "beats read"},
    {"WRITE_BURSTS", 0x88, "r", "bursts written"},
    {"WRITE_BEATS", 0x8C, "r", "beats written"},
    {"HW_BATCH", 0x100, "r", "batch"},
    {"HW_BLOCK_IN", 0x104, "r", "block_in"},
    {"HW_BLOCK_OUT", 0x108, "r", "block_out"},
    {"HW_WIDTHS", 0x10C, "r", "bits of input 7:0, weight 15:8, accumulator 23:16, output 31:24"},
    {"HW_DEPTHS", 0x110, "r", "log2 depths of UOP 7:0, INP 15:8, WGT 23:16, ACC 31:24"},
    {"HW_MEMORY_WIDTH", 0x114, "r", "bits of the memory port"},
    {"HW_WIDE", 0x118, "r", "1: wide instruction set, 0: plain"},
};

// What the ID register reads.
inline constexpr uint32_t kOverlayId = 0x54574F31;

// Of CONTROL, besides kControlStart.
inline constexpr uint32_t kControlSoftReset = 2;

// The codes of the error field of STATUS; meaning in docs/design/overlay/overlay_rtl.md.
enum class HardwareError : uint8_t {
  kNone = 0,
  kIllegal = 1,
  kScratchpadRange = 2,
  kAddress = 3,
  kBus = 4,
  kDeadlock = 5,
  kTokenOverflow = 6,
  kNoFinish = 7,
  kBank = 8
};

// Errors (internal): there is no such register.
constexpr uint16_t register_offset(std::string_view name) {
  return tilewright::register_offset(kRegisters, name);
}

// The counters, in the order of their registers from CYCLES on.
inline constexpr uint64_t CycleCounters::*kCounterRegisters[] = {
    &CycleCounters::cycles,          &CycleCounters::fetch_busy,         &CycleCounters::fetch_blocked,
    &CycleCounters::fetch_idle,      &CycleCounters::load_busy,          &CycleCounters::load_token,
    &CycleCounters::load_starved,    &CycleCounters::compute_gemm,       &CycleCounters::compute_alu,
    &CycleCounters::compute_load,    &CycleCounters::compute_token_load, &CycleCounters::compute_token_store,
    &CycleCounters::compute_starved, &CycleCounters::store_busy,         &CycleCounters::store_token,
    &CycleCounters::store_starved,   &CycleCounters::read_bursts,        &CycleCounters::read_beats,
    &CycleCounters::write_bursts,    &CycleCounters::write_beats};
static_assert(register_offset("WRITE_BEATS") ==
              register_offset("CYCLES") + 4 * (std::size(kCounterRegisters) - 1));

// The value of the register at `offset` (one of HW_*) on this hardware.
// Errors (internal): another register.
uint32_t hardware_register(const OverlayHardware& hardware, uint16_t offset);

// The Markdown table of docs/reference/overlay_registers.md.
std::string register_table();

}  // namespace tilewright::overlay
