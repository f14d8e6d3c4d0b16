// A Graph as an ONNX file: opset 17 of the standard domain (IR version 8) and version 1 of "tilewright", or
// of QONNX's domain (opset/qonnx_form.h). Reading it back gives the same graph (values may be in another
// order).
//
// Element types that ONNX lacks (i2, u2, i1, u1, bipolar) are stored widened to 8 bits; the doc_string of the
// tensor or value holds the true type, as "tilewright.element_type=i2". Files with i4, u4, quantisers to 16
// bits or scales in half precision are of opset 21 (IR version 10), the first that has them; read back, the
// axes of reductions are left in such a graph as unused constants. RMSNormalization and RotaryEmbedding, of
// opset 23, are written as the primitive operators they stand for (opset/spelled_out.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// Protobuf messages end at 2 GiB; everything but weights needs little space.
inline constexpr int64_t kMaxInlineWeightBytes = (int64_t{1} << 31) - (int64_t{1} << 26);

// Errors (unsupported): more weights than kMaxInlineWeightBytes, a quantiser to integers that ONNX cannot
// quantise to.
std::vector<std::byte> format_onnx(const Graph& graph);

// Models with more than `max_inline_bytes` of weights keep them in "FILE.data" beside `path`. Errors (invalid
// input): the files cannot be written; (unsupported): as above, but for the weights.
void write_onnx(const std::filesystem::path& path, const Graph& graph,
                int64_t max_inline_bytes = kMaxInlineWeightBytes);

}  // namespace tilewright
