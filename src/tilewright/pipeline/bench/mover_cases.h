// For tests: random cases of the components that move data, and of control.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/pipeline/bench/axi_case.h"
#include "tilewright/pipeline/bench/control_case.h"
#include "tilewright/pipeline/bench/rom_walker_case.h"
#include "tilewright/pipeline/bench/tensor_memory_case.h"
#include "tilewright/pipeline/bench/tensor_reader_case.h"
#include "tilewright/pipeline/bench/tensor_writer_case.h"
#include "tilewright/pipeline/bench/weight_ring_case.h"

namespace tilewright::pipeline {

using MakeCase = std::unique_ptr<BenchCase> (*)(Random&);

inline std::vector<MakeCase> mover_cases() {
  return {RomWalkerCase::make,    WeightRingCase::make,   TensorMemoryCase::make,
          TensorReaderCase::make, TensorWriterCase::make, DmaReadCase::make,
          DmaWriteCase::make,     ReadShareCase::make,    ControlCase::make};
}

}  // namespace tilewright::pipeline
