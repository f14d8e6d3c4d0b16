// Tensors that are parts of others: where they lie, and how channels become words.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Where a tensor lies in the outermost tensor that it is part of; one that is no part lies in itself.
TensorPart place_in_whole(const Network& network, int tensor);

// The tensors that are parts of `whole` and are written: by a layer, or by parts of their own.
std::vector<int> written_parts(const Network& network, int whole);
bool is_written(const Network& network, int tensor);

// Removes layers whose results nobody reads, and tensors that no layer and no border has.
void remove_unused(Network& network);

// Sets the cuts of all tensors: where a part begins, and where one begins in a tensor whose channels a layer
// takes as they are (lanes, additions).
void cut_channels(Network& network);

// Channels of a tensor in words of `word` of them, each cut at the begin of a word: how many there are, the
// unused ones included, and which one holds `channel`.
int64_t channel_slots(const NetworkTensor& tensor, int64_t word);
int64_t slot_of_channel(const NetworkTensor& tensor, int64_t channel, int64_t word);

// A layer whose weights and constants stand at the slots of its channels, with zeros between.
Layer with_slots(const Network& network, const Layer& layer, int64_t word);

}  // namespace tilewright::pipeline
