// RotaryEmbedding: the two halves of each row as the coordinates of points, turned by the angles of its
// token. Formula: ONNX operator reference, opset 23.
#include <fmt/format.h>

#include "tilewright/base/parallel.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

constexpr int64_t kTurnedPerThread = 1 << 13;

std::vector<Tensor> rotary_embedding(const Node&, KernelInputs inputs, const HostOptions& options) {
  const Tensor &x = required_input(inputs, 0), &cosines = required_input(inputs, 1),
               &sines = required_input(inputs, 2);
  const Shape &shape = x.shape(), &table = cosines.shape();
  const int rank = shape.rank();
  if (rank < 2 || table.rank() != 2 || sines.shape() != table || table[0] != shape[rank - 2] ||
      2 * table[1] != shape[rank - 1] || cosines.type() != x.type() || sines.type() != x.type()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("cosines {} and sines {} do not fit data {}", to_string(cosines.type(), table),
                            to_string(sines.type(), sines.shape()), to_string(x.type(), shape)));
  }
  Tensor y(x.type(), shape);
  if (x.size() == 0) return {y};
  const int64_t tokens = table[0], half = table[1];
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T *from = storage<T>(x), *c = storage<T>(cosines), *s = storage<T>(sines);
    T* to = mutable_storage<T>(y);
    parallel_for(x.size() < kTurnedPerThread ? 1 : options.threads, x.size() / (2 * half),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) {
                     const T *first = from + row * 2 * half, *second = first + half;
                     const int64_t angle = row % tokens * half;
                     for (int64_t i = 0; i < half; ++i) {
                       const T cosine = c[angle + i], sine = s[angle + i];
                       to[row * 2 * half + i] = first[i] * cosine - second[i] * sine;
                       to[row * 2 * half + half + i] = first[i] * sine + second[i] * cosine;
                     }
                   }
                 });
  });
  return {y};
}

constexpr KernelEntry kRotaryKernels[] = {{"", "RotaryEmbedding", rotary_embedding}};

}  // namespace

std::span<const KernelEntry> rotary_kernels() { return kRotaryKernels; }

}  // namespace tilewright
