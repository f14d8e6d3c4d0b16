// The rules of a row-stationary mapping and the placement of its PE sets. Segments are as wide as the array
// or the set, whichever is less; chains of r sets stand above each other so that their partial sums use the
// vertical links, and as many such stacks as fit stand side by side.
#include "tilewright/spatial/chip/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

// Clipped far above every limit: the factors of a broken mapping may multiply out of range.
int64_t product(std::initializer_list<int64_t> factors) {
  constexpr int64_t kClip = int64_t{1} << 60;
  int64_t value = 1;
  for (int64_t factor : factors) {
    if (__builtin_mul_overflow(value, factor, &value) || value > kClip) return kClip;
  }
  return value;
}

class MappingRules {
 public:
  MappingRules(const RowStationaryChip& chip, const RowStationaryLayer& layer,
               const RowStationaryMapping& mapping, Diagnostics& diagnostics)
      : chip_(chip), layer_(layer), mapping_(mapping), diagnostics_(diagnostics) {}

  void run() {
    if (!ranges()) return;
    const RowStationaryMapping& a = mapping_;
    const int64_t taps = layer_.kernel_width;
    at_most("p*t", "filters of a pass (p*t)", a.p * a.t, "the filters kept in the buffer (m)", a.m);
    at_most("q*r", "channels of a pass (q*r)", a.q * a.r, "the channels of a group", layer_.channels);
    at_most("p*q", "weights of a PE (p*q*S)", product({a.p, a.q, taps}), "the words of the filter spad",
            chip_.filter_spad_words);
    at_most("q", "pixels of a window (q*S)", a.q * taps, "the words of the pixel spad",
            chip_.pixel_spad_words);
    at_most("p", "partial sums of a PE (p)", a.p, "the words of the psum spad", chip_.psum_spad_words);
    at_most("e", "diagonals of a set (e+R-1)", a.e + layer_.kernel_height - 1,
            "the identifiers of the pixel network", chip_.diagonal_ids);
    array();
    buffer();
  }

 private:
  void broken(ErrorKind kind, const char* op, std::string message) {
    diagnostics_.error(kind, "mapping of '" + layer_.name + "'", op, std::move(message));
  }
  void at_most(const char* op, const char* what, int64_t need, const char* limit, int64_t have) {
    if (need > have) {
      broken(ErrorKind::kInfeasible, op, fmt::format("{}: {} are more than {}, {}", what, need, limit, have));
    }
  }

  bool ranges() {
    bool ok = true;
    const auto range = [&](const char* op, int64_t value, int64_t high) {
      if (value >= 1 && value <= high) return;
      ok = false;
      broken(ErrorKind::kInvalidInput, op, fmt::format("{} is not in 1..{}", value, high));
    };
    range("m", mapping_.m, layer_.filters);
    range("n", mapping_.n, layer_.batch);
    range("e", mapping_.e, layer_.output_height());
    range("p", mapping_.p, layer_.filters);
    range("q", mapping_.q, layer_.channels);
    range("r", mapping_.r, layer_.channels);
    range("t", mapping_.t, layer_.filters);
    return ok;
  }

  void array() {
    const int64_t height = layer_.kernel_height * mapping_.r;
    if (height > chip_.rows) {
      broken(ErrorKind::kInfeasible, "r",
             fmt::format("a chain of sets (R*r) is {} PEs high, the array {}", height, chip_.rows));
    } else if (!place_chains(chip_, layer_.kernel_height, mapping_)) {
      broken(ErrorKind::kInfeasible, "r*t",
             fmt::format("{} chains of {} x {} PEs in segments of at most {} columns do not fit {} x {} PEs",
                         mapping_.t, height, mapping_.e, chip_.columns, chip_.rows, chip_.columns));
    }
  }

