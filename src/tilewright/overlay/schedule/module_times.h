// The timing of the three modules as in docs/design/overlay/overlay_rtl.md: when an instruction starts and is
// done, from its sizes.
#pragma once

#include <array>
#include <cstdint>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

// Cycles are double: they only ever get compared and added.
class ModuleTimes {
 public:
  ModuleTimes(const OverlayHardware& hardware, const MemoryModel& memory);

  // All instructions have to be fetched through the port that the loads use; the further back in the program
  // an instruction is, the later its module sees it.
  void fetch(int64_t instructions);

  // The next instruction is number `instruction` of the program; position() returns it.
  void at(int64_t instruction) { instruction_ = instruction; }
  int64_t position() const { return instruction_; }

  // One LOAD of the load module that starts no earlier than `earliest`: `before` padded elements, then `data`
  // elements of `bytes` from `rows` rows with `padded` more among and after them. Returns the cycle in which
  // it is done.
  double load(double earliest, int64_t before, int64_t data, int64_t padded, int64_t bytes);
  // A LOAD of compute, its GEMM, its ALU instruction. Each starts when those before it are done, but for a
  // GEMM beside an ALU instruction: it waits for the GEMM before it only.
  void compute_load(int64_t elements, int64_t bytes);
  void gemm(int64_t iterations, bool beside_alu = false);
  void alu(int64_t steps, bool multiplies);
  void alu_cycles(double cycles);
  void requantize(int64_t steps, int64_t changes);
  void wait(double cycle);  // the next instruction of compute starts no earlier
  // One STORE of `rows` rows, started no earlier than `earliest`. Returns the cycle in which it is done.
  double store(double earliest, int64_t rows, int64_t row_bytes, int64_t elements);

  // When compute has finished everything, and the instruction issued last.
  double compute_free() const { return compute_free_; }
  double last_done() const { return last_done_; }
  double load_busy() const { return load_busy_; }
  double compute_busy() const { return compute_busy_; }
  double store_busy() const { return store_busy_; }

 private:
  static constexpr size_t kInFlight = 4;
  void compute(double cycles);
  double visible();
  int64_t steps_of(int64_t elements, int64_t bytes) const;

  const OverlayHardware* hardware_;
  double latency_ = 1, interval_ = 1;
  double first_visible_ = 0, per_instruction_ = 1;
  int64_t instruction_ = 0;
  double fetch_beats_ = 0;  // that later loads still share the port with
  double load_free_ = 0, load_done_ = 0, compute_free_ = 0, last_done_ = 0, gemm_free_ = 0, compute_wait_ = 0,
         store_free_ = 0, store_done_ = 0;
  std::array<double, kInFlight> loads_done_{}, stores_done_{};
  size_t loads_ = 0, stores_ = 0;
  double load_busy_ = 0, compute_busy_ = 0, store_busy_ = 0;
};

}  // namespace tilewright::overlay
