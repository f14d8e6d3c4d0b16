// The walk back through a layer. Compute runs one instruction at a time, so each of its instructions takes
// its whole time. Load and store keep several in flight: there an instruction takes the time since the one
// before it was done, and a run of instructions without a gap is a *chain*. A chain counts as slow memory
// when several of its instructions took tokens of compute, that is when buffers were free in time; a chain
// that began with the only such token was held back by it, and counts as waiting for the token. The first
// chain of a layer has nothing to hide behind and counts as memory, as does the last one of stores.
#include "tilewright/overlay/program/layer_timing.h"

#include <algorithm>
#include <iterator>

namespace tilewright::overlay {
namespace {

CycleCause cause_of(const Instruction& instruction) {
  if (const auto* memory = std::get_if<MemoryInstruction>(&instruction)) {
    if (memory->is_store) return CycleCause::kStore;
    return loads_early(memory->memory_type) ? CycleCause::kLoad : CycleCause::kParameters;
  }
  if (std::holds_alternative<FinishInstruction>(instruction)) return CycleCause::kToken;
  return std::holds_alternative<AluInstruction>(instruction) ? CycleCause::kAlu : CycleCause::kGemm;
}

uint64_t walked_iterations(const LoopNest& loop) {
  const uint64_t uops = loop.uop_end > loop.uop_begin ? loop.uop_end - loop.uop_begin : 0;
  return uops * loop.iter_out * loop.iter_in;
}

// Gives the cycles from `from` to the front of what is explained already to a cause.
class Ledger {
 public:
  Ledger(LayerTiming& layer) : layer_(layer), front_(layer.end) {}
  bool open() const { return front_ > layer_.begin; }
  uint64_t front() const { return front_; }
  void charge(uint64_t from, CycleCause cause) { layer_.caused[size_t(cause)] += take(from); }
  // Moves the front without a cause yet; returns how far.
  uint64_t take(uint64_t from) {
    const uint64_t to = std::min(front_, std::max(from, layer_.begin));
    const uint64_t cycles = front_ - to;
    front_ = to;
    return cycles;
  }
  void charge_taken(uint64_t cycles, CycleCause cause) { layer_.caused[size_t(cause)] += cycles; }

