// One place for choices that are not the allocator's.
#include "tilewright/pipeline/design/shapes.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tilewright::pipeline {

int64_t streaming_ring_rows(const TensorShape& in, const LayerWindow& window) {
  return std::min(window.rows + window.stride_y - 1, std::max(in.rows, window.rows));
}

// Lanes know no weights of signs alone: those are numbers of two bits.
int lane_weight_bits(const Layer& layer) {
  return layer.weights.empty() ? 2 : std::max(2, layer.weight_bits);
}

int64_t stored_element(const NetworkTensor& tensor, int64_t value) {
  return tensor.bipolar ? (value > 0 ? 1 : 0) : value;
}

int64_t part_elements(const Allocation& allocation, int64_t word_elements, int element_bits) {
  int64_t part = std::gcd(word_elements, std::max<int64_t>(1, allocation.port_bytes * 8 / element_bits));
  for (const EngineAllocation& engine : allocation.engines) part = std::max(part, engine.shape.pf);
  return part;
}

int64_t write_queue_beats(const Allocation& allocation) {
  return std::max<int64_t>(128, allocation.max_burst_beats);
}

int64_t kept_lane_words(const Layer& layer, int64_t words) { return layer.weights.empty() ? 1 : words; }

netlist::MemoryKind cycled_rom_kind(int64_t words, netlist::MemoryKind kind) {
  return words <= 64 ? netlist::MemoryKind::kLutRam : kind;
}

netlist::Parameters cycle_counters(int64_t words) {
  return {
      {"OB_BITS", int64_t{1}}, {"PX_BITS", int64_t{1}}, {"N_BITS", int64_t(std::bit_width(uint64_t(words)))}};
}

Multiplier lane_multiplier(const Layer& layer, const ArrayShape& shape) {
  if (layer.weights.empty() || layer.weight_bits <= 4) return Multiplier::kLut;
  return shape.multiplier == Multiplier::kPair ? Multiplier::kDsp : shape.multiplier;
}

std::vector<int64_t> resize_path(int64_t from, int64_t to, int element_bits, int64_t count) {
  constexpr int64_t kWidestBits = 4096;
  if (from == to) return {from};
  if (from % to == 0 || to % from == 0) return {from, to};
  const int64_t multiple = std::lcm(from, to);
  const bool whole = count % multiple == 0 && multiple * element_bits <= kWidestBits;
  return {from, whole ? multiple : std::gcd(from, to), to};
}

const char* multiplier_text(Multiplier multiplier) {
  return multiplier == Multiplier::kPair ? "pair" : multiplier == Multiplier::kLut ? "lut" : "dsp";
}

const char* kind_text(netlist::MemoryKind kind) {
  switch (kind) {
    case netlist::MemoryKind::kRegisters:
      return "registers";
    case netlist::MemoryKind::kLutRam:
      return "lutram";
    case netlist::MemoryKind::kBlockRam:
      return "block";
    case netlist::MemoryKind::kUltraRam:
      return "ultra";
  }
  return "";
}

const char* small_memory_kind(int64_t words, int64_t width) {
  if (words <= 2) return "registers";
  return words <= 64 || words * width <= 4096 ? "lutram" : "block";
}

}  // namespace tilewright::pipeline
