// The contents of an array's memories: weights and finish parameters, word by word in the order in which
// tasks walk them (docs/design/pipeline/pipeline.md).
#pragma once

#include <cstdint>

#include "tilewright/pipeline/image/memory_image.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Appends the words of a convolution to `image` (width po * pi * bits): for each block of po output channels
// the taps (ky, kx), each in blocks of pi input channels of `in_channels`; with `all_taps` (row-major) a word
// holds every tap: width po * taps * pi * bits. Channels beyond the last are zero.
void append_mac_weights(MemoryImage& image, const Layer& layer, int64_t in_channels, int64_t pi, int64_t po,
                        int bits, bool all_taps);

// The words of a lane layer (width taps * p * bits + 1): per block of p channels one word per tap, or one for
// all of them with `all_taps`. Pools and maps without weights have ones; the highest bit asks for the
// maximum.
void append_lane_weights(MemoryImage& image, const Layer& layer, int64_t channels, int64_t p, int bits,
                         bool all_taps);

// Per-channel parameters of the finish: pf channels per word, `channels` rounded up to whole blocks of `po`.
// `multiplier_bits` 0: none stored (all multipliers are 1).
void append_finish_words(MemoryImage& image, const Network& network, const Layer& layer, int64_t channels,
                         int64_t po, int64_t pf, int multiplier_bits);
int finish_word_bits(NumberType number, int64_t pf, int multiplier_bits);

// Bits that hold every sum of products of the layer, and every sum with its bias; at most 32 (kFixed: 64).
int accumulator_bits(const Network& network, const Layer& layer);
int biased_sum_bits(const Network& network, const Layer& layer);
int multiplier_bits(const Layer& layer);
// Whether a scale of the layer rounds twice.
bool rounds_twice(const Layer& layer);

}  // namespace tilewright::pipeline
