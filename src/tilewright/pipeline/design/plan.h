// Processors: the order in which the engines work, what each task waits for, and where tensors lie. Build
// writes the task tables from it and the estimate walks it, so that they cannot disagree.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// One row of every task table of an engine: some output rows of a layer. The loader's and the storer's tasks
// are rows of the network's input and output.
struct PlannedTask {
  static constexpr int kLoader = -1, kStorer = -2;
  int engine = kLoader;
  int layer = -1;  // loader, storer: -1
  int64_t first_row = 0, rows = 0;
  bool hold = false;  // a later band of the layer uses the same weights again
  // How many tasks each progress source must have completed before the reader of the layer's input, or of its
  // residual, begins. Sources: the loader, then the engines.
  std::vector<int64_t> waits, residual_waits;
};

// Of a part: where it lies in its whole.
struct TensorPlace {
  int unit = 0;
  int64_t base = 0, words = 0;              // of the whole tensor
  int64_t pixel_words = 1;                  // of the tensor's own channels
  int64_t column_words = 1, row_words = 1;  // from pixel to pixel, from row to row
};

struct Plan {
  int64_t word_elements = 1;        // pi of all engines
  int element_bits = 8;             // of an element of the tensor memories
  std::vector<PlannedTask> tasks;   // loader, layers in order with their bands inside, storer
  std::vector<TensorPlace> places;  // by tensor
  std::vector<int64_t> unit_words;
};

// Of the widest element of the network's tensors, a power of two; signs (+1, -1) take two bits, since engines
// share one form.
int element_bits(const Network& network);
// Of the widest weight of an engine's layers, a power of two; signs take two bits.
int engine_weight_bits(const Network& network, const Allocation& allocation, int engine);

// For an allocation of processors that keeps all rules. Tensors that are not needed at the same step share
// words: largest first, each at the lowest place that is free while it lives and, unless the allocation is
// tight, one layer longer, so that the next engine need not wait for the last rows to be read. All waits
// point to earlier tasks of the list, so the tasks can always be completed in its order.
Plan make_plan(const Network& network, const Allocation& allocation);

}  // namespace tilewright::pipeline
