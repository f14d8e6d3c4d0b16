// The rows of an engine's task tables, from the plan.
#pragma once

#include "tilewright/pipeline/component/sliding_window.h"
#include "tilewright/pipeline/component/tensor_reader.h"
#include "tilewright/pipeline/component/tensor_writer.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

class ProcessorRows {
 public:
  // `part_elements`: what a writer writes at once.
  ProcessorRows(const Network& network, const Plan& plan, int64_t part_elements)
      : network_(network), plan_(plan), part_elements_(part_elements) {}

  // The input of a task as its array walks it; row-major: as the sliding window takes it, word by word.
  TensorReaderRow input_row(const PlannedTask& task, const LayerGeometry& g) const;
  SlidingWindowRow window_row(const PlannedTask& task, const LayerGeometry& g) const;
  TensorWriterRow output_row(const PlannedTask& task, const LayerGeometry& g) const;
  // The other operand of a fused addition, in the order of the results.
  TensorReaderRow residual_row(const PlannedTask& task, const LayerGeometry& g) const;

 private:
  const TensorPlace& place(int tensor) const;

  const Network& network_;
  const Plan& plan_;
  const int64_t part_elements_;
};

}  // namespace tilewright::pipeline
