// A convolution layer and its row-stationary mapping (m, n, e, p, q, r, t), with the rules that the chip sets
// (JSSC 2017, sections III and V). A processing pass covers n images, e output rows, q*r channels and p*t
// filters of one group: r*t sets of R x e PEs, each PE with q channels of p filters. A set wider than the
// array is cut into segments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/spatial/chip/chip.h"

namespace tilewright {

// Height and width include the padding. Channels and filters are those of one group.
struct RowStationaryLayer {
  std::string name;
  int64_t groups = 1, batch = 1;
  int64_t channels = 1, filters = 1;            // C, M
  int64_t height = 1, width = 1;                // H, W
  int64_t kernel_height = 1, kernel_width = 1;  // R, S
  int64_t stride = 1;                           // U
  bool operator==(const RowStationaryLayer&) const = default;

  int64_t output_height() const { return (height - kernel_height) / stride + 1; }  // E
  int64_t output_width() const { return (width - kernel_width) / stride + 1; }     // F
  // Pixel columns of a row that some output needs: with U > S there are gaps, and the last may be left over.
  int64_t used_columns() const {
    return (stride < kernel_width ? stride : kernel_width) * (output_width() - 1) + kernel_width;
  }
  // Multiply-accumulates of the whole batch.
  int64_t macs() const {
    return groups * batch * filters * output_height() * output_width() * channels * kernel_height *
           kernel_width;
  }
  int64_t input_words() const { return batch * groups * channels * height * width; }
  int64_t weight_words() const { return groups * filters * channels * kernel_height * kernel_width; }
  int64_t output_words() const { return batch * groups * filters * output_height() * output_width(); }
  // Sizes of at least 1, a kernel inside the image, fewer than 2^40 MACs and 2^32 words of a tensor.
  void verify(Diagnostics& diagnostics) const;
};

struct RowStationaryMapping {
  int64_t m = 1;  // filters whose partial sums stay in the global buffer
  int64_t n = 1;  // images of a pass
  int64_t e = 1;  // output rows of a pass: width of a PE set
  int64_t p = 1;  // filters that a PE interleaves
  int64_t q = 1;  // channels that a PE interleaves
  int64_t r = 1;  // sets on different channels, chained by their partial sums
  int64_t t = 1;  // sets on different filters
  bool operator==(const RowStationaryMapping&) const = default;
};

// Pixel rows that `rows` output rows need: U (rows - 1) + R.
int64_t pixel_rows(const RowStationaryLayer& layer, int64_t rows);
// Global buffer bytes of a mapping: n q r H' W pixel words, and n m e F partial-sum words.
int64_t pixel_buffer_bytes(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                           const RowStationaryMapping& mapping);
int64_t psum_buffer_bytes(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                          const RowStationaryMapping& mapping);

// Where the columns of the r*t sets lie. A chain is one column of the r sets on one group of filters: r*R
// vertical neighbours, through which its partial sums climb.
struct ChainPlacement {
  int64_t filter_set = 0;  // 0 <= filter_set < t
  int64_t set_column = 0;  // 0 <= set_column < e: output row within the strip
  int64_t column = 0;      // of the array
  int64_t lowest_row = 0;  // of the PE where the chain begins; it climbs to lowest_row - (r R - 1)
  bool operator==(const ChainPlacement&) const = default;
};
// All t*e chains, ordered by filter set, then set column; nothing if they do not fit.
std::optional<std::vector<ChainPlacement>> place_chains(const RowStationaryChip& chip, int64_t kernel_height,
                                                        const RowStationaryMapping& mapping);

// Adds one diagnostic (infeasible; invalid input for values below 1) for every rule that the mapping breaks.
void verify_mapping(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                    const RowStationaryMapping& mapping, Diagnostics& diagnostics);

}  // namespace tilewright
