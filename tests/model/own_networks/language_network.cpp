#include "model/own_networks/language_network.h"

#include <algorithm>
#include <numeric>

#include "tilewright/base/file.h"
#include "tilewright/base/parallel.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

const std::filesystem::path kLanguageFolder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models/byte-lm";

std::vector<uint8_t> bytes_of(const char* file) {
  const std::vector<std::byte> bytes = read_file(kLanguageFolder / file);
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

}  // namespace

std::filesystem::path language_file() { return kLanguageFolder / "byte_lm.onnx"; }

Graph language_network() { return optimize(read_onnx(language_file())); }

Graph quantized_language_network(const QuantizeOptions& options, int64_t windows) {
  const std::vector<uint8_t> text = bytes_of("calibration.txt");
  const int64_t all = byte_lm::windows_in(text);
  Tensor samples(ElementType::kI64, {windows, byte_lm::kContext});
  for (int64_t i = 0; i < windows; ++i) {
    const Tensor window = byte_lm::window(text, i * all / windows);
    std::ranges::copy(window.data<int64_t>(),
                      samples.mutable_data<int64_t>().begin() + i * byte_lm::kContext);
  }
  return quantize(language_network(), {samples}, options);
}

std::vector<uint8_t> held_out_text() { return bytes_of("held_out.txt"); }

double bits_per_byte(const Graph& graph, std::span<const uint8_t> text, int64_t windows, int threads) {
  const Executor executor(graph);
  std::vector<double> bits(static_cast<size_t>(windows));
  parallel_for(threads, windows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Tensor logits = executor.run({byte_lm::window(text, i)})[0];
      bits[size_t(i)] = byte_lm::bits(logits.data<float>(), byte_lm::following(text, i));
    }
  });
  return std::accumulate(bits.begin(), bits.end(), 0.0) / double(windows * byte_lm::kContext);
}

}  // namespace tilewright
