// The registers of a generated design's AXI4-Lite port (rtl/pipeline/tw_stream_control.sv): one table for
// drivers, the hardware (component/config_package.h) and docs/reference/pipeline_registers.md. All registers
// have 32 bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/hardware/register_port.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

inline constexpr DeviceRegister kRegisters[] = {
    {"CONTROL", 0x00, "rw", "write 1 to bit 0: start, unless running. Read, bit 0: running"},
    {"STATUS", 0x04, "rw",
     "bit 0: done (the interrupt); bit 1: a memory port answered with an error. A start clears both; writing "
     "1 to bit 0 clears done"},
    {"ID", 0x08, "r", "the letters TWP1, T in bits 31:24"},
    {"VERSION", 0x0C, "r", "version of this table: 1"},
    {"IMAGES", 0x10, "rw", "images of a run, one after the other; 0 counts as 1"},
    {"IMAGES_DONE", 0x14, "r", "images of the run that are complete"},
    {"CYCLES_LO", 0x18, "r",
     "cycles of the run, from the write of the start bit to the end of the last image"},
    {"CYCLES_HI", 0x1C, "r", "their upper half"},
    {"INPUT_LO", 0x20, "rw", "byte address of the first image, aligned to a beat of the memory port"},
    {"INPUT_HI", 0x24, "rw", "its upper half"},
    {"INPUT_BYTES", 0x28, "rw", "bytes read per image"},
    {"INPUT_STRIDE", 0x2C, "rw", "bytes from image to image"},
    {"OUTPUT_LO", 0x30, "rw", "byte address of the first result, aligned likewise"},
    {"OUTPUT_HI", 0x34, "rw", "its upper half"},
    {"OUTPUT_BYTES", 0x38, "rw", "bytes written per image"},
    {"OUTPUT_STRIDE", 0x3C, "rw", "bytes from result to result"},
    {"WEIGHTS0_LO", 0x40, "rw", "byte address of the weights that memory port 0 reads"},
    {"WEIGHTS0_HI", 0x44, "rw", "its upper half"},
    {"WEIGHTS1_LO", 0x48, "rw", "the same for port 1; 0 without such a port"},
    {"WEIGHTS1_HI", 0x4C, "rw", "its upper half"},
    {"WEIGHTS2_LO", 0x50, "rw", "the same for port 2"},
    {"WEIGHTS2_HI", 0x54, "rw", "its upper half"},
    {"WEIGHTS3_LO", 0x58, "rw", "the same for port 3"},
    {"WEIGHTS3_HI", 0x5C, "rw", "its upper half"},
    {"WEIGHT_BYTES", 0x60, "rw", "bytes of weights per port and image"},
    {"IDENTITY", 0x80, "r", "16 words that say which design this is, in the order of DesignIdentity", 16},
};

// What ID and VERSION read.
inline constexpr uint32_t kPipelineId = 0x54575031, kPipelineVersion = 1;

// Errors (internal): there is no such register.
constexpr uint16_t register_offset(std::string_view name) {
  return tilewright::register_offset(kRegisters, name);
}

// The words at IDENTITY, in this order, 64-bit ones low half first; the rest reads as 0. A driver compares
// them with those of the design it was made for.
struct DesignIdentity {
  static constexpr int kWords = 16;
  uint64_t hash = 0;  // of the allocation and the network's name
  uint32_t input_bytes = 0, output_bytes = 0;
  uint32_t weight_bytes = 0;  // per port
  uint32_t port_bytes = 0, channels = 0;
  bool operator==(const DesignIdentity&) const = default;
};

// The file that `IDENTITY` of control names: kWords words of 32 bits.
MemoryImage encode(const DesignIdentity& identity);
DesignIdentity decode_identity(const MemoryImage& image);

// The Markdown table of docs/reference/pipeline_registers.md.
std::string register_table();

}  // namespace tilewright::pipeline
