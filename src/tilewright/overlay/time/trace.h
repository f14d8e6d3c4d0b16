// A timed run as a trace that Chrome (chrome://tracing) and Perfetto show: one lane each for fetch, load,
// compute, store and layers, tokens as arrows from the instruction that pushed to the one that popped. One
// microsecond of the trace is one cycle.
//
// Loads and stores overlap in time; each is shown from where its module turned to its data (the one before it
// was done) to its end, and its arguments tell when it started and how long it had waited for tokens.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "tilewright/base/file.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/time/cycle_observer.h"

namespace tilewright::overlay {

class TraceWriter : public CycleObserver {
 public:
  // Errors of all (invalid input): the file cannot be written; it appears only at finish().
  TraceWriter(const std::filesystem::path& path, const OverlayHardware& hardware);

  void instruction(const InstructionSpan& span) override;
  void token(TokenChannel channel, uint32_t pusher, uint64_t push_cycle, uint32_t popper,
             uint64_t pop_cycle) override;
  // Cycles [begin, end) of the present run, on the lane of layers.
  void section(std::string_view name, uint64_t begin, uint64_t end);
  // The present run took `cycles`; what follows is of another one, which the trace shows after it.
  void end_run(uint64_t cycles);
  void finish();

 private:
  struct Token {
    TokenChannel channel;
    uint64_t push_cycle;
  };
  void event(std::string_view fields);

  FileWriter file_;
  IsaLayout layout_;
  uint64_t offset_ = 0, tokens_ = 0;
  bool any_ = false;
  std::array<uint64_t, 4> free_{};                  // by module: where its last slice ended
  std::map<uint32_t, std::vector<Token>> pending_;  // by popper
};

}  // namespace tilewright::overlay
