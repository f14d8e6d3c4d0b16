// The cases whose classes stand in headers; those of streams and windows are in stream_cases_testing.cpp.
#include "support/pipeline/component_cases_testing.h"

#include "support/pipeline/array_cases_testing.h"
#include "support/pipeline/axi_case_testing.h"
#include "support/pipeline/control_case_testing.h"
#include "support/pipeline/finish_cases_testing.h"
#include "support/pipeline/frame_case_testing.h"
#include "support/pipeline/rom_walker_case_testing.h"
#include "support/pipeline/tensor_memory_case_testing.h"
#include "support/pipeline/tensor_reader_case_testing.h"
#include "support/pipeline/tensor_writer_case_testing.h"
#include "support/pipeline/weight_ring_case_testing.h"

namespace tilewright::pipeline {

std::unique_ptr<BenchCase> random_rom_walker(Random& random) { return RomWalkerCase::make(random); }
std::unique_ptr<BenchCase> random_weight_ring(Random& random) { return WeightRingCase::make(random); }
std::unique_ptr<BenchCase> random_tensor_memory(Random& random) { return TensorMemoryCase::make(random); }
std::unique_ptr<BenchCase> random_tensor_reader(Random& random) { return TensorReaderCase::make(random); }
std::unique_ptr<BenchCase> random_tensor_writer(Random& random) { return TensorWriterCase::make(random); }
std::unique_ptr<BenchCase> random_dma_read(Random& random) { return DmaReadCase::make(random); }
std::unique_ptr<BenchCase> random_dma_write(Random& random) { return DmaWriteCase::make(random); }
std::unique_ptr<BenchCase> random_read_share(Random& random) { return ReadShareCase::make(random); }
std::unique_ptr<BenchCase> random_control(Random& random) { return ControlCase::make(random); }

std::unique_ptr<BenchCase> random_mac_array(Random& random) {
  return std::make_unique<MacCase>(random_mac(random));
}

std::unique_ptr<BenchCase> random_lane_array(Random& random) {
  const int64_t aw = random.between(2, 8), ww = random.between(1, 8), lanes = random.between(1, 4);
  const int64_t taps = random.between(1, 10), acc = random.between(aw + ww, 32);
  const int64_t part = random.between(0, 2);  // both, the sum alone, the maximum alone
  return std::make_unique<LaneCase>(lane(aw, ww, lanes, taps, acc, random.chance(0.5) ? "dsp" : "lut",
                                         part == 2 ? 0 : 1, part == 1 ? 0 : 1));
}

// Integers or fixed point, of random shape.
std::unique_ptr<BenchCase> random_finish(Random& random) {
  const int64_t pf = random.between(1, 3), po = pf * random.between(1, 4), tables = random.between(0, 2);
  const int64_t residual = random.between(0, 1), acc = random.between(9, 32);
  const bool wide = random.chance(0.3);
  Parameters parameters = wide ? fixed(po, pf, residual, tables, random.between(0, 30))
                               : integers(random.between(2, 8), acc, po, pf, residual, tables,
                                          random.chance(0.2) ? 0 : random.between(8, 32),
                                          random.between(acc, 32), random.chance(0.5) ? "dsp" : "lut");
  if (!wide && integer(parameters, "MULTIPLIER_BITS") > 0 && random.chance(0.3))
    parameters["TWICE"] = int64_t{1};
  std::vector<FinishRow> rows;
  const int64_t tasks = random.between(1, 5);
  for (int64_t task = 0; task < tasks; ++task) {
    rows.push_back(random_finish_row(random, parameters));
  }
  return std::make_unique<FinishCase>(parameters, rows, random.next());
}

std::unique_ptr<BenchCase> random_stream_frame(Random& random) {
  return std::make_unique<FrameCase>(random.between(1, 100), random.between(1, 9), random.between(0, 3),
                                     random.between(0, 3));
}

}  // namespace tilewright::pipeline
