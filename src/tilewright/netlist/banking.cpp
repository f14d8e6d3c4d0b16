// Along one dimension, let the stride be an odd number times 2^k. Indices that differ by multiples of the
// stride agree in their low k bits, so shifting those out keeps their distances: odd multiples of the lane's
// number. An odd number is invertible modulo a power of two, so lanes below 2^b lie in different residues:
// bits [k, k + b) of the index tell them apart, wherever they start. Dimensions are independent.
#include "tilewright/netlist/banking.h"

#include <fmt/format.h>

#include <bit>

#include "tilewright/base/error.h"

namespace tilewright::netlist {

int64_t Banking::banks() const {
  int bits = 0;
  for (const Dimension& dimension : dimensions_) bits += dimension.bits;
  return int64_t{1} << bits;
}

int64_t Banking::words_per_bank() const {
  int64_t words = 1;
  for (const Dimension& dimension : dimensions_) words *= dimension.words;
  return words;
}

int64_t Banking::bank(std::span<const int64_t> index) const {
  int64_t result = 0;
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    const int64_t mask = (int64_t{1} << dimensions_[d].bits) - 1;
    result = result << dimensions_[d].bits | (index[d] >> dimensions_[d].low & mask);
  }
  return result;
}

int64_t Banking::word(std::span<const int64_t> index) const {
  int64_t result = 0;
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& own = dimensions_[d];
    const int64_t low = index[d] & ((int64_t{1} << own.low) - 1);
    result = result * own.words + (index[d] >> (own.low + own.bits) << own.low | low);
  }
  return result;
}

Banking choose_banks(std::span<const AccessDimension> dimensions) {
  std::vector<Banking::Dimension> chosen;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const AccessDimension& own = dimensions[d];
    if (own.extent < 1 || own.lanes < 1 || own.stride < 1 || (own.lanes - 1) * own.stride >= own.extent) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("dimension {}: {} lanes at a stride of {} in an extent of {}", d, own.lanes,
                              own.stride, own.extent),
                  "all are at least 1, and all lanes lie inside");
    }
    Banking::Dimension dimension;
    dimension.bits = own.lanes == 1 ? 0 : int(std::bit_width(uint64_t(own.lanes - 1)));
    dimension.low = own.lanes == 1 ? 0 : std::countr_zero(uint64_t(own.stride));
    // Whole periods of the bits, and of the last one as many as its low bits reach.
    const int64_t last = own.extent - 1, low_mask = (int64_t{1} << dimension.low) - 1;
    const int64_t periods = last >> (dimension.low + dimension.bits);
    const bool in_first_bank = (last >> dimension.low & ((int64_t{1} << dimension.bits) - 1)) == 0;
    dimension.words = (periods << dimension.low) + (in_first_bank ? (last & low_mask) : low_mask) + 1;
    chosen.push_back(dimension);
  }
  return Banking(std::move(chosen));
}

}  // namespace tilewright::netlist
