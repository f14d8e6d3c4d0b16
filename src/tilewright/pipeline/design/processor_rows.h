// The rows of an engine's task tables and the contents of its memories, from the plan.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tilewright/pipeline/component/sliding_window.h"
#include "tilewright/pipeline/component/tensor_reader.h"
#include "tilewright/pipeline/component/tensor_writer.h"
#include "tilewright/pipeline/component/weight_ring.h"
#include "tilewright/pipeline/design/design_builder.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Bits of an engine's words and of what stands in them.
struct EngineWidths {
  int64_t weight_word = 1, parameter_word = 1;
  int weight_bits = 1, multiplier_bits = 32;
  int64_t outputs = 1;  // sums of the array at a time
};

// One row per task each; windows and residuals of those tasks that have them.
struct EngineContents {
  std::vector<TensorReaderRow> reads, residuals;
  std::vector<SlidingWindowRow> windows;
  std::vector<TensorWriterRow> writes;
  std::vector<DesignBuilder::FinishTask> finishes;
  RomContents weights;              // its rows: weights on chip
  std::vector<WeightRingRow> ring;  // weights from DRAM
  RomContents parameters;
};

class ProcessorRows {
 public:
  // `part_elements`: what a writer writes at once.
  ProcessorRows(const Network& network, const Allocation& allocation, const Plan& plan, int64_t part_elements)
      : network_(network), allocation_(allocation), plan_(plan), part_elements_(part_elements) {}

  EngineContents engine(int engine, const EngineWidths& widths) const;
  // The image and the result, rows of words one after another.
  std::vector<TensorWriterRow> loader() const;
  TensorReaderRow storer() const;

 private:
  const TensorPlace& place(int tensor) const { return plan_.places[size_t(tensor)]; }
  LayerGeometry geometry(int layer) const { return layer_geometry(network_, allocation_, size_t(layer)); }
  TensorReaderRow input_row(const PlannedTask& task, const LayerGeometry& g) const;
  SlidingWindowRow window_row(const PlannedTask& task, const LayerGeometry& g) const;
  TensorWriterRow output_row(const PlannedTask& task, const LayerGeometry& g) const;
  TensorReaderRow residual_row(const PlannedTask& task, const LayerGeometry& g) const;
  MemoryImage weight_words(int engine, const EngineWidths& widths, std::map<int, int64_t>& bases) const;

  const Network& network_;
  const Allocation& allocation_;
  const Plan& plan_;
  const int64_t part_elements_;
};

}  // namespace tilewright::pipeline
