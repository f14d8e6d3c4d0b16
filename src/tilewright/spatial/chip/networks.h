// The networks between the global buffer and the PEs of one pass. Each moves at most its width of words per
// cycle; a word for several PEs (weights of a set's row, pixels of a diagonal) is sent once and taken by all
// of them in the same cycle. Words sent in a cycle can be used from the next one on.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/spatial/chip/operands.h"
#include "tilewright/spatial/chip/processing_element.h"

namespace tilewright {

// The PEs that a pass uses and the queues between them. A chain is the column `row` (an output row of the
// strip) of the sets on one group of filters; its PEs are numbered from the bottom.
struct PassArray {
  PassArray(const RowStationaryChip& chip, const RowStationaryLayer& layer,
            const RowStationaryMapping& mapping, const PassShape& shape);

  int64_t chain_count() const { return sets.filter_sets * rows; }
  int64_t chain(int64_t filter_set, int64_t row) const { return filter_set * rows + row; }
  // Index into pes. The last kernel row of the last channel set is at the bottom.
  int64_t pe_index(int64_t filter_set, int64_t row, int64_t channel_set, int64_t kernel_row) const {
    return chain(filter_set, row) * chain_length + (sets.channel_sets - 1 - channel_set) * kernel_height +
           kernel_height - 1 - kernel_row;
  }
  PsumFifo& chain_input(int64_t chain) { return fifos[size_t(chain * (chain_length + 1))]; }
  PsumFifo& chain_output(int64_t chain) { return fifos[size_t(chain * (chain_length + 1) + chain_length)]; }

  PassSets sets;
  int64_t rows, kernel_height, chain_length;
  std::vector<PsumFifo> fifos;
  std::vector<ProcessingElement> pes;
};

// A pass, where it finds its data and what it runs on; all outlive the networks. Without data (operands with
// no words) every word is 0.
struct PassContext {
  const RowStationaryChip& chip;
  const RowStationaryLayer& layer;
  const RowStationaryMapping& mapping;
  const Pass& pass;
  const LayerOperands& operands;
  const BlockPsums& psums;  // null words: none
};

// Weights: each kernel row of each set is a stream to all columns of the set; streams take turns, a transfer
// holds words of one stream.
class FilterNetwork {
 public:
  FilterNetwork(const PassContext& context, PassArray& array);
  void step();
  bool finished() const { return remaining_ == 0; }
  int64_t words() const { return words_; }
  int64_t deliveries() const { return words_ * array_.rows; }
  // Cycles in which the network is in use during a pass, transfers ahead for the next one included.
  int64_t busy_cycles() const { return transfers_; }

 private:
  struct Stream {
    int64_t first_pe = 0;  // of set column 0
    std::vector<int16_t> words;
    int64_t sent = 0;
  };
  void send(Stream& stream, int64_t count);
  PassArray& array_;
  const int64_t width_;
  std::vector<Stream> streams_;
  size_t turn_ = 0;
  int64_t remaining_ = 0, words_ = 0, transfers_ = 0;
};

// Pixels: image by image and column by column, within a column channel by channel and row by row. A word
// waits until every PE of its diagonal has room.
class PixelNetwork {
 public:
  PixelNetwork(const PassContext& context, PassArray& array);
  void step();
  bool finished() const { return image_ == context_.pass.shape.images; }
  int64_t words() const { return words_; }
  int64_t deliveries() const { return deliveries_; }

 private:
  // PEs that need the pixel at the head.
  const std::vector<int64_t>& receivers() const;
  bool send();
  void next();
  const PassContext& context_;
  PassArray& array_;
  const int64_t pixel_rows_;
  std::vector<std::vector<int64_t>> diagonals_;  // [channel set * pixel rows + row]: PEs
  int64_t image_ = 0, column_ = 0, channel_ = 0, set_ = 0, row_ = 0;
  int64_t words_ = 0, deliveries_ = 0;
};

// Partial sums out of the buffer to the bottoms of the chains, and from their tops back. Chains take turns; a
// transfer holds words of one output position. A bank that is written in a cycle is not read in the same
// cycle.
class PsumNetworks {
 public:
  PsumNetworks(const PassContext& context, PassArray& array);
  void step(int64_t cycle);
  bool finished() const { return outstanding_ == 0; }
  int64_t words_in() const { return words_in_; }
  int64_t words_out() const { return words_out_; }
  int64_t bank_conflict_cycles() const { return bank_conflict_cycles_; }

 private:
  // The next word of a chain: it counts images, columns, filters.
  struct Cursor {
    int64_t image = 0, column = 0, filter = 0;
  };
  int64_t bank(int64_t chain, const Cursor& cursor) const;
  int64_t* address(int64_t chain, const Cursor& cursor) const;
  int64_t filters_left(int64_t chain, const Cursor& cursor) const;
  void advance(int64_t chain, Cursor& cursor, int64_t count);
  int64_t send_out(int64_t cycle);  // the bank written, or -1
  void send_in(int64_t cycle, int64_t written_bank);

  const PassContext& context_;
  PassArray& array_;
  const int64_t psum_banks_, accesses_per_set_;
  std::vector<Cursor> in_, out_;
  int64_t turn_in_ = 0, turn_out_ = 0;
  int64_t to_read_ = 0, outstanding_ = 0, words_in_ = 0, words_out_ = 0, bank_conflict_cycles_ = 0;
};

}  // namespace tilewright
