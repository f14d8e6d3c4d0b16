// The row-stationary chip: an array of processing elements (PEs) with a scratchpad (spad) per data type, a
// banked global buffer, and one network per data type between them. Sizes and widths are stated facts of the
// 168-PE chip (JSSC 2017); what had to be inferred is in PassOverlap and is discussed in
// docs/design/spatial/array_simulator.md. One description serves every layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

// How far work of different kinds overlaps; none of it is published.
struct PassOverlap {
  // The PE's only adder also adds the partial sums that arrive: one issue slot each. If not, a second adder
  // adds them together with the last product.
  bool shared_adder = true;
  // Weights of the next pass enter the filter spad words that the running mapping leaves free.
  bool weight_run_ahead = true;
  // The first window of the next pass is already in the pixel spads when the pass begins.
  bool pixel_run_ahead = false;
  // A PE waits for all its weights and its first window before its first product, instead of for each word.
  bool start_when_loaded = false;
  // A buffer bank does one access per cycle; if not, reads and writes never meet.
  bool single_port_banks = true;
  // Partial sums that a PE's input, or the output of a chain, can hold.
  int64_t psum_fifo_words = 24;
  bool operator==(const PassOverlap&) const = default;
};

struct RowStationaryChip {
  std::string name;
  int64_t rows = 1, columns = 1;  // PEs
  double clock_mhz = 1;
  int64_t word_bits = 16;
  int64_t diagonal_ids = 1;  // different diagonals of a PE set that the pixel network can address
  // Words of one PE's spads, and cycles from issuing an operation to its result.
  int64_t filter_spad_words = 1, pixel_spad_words = 1, psum_spad_words = 1;
  int64_t pipeline_stages = 1;
  // Global buffer: every bank holds pixels only or partial sums only. Weights have their own buffer.
  int64_t buffer_banks = 1, bank_bytes = 1, bank_access_words = 1;
  int64_t weight_buffer_bytes = 1;
  // Words per cycle between the buffer and the whole array, and of one link between vertical neighbours.
  int64_t filter_words_per_cycle = 1, pixel_words_per_cycle = 1;
  int64_t psum_in_words_per_cycle = 1, psum_out_words_per_cycle = 1, link_words_per_cycle = 1;
  PassOverlap overlap;
  bool operator==(const RowStationaryChip&) const = default;

  int64_t word_bytes() const { return (word_bits + 7) / 8; }
  // Every field in its range; psum_fifo_words holds a whole transfer of the link and of the input network.
  void verify(Diagnostics& diagnostics) const;
};

// Reads `name`, `clock_mhz`, `word_bits` and the section `row_stationary` of a hardware file; the rest is
// left to its readers. Errors (invalid input), all at once: no such section, fields missing, unknown or out
// of range.
RowStationaryChip parse_row_stationary_chip(const std::string& yaml, const std::string& source_name);
RowStationaryChip read_row_stationary_chip(const std::filesystem::path& path);
// By the name of a preset or as a file, as find_array_hardware.
RowStationaryChip find_row_stationary_chip(const std::string& name_or_path,
                                           const std::filesystem::path& preset_folder);

}  // namespace tilewright