  void buffer() {
    const int64_t pixels = pixel_buffer_bytes(chip_, layer_, mapping_);
    const int64_t psums = psum_buffer_bytes(chip_, layer_, mapping_);
    const int64_t banks = ceil_div(pixels, chip_.bank_bytes) + ceil_div(psums, chip_.bank_bytes);
    if (banks > chip_.buffer_banks) {
      broken(ErrorKind::kInfeasible, "m*n*e",
             fmt::format("{} bytes of pixels and {} of partial sums need {} banks of {} bytes, the global "
                         "buffer has {}",
                         pixels, psums, banks, chip_.bank_bytes, chip_.buffer_banks));
    }
    const int64_t weights = product({mapping_.p, mapping_.t, mapping_.q, mapping_.r, layer_.kernel_height,
                                     layer_.kernel_width, chip_.word_bytes()});
    at_most("p*q*r*t", "bytes of a pass's weights", weights, "the weight buffer", chip_.weight_buffer_bytes);
  }

  const RowStationaryChip& chip_;
  const RowStationaryLayer& layer_;
  const RowStationaryMapping& mapping_;
  Diagnostics& diagnostics_;
};

}  // namespace

void RowStationaryLayer::verify(Diagnostics& diagnostics) const {
  const std::string where = "layer '" + name + "'";
  bool ok = true;
  const auto error = [&](const char* field, std::string message) {
    ok = false;
    diagnostics.error(ErrorKind::kInvalidInput, where, field, std::move(message));
  };
  constexpr int64_t kMostSize = 1 << 20;
  const auto size = [&](const char* field, int64_t value) {
    if (value < 1 || value > kMostSize) error(field, fmt::format("{} is not in 1..{}", value, kMostSize));
  };
  size("groups", groups);
  size("batch", batch);
  size("channels", channels);
  size("filters", filters);
  size("height", height);
  size("width", width);
  size("kernel_height", kernel_height);
  size("kernel_width", kernel_width);
  size("stride", stride);
  if (!ok) return;
  if (kernel_height > height)
    error("kernel_height", fmt::format("{} is more than the height", kernel_height));
  if (kernel_width > width) error("kernel_width", fmt::format("{} is more than the width", kernel_width));
  if (!ok) return;
  const double planes = double(groups) * double(channels) * double(batch);
  const double outputs =
      double(groups) * double(batch) * double(filters) * double(output_height()) * double(output_width());
  const double window = double(channels) * double(kernel_height) * double(kernel_width);
  const double words =
      std::max({planes * double(height) * double(width), outputs, double(groups) * double(filters) * window});
  if (words >= 0x1p32) error("", "a tensor has 2^32 words or more");
  if (outputs * window >= 0x1p40) error("", "has 2^40 multiply-accumulates or more");
}

int64_t pixel_rows(const RowStationaryLayer& layer, int64_t rows) {
  return layer.stride * (rows - 1) + layer.kernel_height;
}

int64_t pixel_buffer_bytes(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                           const RowStationaryMapping& mapping) {
  return product(
      {mapping.n, mapping.q, mapping.r, pixel_rows(layer, mapping.e), layer.width, chip.word_bytes()});
}

int64_t psum_buffer_bytes(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                          const RowStationaryMapping& mapping) {
  return product({mapping.n, mapping.m, mapping.e, layer.output_width(), chip.word_bytes()});
}

std::optional<std::vector<ChainPlacement>> place_chains(const RowStationaryChip& chip, int64_t kernel_height,
                                                        const RowStationaryMapping& mapping) {
  const int64_t width = std::min(mapping.e, chip.columns), height = kernel_height * mapping.r;
  const int64_t segments = ceil_div(mapping.e, chip.columns);
  const int64_t across = chip.columns / width, down = chip.rows / height;
  if (mapping.t * segments > across * down) return std::nullopt;
  std::vector<ChainPlacement> chains;
  for (int64_t filter_set = 0; filter_set < mapping.t; ++filter_set) {
    for (int64_t j = 0; j < mapping.e; ++j) {
      const int64_t stack = filter_set * segments + j / chip.columns;
      chains.push_back(
          {filter_set, j, stack % across * width + j % chip.columns, (stack / across + 1) * height - 1});
    }
  }
  return chains;
}

void verify_mapping(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                    const RowStationaryMapping& mapping, Diagnostics& diagnostics) {
  MappingRules(chip, layer, mapping, diagnostics).run();
}

}  // namespace tilewright