 private:
  LayerTiming& layer_;
  uint64_t front_;
};

}  // namespace

const char* name(CycleCause cause) {
  constexpr const char* kNames[kCycleCauses] = {"gemm",  "alu",   "parameters", "load",
                                                "store", "token", "fetch"};
  return kNames[size_t(cause)];
}

CycleCause LayerTiming::bound() const {
  return CycleCause(std::distance(caused.begin(), std::max_element(caused.begin(), caused.end())));
}

LayerTimer::LayerTimer(const OverlayProgram& program, const Deadline* deadline)
    : watch_(deadline),
      program_(program),
      events_(program.instruction_count),
      layer_of_(program.instruction_count) {
  uint64_t next = 0;
  for (const LayerReport& report : program.layers) {
    LayerTiming layer;
    layer.name = report.name, layer.op = report.op, layer.macs = report.macs;
    layer.schedule = report.schedule;
    for (uint64_t i = 0; i < report.instructions; ++i) layer_of_.at(next++) = uint32_t(work_.size());
    work_.push_back(std::move(layer));
  }
  TILEWRIGHT_CHECK(!work_.empty() && next <= layer_of_.size(), "a program without layers was timed");
  std::fill(layer_of_.begin() + long(next), layer_of_.end(), uint32_t(work_.size() - 1));
}

void LayerTimer::count_work(const Instruction& instruction, LayerTiming& layer) const {
  const OverlayHardware& hardware = program_.hardware;
  ++layer.instructions;
  layer.traffic.instruction_bytes += uint64_t(hardware.instruction_bytes());
  if (const auto* gemm = std::get_if<GemmInstruction>(&instruction)) {
    (gemm->reset ? layer.reset_uops : layer.gemm_uops) += walked_iterations(gemm->loop);
  } else if (const auto* alu = std::get_if<AluInstruction>(&instruction)) {
    layer.alu_uops += walked_iterations(alu->loop);
  } else if (const auto* memory = std::get_if<MemoryInstruction>(&instruction)) {
    LayerTraffic& traffic = layer.traffic;
    const MemoryType type = memory->memory_type;
    const uint64_t elements = uint64_t{memory->y_size} * memory->x_size;
    if (memory->is_store) {
      traffic.output_bytes += elements * uint64_t(hardware.output_bytes());
      return;
    }
    const uint64_t bytes = elements * uint64_t(element_bytes(hardware, type));
    switch (type) {
      case MemoryType::kUop:
        traffic.uop_bytes += bytes;
        break;
      case MemoryType::kInput:
        traffic.input_bytes += bytes;
        break;
      case MemoryType::kWeight:
      case MemoryType::kWeightRows:
      case MemoryType::kWeightColumns:
        traffic.weight_bytes += bytes;
        break;
      case MemoryType::kAccumulator:
      case MemoryType::kAccumulator8:
      case MemoryType::kTable:
      case MemoryType::kWideTable:
        traffic.parameter_bytes += bytes;
        break;
      case MemoryType::kOutput:
        break;  // no such LOAD
    }
  }
}

void LayerTimer::instruction(const InstructionSpan& span) {
  watch_.check();
  if (span.module == OverlayModule::kFetch) return;
  Event& event = events_.at(span.index);
  LayerTiming& layer = work_[layer_of_[span.index]];
  event.visible = span.visible_cycle;
  event.start = span.start_cycle;
  event.end = span.done_cycle + 1;
  event.module = span.module;
  event.cause = cause_of(span.instruction);
  event.known = true;
  count_work(span.instruction, layer);
  if (span.module == OverlayModule::kCompute) {
    event.previous = before_in_compute(event);
    count_compute(span.index, layer);
    (event.cause == CycleCause::kAlu ? last_alu_ : last_other_) = span.index;
    return;
  }
  uint32_t& last = last_[span.module == OverlayModule::kStore];
  event.previous = last;
  // Instructions of load and store overlap: each adds what the one before it has not covered.
  const uint64_t covered = last == kNone ? 0 : events_[last].end;
  const uint64_t busy = event.end - std::min(event.end, std::max(event.start, covered));
  (span.module == OverlayModule::kStore ? layer.store_busy : layer.load_busy) += busy;
  last = span.index;
}

// The instruction that `event` had to wait for: the later one of the last ALU instruction and the last other
// one. Of an ALU instruction beside which it runs it only had to wait for the start.
uint32_t LayerTimer::before_in_compute(const Event& event) const {
  const auto waits_until = [&](uint32_t index) {
    return events_[index].end > event.start ? events_[index].start : events_[index].end;
  };
  if (last_alu_ == kNone || last_other_ == kNone) return last_alu_ == kNone ? last_other_ : last_alu_;
  return waits_until(last_alu_) >= waits_until(last_other_) ? last_alu_ : last_other_;
}

// A cycle in which an ALU instruction and a GEMM run counts as the GEMM's.
void LayerTimer::count_compute(uint32_t index, LayerTiming& layer) {
  const Event& event = events_[index];
  const uint64_t cycles = event.end - event.start;
  if (event.cause == CycleCause::kAlu) {
    layer.alu_busy += cycles;
  } else if (event.cause == CycleCause::kParameters) {
    layer.parameters_busy += cycles;
  } else if (event.cause == CycleCause::kGemm) {
    layer.gemm_busy += cycles;
    if (last_alu_ == kNone || events_[last_alu_].end <= event.start) return;
    work_[layer_of_[last_alu_]].alu_busy -= std::min(event.end, events_[last_alu_].end) - event.start;
  }
}

void LayerTimer::token(TokenChannel, uint32_t pusher, uint64_t, uint32_t popper, uint64_t) {
  Event& event = events_.at(popper);
  event.pusher[event.pusher[0] == kNone ? 0 : 1] = pusher;
}

uint32_t LayerTimer::latest_pusher(const Event& event) const {
  uint32_t latest = kNone;
  for (const uint32_t pusher : event.pusher) {
    if (pusher == kNone || !events_[pusher].known) continue;
    if (latest == kNone || events_[pusher].end > events_[latest].end) latest = pusher;
  }
  return latest;
}

void LayerTimer::follow(LayerTiming& layer, uint32_t first, uint32_t last) const {
  uint32_t at = kNone;
  for (uint32_t i = first; i < last; ++i) {
    if (events_[i].known && (at == kNone || events_[i].end >= events_[at].end)) at = i;
  }
  Ledger ledger(layer);
  bool waited_for = false;  // compute waits for the chain that is being followed
  uint64_t chain = 0;       // cycles of it
  int chain_tokens = 0;     // instructions of it that took a token
  while (at != kNone && ledger.open()) {
    const Event& event = events_[at];
    const Event* previous = event.previous == kNone ? nullptr : &events_[event.previous];
    const bool is_compute = event.module == OverlayModule::kCompute;
    ledger.charge(event.end, is_compute || !waited_for ? event.cause : CycleCause::kToken);  // hand-over
    const uint32_t pusher = latest_pusher(event);
    if (!is_compute) {
      chain_tokens += pusher != kNone;
      const bool follows = previous != nullptr && previous->end > event.start;
      chain += ledger.take(follows ? previous->end : event.start);
      if (follows && ledger.open()) {
        at = event.previous;
        continue;
      }
      const bool held = waited_for && chain_tokens == 1 && pusher != kNone && pusher >= first &&
                        event.start > event.visible;
      ledger.charge_taken(chain, held ? CycleCause::kToken : event.cause);
      chain = 0, chain_tokens = 0;
    } else {
      ledger.charge(event.start, event.cause);
    }
    if (!ledger.open()) break;
    if (event.start > event.visible && pusher != kNone) {
      waited_for = is_compute;
      at = pusher;
      continue;
    }
    waited_for = false;
    if (previous != nullptr && previous->end < event.start) ledger.charge(previous->end, CycleCause::kFetch);
    at = event.previous;
  }
  ledger.charge(layer.begin, CycleCause::kFetch);  // nothing came before
}

std::vector<LayerTiming> LayerTimer::layers(uint64_t cycles) const {
  std::vector<LayerTiming> layers = work_;
  uint64_t now = 0;
  uint32_t first = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    uint32_t last = first;
    LayerTiming& layer = layers[l];
    layer.begin = layer.end = now;
    for (; last < layer_of_.size() && layer_of_[last] == l; ++last) {
      layer.end = std::max(layer.end, events_[last].end);
    }
    if (l + 1 == layers.size()) layer.end = std::max(layer.end, cycles);
    follow(layer, first, last);
    now = layer.end;
    first = last;
  }
  return layers;
}

}  // namespace tilewright::overlay
