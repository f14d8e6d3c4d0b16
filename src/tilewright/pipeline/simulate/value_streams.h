// The streams of a design as values alone, without time: each component takes from the streams before it what
// its next beat needs. Elements are the bits of the wires (docs/design/pipeline/pipeline.md), unsigned, but
// for sums, which are signed; components read them as their parameters say, so that what a parameter or a
// memory image gets wrong shows in the values.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/component/rom_walker.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

struct ValueBeat {
  std::vector<int64_t> elements;
  bool last = true;  // of a window
};

class ValueStream {
 public:
  ValueStream(int element_bits, int64_t elements) : bits(element_bits), count(elements) {}
  virtual ~ValueStream() = default;
  virtual void next(ValueBeat& beat) = 0;

  const int bits;       // of an element
  const int64_t count;  // of a beat
};
using ValueStreamPtr = std::shared_ptr<ValueStream>;

// The words of a memory in the order of their tasks: rom_walker, and weight_ring behind its memory port.
class WordStream {
 public:
  WordStream(MemoryImage image, std::vector<RomWalkerRow> tasks)
      : image_(std::move(image)), tasks_(std::move(tasks)) {}
  const MemoryImage& image() const { return image_; }
  // The index of the next word.
  int64_t next();

 private:
  const MemoryImage image_;
  const std::vector<RomWalkerRow> tasks_;
  size_t task_ = 0;
  int64_t outer_ = 0, repeat_ = 0, word_ = 0;
};
using WordStreamPtr = std::shared_ptr<WordStream>;

// Movers (value_streams.cpp). Bytes from memory, `beat_bytes` at a time; after their end come zeros.
ValueStreamPtr bytes_stream(std::vector<uint8_t> bytes, int64_t beat_bytes);
// The same bits as elements of another width.
ValueStreamPtr regrouped(ValueStreamPtr in, int bits);
ValueStreamPtr width_stream(ValueStreamPtr in, int64_t count);
ValueStreamPtr frame_stream(ValueStreamPtr in, const netlist::Parameters& parameters);
ValueStreamPtr join_stream(ValueStreamPtr low, ValueStreamPtr high);
std::vector<ValueStreamPtr> fork_streams(ValueStreamPtr in);
WordStreamPtr rom_stream(const netlist::Parameters& parameters, const MemoryImages& images);
WordStreamPtr ring_stream(ValueStreamPtr in, const netlist::Parameters& parameters,
                          const MemoryImages& images);

// Feeders, arrays and finish (value_arrays.cpp). `every_beat`: act_last is tied to 1.
ValueStreamPtr line_window_stream(ValueStreamPtr in, const netlist::Parameters& parameters);
ValueStreamPtr sliding_window_stream(ValueStreamPtr in, const netlist::Parameters& parameters,
                                     const MemoryImages& images);
ValueStreamPtr mac_stream(ValueStreamPtr act, WordStreamPtr weights, const netlist::Parameters& parameters,
                          bool every_beat);
ValueStreamPtr lane_stream(ValueStreamPtr act, WordStreamPtr weights, const netlist::Parameters& parameters,
                           bool every_beat);
ValueStreamPtr finish_stream(ValueStreamPtr acc, WordStreamPtr parameter_words, ValueStreamPtr residual,
                             const netlist::Parameters& parameters, const MemoryImages& images);

// Two's complement of the lowest `bits` (1..64).
constexpr int64_t as_signed(int64_t value, int bits) {
  return int64_t(uint64_t(value) << (64 - bits)) >> (64 - bits);
}
constexpr int64_t low_bits(int64_t value, int bits) {
  return bits >= 64 ? value : int64_t(uint64_t(value) & ((uint64_t{1} << bits) - 1));
}

}  // namespace tilewright::pipeline
