// A pass without time. Weights and pixels are laid out as the networks deliver them (by window position or
// column, then channel); every PE runs its 1-D convolutions over its own copies and adds its results to the
// partial sums that come up its chain.
#include <algorithm>
#include <vector>

#include "tilewright/spatial/chip/pass_simulator.h"

namespace tilewright {
namespace {

class PassExecution {
 public:
  PassExecution(const RowStationaryLayer& layer, const RowStationaryMapping& mapping, const Pass& pass,
                const LayerOperands& operands, const BlockPsums& psums)
      : layer_(layer),
        mapping_(mapping),
        pass_(pass),
        operands_(operands),
        psums_(psums),
        sets_(mapping, pass.shape) {}

  void run() {
    const int64_t pixel_rows = tilewright::pixel_rows(layer_, pass_.shape.rows);
    load_weights();
    for (int64_t image = 0; image < pass_.shape.images; ++image) {
      rows_.clear();
      for (int64_t set = 0; set < sets_.channel_sets; ++set) {
        for (int64_t row = 0; row < pixel_rows; ++row) rows_.push_back(load_pixels(image, set, row));
      }
      for (int64_t filter_set = 0; filter_set < sets_.filter_sets; ++filter_set) {
        for (int64_t j = 0; j < pass_.shape.rows; ++j) run_chain(image, filter_set, j);
      }
    }
  }

 private:
  // The filter spads of a set's row: [window position][channel][filter].
  void load_weights() {
    for (int64_t filter_set = 0; filter_set < sets_.filter_sets; ++filter_set) {
      for (int64_t set = 0; set < sets_.channel_sets; ++set) {
        for (int64_t i = 0; i < layer_.kernel_height; ++i) {
          const int64_t filters = sets_.filters(filter_set), channels = sets_.channels(set);
          std::vector<int16_t> spad(size_t(layer_.kernel_width * channels * filters));
          for (int64_t f = 0; f < filters; ++f) {
            for (int64_t c = 0; c < channels; ++c) {
              const int16_t* row =
                  operands_.weight_row(layer_, pass_.group, pass_.filter + filter_set * mapping_.p + f,
                                       pass_.channel + set * mapping_.q + c, i);
              for (int64_t s = 0; s < layer_.kernel_width; ++s) {
                spad[size_t((s * channels + c) * filters + f)] = row[s];
              }
            }
          }
          spads_.push_back(std::move(spad));
        }
      }
    }
  }

  // A pixel row as its diagonal sees it: [column][channel].
  std::vector<int16_t> load_pixels(int64_t image, int64_t set, int64_t row) const {
    const int64_t channels = sets_.channels(set);
    std::vector<int16_t> pixels(size_t(layer_.width * channels));
    for (int64_t c = 0; c < channels; ++c) {
      const int16_t* from =
          operands_.pixel_row(layer_, pass_.image + image, pass_.group, pass_.channel + set * mapping_.q + c,
                              pass_.row * layer_.stride + row);
      for (int64_t w = 0; w < layer_.width; ++w) pixels[size_t(w * channels + c)] = from[w];
    }
    return pixels;
  }

  // Partial sums [column][filter] climb from the last kernel row of the last channel set to the first.
  void run_chain(int64_t image, int64_t filter_set, int64_t j) {
    const int64_t filters = sets_.filters(filter_set), columns = layer_.output_width();
    const auto buffer = [&](int64_t x) { return psums_.at(image, j, x) + filter_set * mapping_.p; };
    stream_.assign(size_t(columns * filters), 0);
    if (pass_.shape.reads_psums) {
      for (int64_t x = 0; x < columns; ++x) std::copy_n(buffer(x), filters, &stream_[size_t(x * filters)]);
    }
    const int64_t pixel_rows = tilewright::pixel_rows(layer_, pass_.shape.rows);
    for (int64_t set = sets_.channel_sets - 1; set >= 0; --set) {
      for (int64_t i = layer_.kernel_height - 1; i >= 0; --i) {
        const size_t spad = size_t((filter_set * sets_.channel_sets + set) * layer_.kernel_height + i);
        run_pe(sets_.channels(set), filters, spads_[spad],
               rows_[size_t(set * pixel_rows + j * layer_.stride + i)]);
      }
    }
    for (int64_t x = 0; x < columns; ++x) std::copy_n(&stream_[size_t(x * filters)], filters, buffer(x));
  }

  void run_pe(int64_t channels, int64_t filters, const std::vector<int16_t>& weights,
              const std::vector<int16_t>& pixels) {
    const int64_t window = channels * layer_.kernel_width;
    for (int64_t x = 0; x < layer_.output_width(); ++x) {
      const int16_t* pixel = &pixels[size_t(x * layer_.stride * channels)];
      const int16_t* weight = weights.data();
      int64_t* psums = &stream_[size_t(x * filters)];
      for (int64_t k = 0; k < window; ++k, weight += filters) {
        const int32_t value = pixel[k];
        for (int64_t f = 0; f < filters; ++f) psums[f] += value * int32_t{weight[f]};
      }
    }
  }

  const RowStationaryLayer& layer_;
  const RowStationaryMapping& mapping_;
  const Pass& pass_;
  const LayerOperands& operands_;
  const BlockPsums& psums_;
  const PassSets sets_;
  std::vector<std::vector<int16_t>> spads_, rows_;
  std::vector<int64_t> stream_;
};

}  // namespace

void execute_pass(const RowStationaryLayer& layer, const RowStationaryMapping& mapping, const Pass& pass,
                  const LayerOperands& operands, const BlockPsums& psums) {
  PassExecution(layer, mapping, pass, operands, psums).run();
}

}  // namespace tilewright
