// For tests: random cases of the components that move data, and of control.
#pragma once

#include <memory>
#include <vector>

#include "support/pipeline/axi_case_testing.h"
#include "support/pipeline/control_case_testing.h"
#include "support/pipeline/rom_walker_case_testing.h"
#include "support/pipeline/tensor_memory_case_testing.h"
#include "support/pipeline/tensor_reader_case_testing.h"
#include "support/pipeline/tensor_writer_case_testing.h"
#include "support/pipeline/weight_ring_case_testing.h"

namespace tilewright::pipeline {

using MakeCase = std::unique_ptr<BenchCase> (*)(Random&);

inline std::vector<MakeCase> mover_cases() {
  return {RomWalkerCase::make,    WeightRingCase::make,   TensorMemoryCase::make,
          TensorReaderCase::make, TensorWriterCase::make, DmaReadCase::make,
          DmaWriteCase::make,     ReadShareCase::make,    ControlCase::make};
}

}  // namespace tilewright::pipeline
