// One place for choices that are not the allocator's.
#include "tilewright/pipeline/design/shapes.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>

#include "tilewright/base/integer_math.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline {

namespace {

// What a memory for so many words holds at no greater cost.
int64_t words_held(int64_t words, int64_t width) {
  const std::string_view kind = small_memory_kind(words, width);
  if (kind == "registers") return words;
  if (kind == "lutram") {
    const int64_t whole = words <= 32 ? 32 : round_up(words, 64);
    return small_memory_kind(whole, width) == kind ? whole : words;
  }
  const int64_t whole = std::max<int64_t>(512, int64_t(std::bit_ceil(uint64_t(words))));
  return synthesis::block_rams(whole, width) == synthesis::block_rams(words, width) ? whole : words;
}

}  // namespace

int64_t streaming_ring_rows(const LayerGeometry& g, int element_bits, bool tight) {
  const int64_t image = std::max(g.input.rows, g.window.rows);
  // One window per image, read several times: the next image comes meanwhile.
  const bool one_window = g.output.rows == 1 && g.output.columns == 1;
  if (one_window && !g.lanes && g.blocks > 1) return 2 * image;
  const int64_t least = std::min(g.window.rows + g.window.stride_y - 1, image);
  if (tight) return least;
  const int64_t line = g.input.columns * g.pixel_words,
                most = words_held(least * line, g.shape.pi * element_bits) / line;
  return std::clamp(most, least, g.input.rows + g.window.rows);
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
  return products_per_block(shape.multiplier) > 1 ? Multiplier::kDsp : shape.multiplier;
}

std::vector<int64_t> resize_path(int64_t from, int64_t to, int element_bits, int64_t count) {
  constexpr int64_t kWidestBits = 4096;
  if (from == to) return {from};
  if (from % to == 0 || to % from == 0) return {from, to};
  const int64_t multiple = std::lcm(from, to);
  const bool whole = count % multiple == 0 && multiple * element_bits <= kWidestBits;
  return {from, whole ? multiple : std::gcd(from, to), to};
}

BorderFrame border_frame(int64_t count, int64_t beat) {
  if (count % beat == 0) return {beat, beat, count / beat};
  const int64_t step = std::gcd(count, beat), total = round_up(count, beat);
  const BorderFrame plain{step, step, total / step, step == beat ? 1 : 2, (total - count) / step};
  BorderFrame best = plain;
  for (int64_t coarse = 2 * step; coarse <= beat; coarse += step) {
    if (beat % coarse != 0) continue;
    // What is dropped goes while the last two parts that are kept wait to be cut.
    const int64_t kept = round_up(count, coarse), dropped = (total - kept) / coarse;
    const int64_t waits = std::max<int64_t>(0, dropped - 2 * (coarse / step - 1));
    const int64_t cycles = std::max(kept / step + waits, total / coarse);
    if (cycles < best.cycles)
      best = {step, coarse, cycles, coarse == beat ? 3 : 4, (kept - count) / step + dropped};
  }
  // The second frame takes two cycles of every image's latency.
  return 2 * best.cycles <= plain.cycles && plain.cycles - best.cycles >= 16 ? best : plain;
}

const char* multiplier_text(Multiplier multiplier) {
  switch (multiplier) {
    case Multiplier::kDsp:
      return "dsp";
    case Multiplier::kPair:
      return "pair";
    case Multiplier::kPacked2:
      return "packed2";
    case Multiplier::kPacked3:
      return "packed3";
    case Multiplier::kPacked4:
      return "packed4";
    case Multiplier::kLut:
      return "lut";
  }
  return "";
}

int64_t products_per_block(Multiplier multiplier) {
  switch (multiplier) {
    case Multiplier::kPair:
    case Multiplier::kPacked2:
      return 2;
    case Multiplier::kPacked3:
      return 3;
    case Multiplier::kPacked4:
      return 4;
    case Multiplier::kDsp:
    case Multiplier::kLut:
      break;
  }
  return 1;
}

std::optional<Multiplier> most_packed(int activation_bits, int weight_bits, int block_bits) {
  if (activation_bits < 2 || weight_bits < 2) return std::nullopt;
  for (const Multiplier multiplier : {Multiplier::kPacked4, Multiplier::kPacked3, Multiplier::kPacked2}) {
    if (packed_bits(products_per_block(multiplier), activation_bits, weight_bits) <= block_bits)
      return multiplier;
  }
  return std::nullopt;
}

int block_bits(synthesis::DeviceFamily family) {
  switch (family) {
    case synthesis::DeviceFamily::kXcup:
      return kWidestBlockBits;
    case synthesis::DeviceFamily::kXc7:
      return 25;
    case synthesis::DeviceFamily::kEcp5:
      return 18;
    case synthesis::DeviceFamily::kIce40:
      break;
  }
  return 16;
}

bool has_lowest_weight(const Layer& layer) {
  const int32_t lowest = -(int32_t{1} << (layer.weight_bits - 1));
  return std::any_of(layer.weights.begin(), layer.weights.end(),
                     [&](int32_t weight) { return weight <= lowest; });
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
