// How many memory cells of a family a memory takes: exact, from the cells' shapes.
#pragma once

#include <cstdint>

#include "tilewright/synthesis/resources.h"

namespace tilewright::synthesis {

// Bits of one block memory: 18 Kb, iCE40: 4 Kb.
int64_t block_ram_bits(DeviceFamily family);
// Block memories of 18 Kb (16384 x 1 .. 1024 x 18, 512 x 36 with a read and a write port of their own) and
// pairs of them (32768 x 1 .. 512 x 72), the cheapest way to cut the words and bits. iCE40: of 4 Kb
// (2048 x 2 .. 256 x 16).
int64_t block_rams(int64_t words, int64_t width, DeviceFamily family = DeviceFamily::kXc7);
// Into how many ranges of words that cut goes, the least if there are several.
int64_t block_ram_rows(int64_t words, int64_t width, DeviceFamily family = DeviceFamily::kXc7);
// UltraRAM, 4096 x 72; narrow words lie two, four or eight beside each other.
int64_t ultra_rams(int64_t words, int64_t width);
// Look-up tables of a memory in slices, one write and one read port. 7 series: 64 words of 3 bits or 32 of 6
// in four tables; UltraScale+: 64 of 7 or 32 of 14 in eight. More words are chosen among by `words / 64`
// inputs per bit, counted in.
int64_t lut_rams(int64_t words, int64_t width, DeviceFamily family);

}  // namespace tilewright::synthesis
