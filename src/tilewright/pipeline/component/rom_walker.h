// The task table of rom_walker: for ob < outer, px < repeats, n < words the word base + ob * words + n.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

constexpr int64_t kWidestRomWord = int64_t{1} << 20;  // bits

struct RomWalkerRow {
  int64_t base = 0, outer = 1, repeats = 1, words = 1;
};

MemoryImage encode(const std::vector<RomWalkerRow>& rows);
// The rows of the table that the parameters of a rom_walker name. Errors (invalid input): as task_table.
std::vector<RomWalkerRow> rom_walker_rows(const netlist::Parameters& parameters, const MemoryImages& images);

}  // namespace tilewright::pipeline
