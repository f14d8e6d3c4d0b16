// One map over all families, from domain and operator to the entry, built on first use. Two kernels for one
// operator, or an entry without exactly one of kernel and bind, are internal errors.
#include "tilewright/host/kernel_table.h"

#include <map>
#include <utility>

namespace tilewright {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

std::map<Key, const KernelEntry*> build_table() {
  const std::span<const KernelEntry> families[] = {
      binary_kernels(),       cast_kernels(),        constant_kernels(),  convolution_kernels(),
      fixed_point_kernels(),  image_kernels(),       indexing_kernels(),  integer_kernels(),
      integer_onnx_kernels(), integer_row_kernels(), matrix_kernels(),    normalization_kernels(),
      pooling_kernels(),      quantize_kernels(),    rearrange_kernels(), reduction_kernels(),
      resize_kernels(),       shape_kernels(),       sampling_kernels(),  scatter_kernels(),
      unary_kernels(),        rotary_kernels(),
  };
  std::map<Key, const KernelEntry*> table;
  for (const std::span<const KernelEntry> family : families) {
    for (const KernelEntry& entry : family) {
      const bool inserted = table.emplace(Key{entry.domain, entry.op}, &entry).second;
      TILEWRIGHT_CHECK(inserted, std::string("two host kernels for ") + entry.op);
      TILEWRIGHT_CHECK((entry.kernel == nullptr) != (entry.bind == nullptr),
                       std::string("host kernel neither plain nor bound: ") + entry.op);
    }
  }
  return table;
}

}  // namespace

const KernelEntry* find_kernel(std::string_view domain, std::string_view op) {
  static const std::map<Key, const KernelEntry*> table = build_table();
  const auto found = table.find({domain, op});
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tilewright
