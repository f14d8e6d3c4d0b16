// Where the cycles of a timed run went: the run is cut into the layers of its program, and for each layer the
// chain of events that took its time is found.
//
// A layer's instructions are consecutive. It ends when the last of them is done and begins where the one
// before it ends, so the cycles of all layers add up to the run. From its end a layer is followed backwards:
// an instruction started when the one before it in its module was done, or when the token came for which it
// waited (then its pusher is next), or when it had been fetched. Every cycle of the layer thus has exactly
// one cause: what would have to be faster to make the layer faster.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/time/cycle_observer.h"
#include "tilewright/search/deadline.h"

namespace tilewright::overlay {

enum class CycleCause : uint8_t {
  kGemm,
  kAlu,
  kParameters,  // compute loads micro-ops, biases or accumulators
  kLoad,        // inputs or weights arrive too slowly; the first ones of a layer included
  kStore,       // outputs leave too slowly; the last ones of a layer included
  kToken,       // a transfer that could not start before compute had freed (or filled) a buffer
  kFetch,       // no instruction was there
};
inline constexpr size_t kCycleCauses = 7;
const char* name(CycleCause cause);

// Bytes that crossed the memory port; padding is none.
struct LayerTraffic {
  uint64_t instruction_bytes = 0, uop_bytes = 0, input_bytes = 0, weight_bytes = 0, parameter_bytes = 0;
  uint64_t output_bytes = 0;
  uint64_t read() const {
    return instruction_bytes + uop_bytes + input_bytes + weight_bytes + parameter_bytes;
  }
  uint64_t total() const { return read() + output_bytes; }
};

struct LayerTiming {
  std::string name, op;
  int64_t macs = 0;
  Schedule schedule;
  uint64_t begin = 0, end = 0;  // half-open, in cycles of the program's run
  uint64_t instructions = 0;
  std::array<uint64_t, kCycleCauses> caused{};  // by CycleCause; adds up to cycles()
  // Cycles in which the module was executing such an instruction (load and store: at least one).
  uint64_t gemm_busy = 0, alu_busy = 0, parameters_busy = 0, load_busy = 0, store_busy = 0;
  uint64_t gemm_uops = 0, reset_uops = 0, alu_uops = 0;
  LayerTraffic traffic;

  uint64_t cycles() const { return end - begin; }
  CycleCause bound() const;  // the cause of most cycles
};

// Collects what a simulator reports about one run of `program`, which must outlive it.
class LayerTimer : public CycleObserver {
 public:
  // Makes the run throw Expired when the time of `deadline`, if any, is over.
  explicit LayerTimer(const OverlayProgram& program, const Deadline* deadline = nullptr);
  void instruction(const InstructionSpan& span) override;
  void token(TokenChannel channel, uint32_t pusher, uint64_t push_cycle, uint32_t popper,
             uint64_t pop_cycle) override;

  // After a run of `cycles`. Instructions after the last layer (FINISH) count towards it.
  std::vector<LayerTiming> layers(uint64_t cycles) const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  DeadlineWatch watch_;

  // One instruction; `end` is exclusive.
  struct Event {
    uint64_t visible = 0, start = 0, end = 0;
    uint32_t previous = kNone;            // in its module: the one that it had to wait for
    uint32_t pusher[2] = {kNone, kNone};  // of the tokens it took
    OverlayModule module = OverlayModule::kFetch;
    CycleCause cause = CycleCause::kFetch;
    bool known = false;
  };

  uint32_t before_in_compute(const Event& event) const;
  void count_compute(uint32_t index, LayerTiming& layer);
  void count_work(const Instruction& instruction, LayerTiming& layer) const;
  void follow(LayerTiming& layer, uint32_t first, uint32_t last) const;
  uint32_t latest_pusher(const Event& event) const;

  const OverlayProgram& program_;
  std::vector<Event> events_;                       // by instruction
  std::vector<uint32_t> layer_of_;                  // by instruction
  std::vector<LayerTiming> work_;                   // by layer: everything but times
  uint32_t last_[2] = {kNone, kNone};               // of load, of store
  uint32_t last_alu_ = kNone, last_other_ = kNone;  // of compute
};

}  // namespace tilewright::overlay
