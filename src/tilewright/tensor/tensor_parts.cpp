// Whole bytes are copied at once; a run that begins within a byte, or whose type is packed, goes one by one.
#include "tilewright/tensor/tensor_parts.h"

#include <cstring>

namespace tilewright {

void set_elements(Tensor& all, int64_t first, const Tensor& part) {
  TILEWRIGHT_CHECK(all.type() == part.type(), "elements of another type");
  TILEWRIGHT_CHECK(first >= 0 && part.size() <= all.size() - first, "elements beyond the tensor's end");
  const int bits = bit_width(all.type());
  if (bits < 8) {
    for (int64_t i = 0; i < part.size(); ++i) all.set_integer(first + i, part.integer_at(i));
  } else if (part.size() > 0) {
    std::memcpy(all.mutable_bytes().data() + size_t(first) * size_t(bits / 8), part.bytes().data(),
                part.size_bytes());
  }
}

Tensor elements_from(const Tensor& all, int64_t first, const Shape& shape) {
  Tensor part(all.type(), shape);
  TILEWRIGHT_CHECK(first >= 0 && part.size() <= all.size() - first, "elements beyond the tensor's end");
  const int bits = bit_width(all.type());
  if (bits < 8) {
    for (int64_t i = 0; i < part.size(); ++i) part.set_integer(i, all.integer_at(first + i));
  } else if (part.size() > 0) {
    std::memcpy(part.mutable_bytes().data(), all.bytes().data() + size_t(first) * size_t(bits / 8),
                part.size_bytes());
  }
  return part;
}

}  // namespace tilewright
