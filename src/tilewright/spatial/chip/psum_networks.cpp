// The partial-sum networks of a pass: which chain's turn it is, and which bank a transfer touches. Round
// robin and the spread over the banks are ours; widths and banks are the chip's.
#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/spatial/chip/networks.h"

namespace tilewright {
namespace {}  // namespace

PsumNetworks::PsumNetworks(const PassContext& context, PassArray& array)
    : context_(context),
      array_(array),
      psum_banks_(
          ceil_div(psum_buffer_bytes(context.chip, context.layer, context.mapping), context.chip.bank_bytes)),
      accesses_per_set_(ceil_div(context.mapping.p, context.chip.bank_access_words)),
      in_(size_t(array.chain_count())),
      out_(size_t(array.chain_count())) {
  const PassShape& shape = context.pass.shape;
  outstanding_ = shape.images * shape.rows * context.layer.output_width() * shape.filters;
  to_read_ = shape.reads_psums ? outstanding_ : 0;
}

// Partial sums are spread over their banks access by access.
int64_t PsumNetworks::bank(int64_t chain, const Cursor& cursor) const {
  const int64_t filter_set = chain / array_.rows, row = chain % array_.rows;
  const int64_t position = (cursor.image * array_.rows + row) * context_.layer.output_width() + cursor.column;
  return ((position * array_.sets.filter_sets + filter_set) * accesses_per_set_ +
          cursor.filter / context_.chip.bank_access_words) %
         psum_banks_;
}

int64_t* PsumNetworks::address(int64_t chain, const Cursor& cursor) const {
  if (context_.psums.words == nullptr) return nullptr;
  const int64_t filter_set = chain / array_.rows, row = chain % array_.rows;
  return context_.psums.at(cursor.image, row, cursor.column) + filter_set * context_.mapping.p +
         cursor.filter;
}

int64_t PsumNetworks::filters_left(int64_t chain, const Cursor& cursor) const {
  return array_.sets.filters(chain / array_.rows) - cursor.filter;
}

void PsumNetworks::advance(int64_t chain, Cursor& cursor, int64_t count) {
  cursor.filter += count;
  if (filters_left(chain, cursor) > 0) return;
  cursor.filter = 0;
  if (++cursor.column < context_.layer.output_width()) return;
  cursor.column = 0;
  ++cursor.image;
}

int64_t PsumNetworks::send_out(int64_t cycle) {
  const int64_t chains = array_.chain_count();
  for (int64_t k = 0; k < chains; ++k) {
    const int64_t chain = turn_out_ + k < chains ? turn_out_ + k : turn_out_ + k - chains;
    PsumFifo& fifo = array_.chain_output(chain);
    if (!fifo.front_available(cycle)) continue;
    Cursor& cursor = out_[size_t(chain)];
    const int64_t most = std::min(context_.chip.psum_out_words_per_cycle, filters_left(chain, cursor));
    const int64_t count = fifo.available(cycle, most);
    int64_t* words = address(chain, cursor);
    for (int64_t f = 0; f < count; ++f) {
      const int64_t value = fifo.pop();
      if (words != nullptr) words[f] = value;
    }
    const int64_t written_bank = bank(chain, cursor);
    advance(chain, cursor, count);
    words_out_ += count;
    outstanding_ -= count;
    turn_out_ = (chain + 1) % chains;
    return written_bank;
  }
  return -1;
}

void PsumNetworks::send_in(int64_t cycle, int64_t written_bank) {
  if (to_read_ == 0) return;
  const int64_t chains = array_.chain_count();
  for (int64_t k = 0; k < chains; ++k) {
    const int64_t chain = turn_in_ + k < chains ? turn_in_ + k : turn_in_ + k - chains;
    Cursor& cursor = in_[size_t(chain)];
    if (cursor.image == context_.pass.shape.images) continue;
    const int64_t count = std::min(context_.chip.psum_in_words_per_cycle, filters_left(chain, cursor));
    PsumFifo& fifo = array_.chain_input(chain);
    if (fifo.room() < count) continue;
    turn_in_ = chain;
    if (context_.chip.overlap.single_port_banks && bank(chain, cursor) == written_bank) {
      ++bank_conflict_cycles_;
      return;
    }
    const int64_t* words = address(chain, cursor);
    for (int64_t f = 0; f < count; ++f) fifo.push(words == nullptr ? 0 : words[f], cycle + 1);
    advance(chain, cursor, count);
    words_in_ += count;
    to_read_ -= count;
    turn_in_ = (chain + 1) % chains;
    return;
  }
}

void PsumNetworks::step(int64_t cycle) { send_in(cycle, send_out(cycle)); }

}  // namespace tilewright
