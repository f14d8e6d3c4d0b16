// What a synthesised design takes of an FPGA, counted from the cells that Yosys left.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tilewright::synthesis {

enum class DeviceFamily { kXc7, kXcup, kEcp5, kIce40 };

// "xc7", "xcup", "ecp5", "ice40".
const char* family_name(DeviceFamily family);

// In units of the family's data sheet.
struct Resources {
  int64_t lut =
      0;  // look-up tables of 6 (Xilinx) or 4 inputs, those used as memory or shift register included
  int64_t ff = 0;     // flip-flops
  int64_t carry = 0;  // carry cells (of 4 bits on 7 series, 8 on UltraScale+, 2 on ECP5, 1 on iCE40)
  int64_t dsp = 0;    // multiplier blocks
  int64_t bram = 0;   // block memories of 18 Kb (iCE40: 4 Kb)
  int64_t uram = 0;   // large block memories: 288 Kb UltraRAM, 256 Kb SPRAM of the iCE40 UltraPlus
  bool operator==(const Resources&) const = default;
};

struct CellCount {
  Resources resources;
  std::map<std::string, int64_t> other;  // cells that are none of these and not free, by type
};

// Adds up `cells` (type to number) for a family. Pads, clock buffers, inverters that merge into look-up
// tables and wide multiplexers that come with them count nothing.
CellCount count_cells(DeviceFamily family, const std::map<std::string, int64_t>& cells);

}  // namespace tilewright::synthesis
