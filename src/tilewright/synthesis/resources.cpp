// One table per family from cell type to resources. Memories made of look-up tables count the tables of the
// slices that the vendors' documents show for them.
#include "tilewright/synthesis/resources.h"

#include <optional>
#include <span>
#include <string_view>

namespace tilewright::synthesis {
namespace {

struct Cell {
  std::string_view type;  // a trailing '*' stands for any rest
  Resources each;
};

constexpr Resources lut(int64_t n) { return {.lut = n}; }
constexpr Resources kFree{}, kFf{.ff = 1}, kCarry{.carry = 1}, kDsp{.dsp = 1}, kBram{.bram = 1},
    kTwoBram{.bram = 2}, kUram{.uram = 1};

constexpr Cell kXilinx[] = {
    {"LUT*", lut(1)},     {"SRL16E", lut(1)},   {"SRLC16E", lut(1)},   {"SRLC32E", lut(1)},
    {"RAM32X1S", lut(1)}, {"RAM64X1S", lut(1)}, {"RAM128X1S", lut(2)}, {"RAM256X1S", lut(4)},
    {"RAM32X1D", lut(2)}, {"RAM64X1D", lut(2)}, {"RAM128X1D", lut(4)}, {"RAM32M16*", lut(8)},
    {"RAM64M8*", lut(8)}, {"RAM32M", lut(4)},   {"RAM64M", lut(4)},    {"FD*", kFf},
    {"LD*", kFf},         {"CARRY*", kCarry},   {"DSP48E*", kDsp},     {"RAMB36E*", kTwoBram},
    {"RAMB18E*", kBram},  {"URAM288*", kUram},  {"MUXF*", kFree},      {"INV", kFree},
    {"IBUF*", kFree},     {"OBUF*", kFree},     {"BUFG*", kFree},      {"GND", kFree},
    {"VCC", kFree},
};
constexpr Cell kEcp5[] = {
    {"LUT4", lut(1)},
    {"CCU2C", {.lut = 2, .carry = 1}},
    {"TRELLIS_DPR16X4", lut(6)},
    {"TRELLIS_FF", kFf},
    {"MULT18X18D", kDsp},
    {"ALU54B", kFree},
    {"DP16KD", kBram},
    {"PDPW16KD", kBram},
    {"PFUMX", kFree},
    {"L6MUX21", kFree},
    {"TRELLIS_IO", kFree},
    {"GSR", kFree},
};
constexpr Cell kIce40[] = {
    {"SB_LUT4", lut(1)},     {"SB_CARRY", kCarry}, {"SB_DFF*", kFf},
    {"SB_RAM40_4K*", kBram}, {"SB_MAC16", kDsp},   {"SB_SPRAM256KA", kUram},
    {"SB_IO*", kFree},       {"SB_GB*", kFree},    {"SB_PLL40_*", kFree},
};

std::span<const Cell> table(DeviceFamily family) {
  switch (family) {
    case DeviceFamily::kXc7:
    case DeviceFamily::kXcup:
      return kXilinx;
    case DeviceFamily::kEcp5:
      return kEcp5;
    case DeviceFamily::kIce40:
      return kIce40;
  }
  return {};
}

bool matches(std::string_view pattern, std::string_view type) {
  if (pattern.back() != '*') return pattern == type;
  return type.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

const char* family_name(DeviceFamily family) {
  switch (family) {
    case DeviceFamily::kXc7:
      return "xc7";
    case DeviceFamily::kXcup:
      return "xcup";
    case DeviceFamily::kEcp5:
      return "ecp5";
    case DeviceFamily::kIce40:
      return "ice40";
  }
  return "";
}

CellCount count_cells(DeviceFamily family, const std::map<std::string, int64_t>& cells) {
  CellCount count;
  for (const auto& entry : cells) {
    const Cell* found = nullptr;
    for (const Cell& cell : table(family)) {
      if (matches(cell.type, entry.first)) {
        found = &cell;
        break;
      }
    }
    if (!found) {
      count.other[entry.first] += entry.second;
      continue;
    }
    Resources& sum = count.resources;
    sum.lut += found->each.lut * entry.second;
    sum.ff += found->each.ff * entry.second;
    sum.carry += found->each.carry * entry.second;
    sum.dsp += found->each.dsp * entry.second;
    sum.bram += found->each.bram * entry.second;
    sum.uram += found->each.uram * entry.second;
  }
  return count;
}

}  // namespace tilewright::synthesis
