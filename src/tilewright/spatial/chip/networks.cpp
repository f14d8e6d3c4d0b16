// The array of a pass and the networks that bring weights and pixels: in which order, and who takes a word.
// Orders are ours; widths and multicast are the chip's.
#include "tilewright/spatial/chip/networks.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {}  // namespace

PassArray::PassArray(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                     const RowStationaryMapping& mapping, const PassShape& shape)
    : sets(mapping, shape),
      rows(shape.rows),
      kernel_height(layer.kernel_height),
      chain_length(sets.channel_sets * layer.kernel_height),
      fifos(size_t(chain_count() * (chain_length + 1)), PsumFifo(chip.overlap.psum_fifo_words)) {
  pes.reserve(size_t(chain_count() * chain_length));
  for (int64_t filter_set = 0; filter_set < sets.filter_sets; ++filter_set) {
    for (int64_t row = 0; row < rows; ++row) {
      PsumFifo* fifo = &chain_input(chain(filter_set, row));
      for (int64_t k = 0; k < chain_length; ++k, ++fifo) {
        PeWork work;
        work.images = shape.images;
        work.columns = layer.output_width();
        work.taps = layer.kernel_width;
        work.stride = layer.stride;
        work.channels = sets.channels(sets.channel_sets - 1 - k / kernel_height);
        work.filters = sets.filters(filter_set);
        work.takes_psums = k > 0 || shape.reads_psums;
        pes.emplace_back(chip, work, fifo, fifo + 1);
      }
    }
  }
}

FilterNetwork::FilterNetwork(const PassContext& context, PassArray& array)
    : array_(array), width_(context.chip.filter_words_per_cycle) {
  const RowStationaryLayer& layer = context.layer;
  const PassSets& sets = array.sets;
  // The spad words of the running mapping are never touched by the next pass's weights.
  const int64_t free_words =
      context.chip.filter_spad_words - context.mapping.p * context.mapping.q * layer.kernel_width;
  const int64_t ahead = context.chip.overlap.weight_run_ahead ? free_words / width_ * width_ : 0;
  for (int64_t filter_set = 0; filter_set < sets.filter_sets; ++filter_set) {
    for (int64_t set = 0; set < sets.channel_sets; ++set) {
      for (int64_t i = 0; i < layer.kernel_height; ++i) {
        Stream stream;
        stream.first_pe = array.pe_index(filter_set, 0, set, i);
        const int64_t filters = sets.filters(filter_set), channels = sets.channels(set);
        stream.words.resize(size_t(filters * channels * layer.kernel_width));
        for (int64_t f = 0; f < filters && !context.operands.weights.empty(); ++f) {
          for (int64_t c = 0; c < channels; ++c) {
            const int16_t* row = context.operands.weight_row(
                layer, context.pass.group, context.pass.filter + filter_set * context.mapping.p + f,
                context.pass.channel + set * context.mapping.q + c, i);
            for (int64_t s = 0; s < layer.kernel_width; ++s) {
              stream.words[size_t((s * channels + c) * filters + f)] = row[s];
            }
          }
        }
        words_ += int64_t(stream.words.size());
        transfers_ += ceil_div(int64_t(stream.words.size()), width_);
        streams_.push_back(std::move(stream));
      }
    }
  }
  remaining_ = words_;
  if (context.pass.shape.cold) return;
  for (Stream& stream : streams_) send(stream, std::min(ahead, int64_t(stream.words.size())));
}

void FilterNetwork::send(Stream& stream, int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    const int16_t word = stream.words[size_t(stream.sent++)];
    for (int64_t row = 0; row < array_.rows; ++row) {
      array_.pes[size_t(stream.first_pe + row * array_.chain_length)].receive_weight(word);
    }
  }
  remaining_ -= count;
}

void FilterNetwork::step() {
  if (finished()) return;
  while (true) {
    Stream& stream = streams_[turn_];
    turn_ = (turn_ + 1) % streams_.size();
    const int64_t count = std::min(width_, int64_t(stream.words.size()) - stream.sent);
    if (count == 0) continue;
    send(stream, count);
    return;
  }
}

PixelNetwork::PixelNetwork(const PassContext& context, PassArray& array)
    : context_(context), array_(array), pixel_rows_(tilewright::pixel_rows(context.layer, array.rows)) {
  diagonals_.resize(size_t(array.sets.channel_sets * pixel_rows_));
  for (int64_t set = 0; set < array.sets.channel_sets; ++set) {
    for (int64_t row = 0; row < array.rows; ++row) {
      for (int64_t i = 0; i < array.kernel_height; ++i) {
        auto& diagonal = diagonals_[size_t(set * pixel_rows_ + row * context.layer.stride + i)];
        for (int64_t filter_set = 0; filter_set < array.sets.filter_sets; ++filter_set) {
          diagonal.push_back(array.pe_index(filter_set, row, set, i));
        }
      }
    }
  }
  if (context.chip.overlap.pixel_run_ahead && !context.pass.shape.cold) {
    while (!finished() && image_ == 0 && column_ < context.layer.kernel_width) send();
  }
}

const std::vector<int64_t>& PixelNetwork::receivers() const {
  static const std::vector<int64_t> kNobody;
  const RowStationaryLayer& layer = context_.layer;
  const bool used = layer.stride <= layer.kernel_width ? column_ < layer.used_columns()
                                                       : column_ % layer.stride < layer.kernel_width &&
                                                             column_ / layer.stride < layer.output_width();
  return used ? diagonals_[size_t(set_ * pixel_rows_ + row_)] : kNobody;
}

bool PixelNetwork::send() {
  const std::vector<int64_t>& pes = receivers();
  for (int64_t pe : pes) {
    if (array_.pes[size_t(pe)].pixel_room() == 0) return false;
  }
  const Pass& pass = context_.pass;
  const int64_t channel = pass.channel + set_ * context_.mapping.q + channel_;
  const int16_t word =
      context_.operands.input.empty()
          ? int16_t{0}
          : context_.operands.pixel_row(context_.layer, pass.image + image_, pass.group, channel,
                                        pass.row * context_.layer.stride + row_)[column_];
  for (int64_t pe : pes) array_.pes[size_t(pe)].receive_pixel(word);
  ++words_;
  deliveries_ += int64_t(pes.size());
  next();
  return true;
}

void PixelNetwork::next() {
  if (++row_ < pixel_rows_) return;
  row_ = 0;
  do {
    if (++set_ == array_.sets.channel_sets) {
      set_ = 0;
      ++channel_;
    }
    if (channel_ == array_.sets.channels(0)) {
      channel_ = 0;
      if (++column_ == context_.layer.width) {
        column_ = 0;
        ++image_;
      }
    }
  } while (channel_ >= array_.sets.channels(set_));
}

void PixelNetwork::step() {
  for (int64_t k = 0; k < context_.chip.pixel_words_per_cycle && !finished(); ++k) {
    if (!send()) return;
  }
}

}  // namespace tilewright
