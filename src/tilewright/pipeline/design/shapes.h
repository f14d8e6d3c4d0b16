// Small rules, shared by builder and estimate, for turning a layer into components.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/network/network.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline {

// Rows that the line_window of a streaming stage keeps: so many that its writer need not wait for a whole row
// between two rows of windows, and where the memory that this takes has room for more, those too (unless
// `tight`): the next image's first rows then come while the last windows of this one are computed.
int64_t streaming_ring_rows(const LayerGeometry& geometry, int element_bits, bool tight);

// Bits of a lane weight, at least two: pools and maps without weights multiply by 1.
int lane_weight_bits(const Layer& layer);

// An element as its wires carry it (padding of windows): of signs, 1 stands for +1 and 0 for -1.
int64_t stored_element(const NetworkTensor& tensor, int64_t value);

// Elements that writers of tensor memories write at once: the output of the widest finish, or as many as let
// a beat of the memory port fill whole words. Divides the word.
int64_t part_elements(const Allocation& allocation, int64_t word_elements, int element_bits);
// Lanes share nothing that two products of a block could share; factors of 1 and of up to 4 bits are made of
// logic.
Multiplier lane_multiplier(const Layer& layer, const ArrayShape& shape);

// The widths, in elements per beat, through which a stream of images of `count` elements goes from `from` to
// `to`: directly where one divides the other; else over their least common multiple, at full rate, where
// images are whole multiples of it and it is not too wide; else over their greatest common divisor, which
// then limits what passes per cycle.
std::vector<int64_t> resize_path(int64_t from, int64_t to, int element_bits, int64_t count);

// Beats that the write port keeps: a whole burst, which it may only begin once it has all of it.
int64_t write_queue_beats(const Allocation& allocation);

// The number of lane weight words, of `words`, that a stage keeps: without weights all are the same.
int64_t kept_lane_words(const Layer& layer, int64_t words);

// Of a rom_walker that gives `words` words in turn: its memory, where `kind` is wanted for many, and the
// parameters that say how wide its counters are.
netlist::MemoryKind cycled_rom_kind(int64_t words, netlist::MemoryKind kind);
netlist::Parameters cycle_counters(int64_t words);

// The parameter KIND of a memory: "registers", "lutram", "block", "ultra".
const char* kind_text(netlist::MemoryKind kind);
// Where a small memory of that many words fits best.
const char* small_memory_kind(int64_t words, int64_t width);

// How `count` elements become whole beats of a memory port, or the other way round: `step` elements at a time
// up to a multiple of `coarse`, then that many at a time where that saves much; `cycles` in all. Where the
// beats are whole anyway, both are a beat.
struct BorderFrame {
  int64_t step = 1, coarse = 1, cycles = 0;
  int64_t registers = 0;  // on the way between beats and steps
  int64_t padding = 0;    // cycles after the last of `count`
};
BorderFrame border_frame(int64_t count, int64_t beat);

// The parameter MULTIPLY of an array, and the name in an allocation file.
const char* multiplier_text(Multiplier multiplier);
// Outputs whose products share a block: 1 of kDsp and kLut.
int64_t products_per_block(Multiplier multiplier);
// kPacked.. of as many outputs as fit a block that takes `block_bits` on its wider side; nullopt: not even
// two.
std::optional<Multiplier> most_packed(int activation_bits, int weight_bits, int block_bits);
// The wider side of a family's blocks.
int block_bits(synthesis::DeviceFamily family);
// Whether any weight is the lowest number of its bits, which packed products cannot take.
bool has_lowest_weight(const Layer& layer);

}  // namespace tilewright::pipeline
