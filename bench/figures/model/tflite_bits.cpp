// tflite_bits: every quantised TFLite network of the shared folder against the outputs that TFLite's runtime
// stored beside it, byte for byte: the host's integer engine and, compiled, the overlay's functional
// simulator.
//
// usage: tflite_bits
#include <cstdio>
#include <memory>

#include "support/outside_testing.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/tensor/npy.h"

namespace {

using namespace tilewright;

constexpr const char* kNetworks[] = {"tflite_mlperf_tiny/ad_autoencoder_int8",
                                     "tflite_mlperf_tiny/ic_resnet8_int8",
                                     "tflite_mlperf_tiny/kws_dscnn_int8",
                                     "tflite_mlperf_tiny/vww_mobilenet_int8",
                                     "tflite_micro_examples/hello_world_int8",
                                     "tflite_micro_examples/micro_speech_int8",
                                     "tflite_micro_examples/person_detect_int8_fixed",
                                     "tflite_mobilenet/mobilenet_v1_0.25_128_uint8",
                                     "tflite_mobilenet/mobilenet_v2_1.0_224_uint8"};

int64_t differing(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return b.size();
  int64_t count = 0;
  for (size_t i = 0; i < a.bytes().size(); ++i) count += a.bytes()[i] != b.bytes()[i];
  return count;
}

int64_t differing_on_overlay(const Graph& integer, const Tensor& input, const Tensor& stored) {
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  const Bundle bundle = parse_bundle(format_bundle(compile(integer, hardware).bundle));
  return differing(Session(std::make_shared<const Engine>(bundle, Execution::kAsPlaced)).run({input})[0],
                   stored);
}

}  // namespace

int main() {
  int networks = 0;
  int64_t outputs = 0, host = 0, overlay = 0;
  for (const char* network : kNetworks) {
    const std::filesystem::path base = outside_models() / network;
    const Tensor input = read_npy(base.string() + ".ref.in0.npy");
    const Tensor stored = read_npy(base.string() + ".ref.out0.npy");
    const Graph model = load_model(base.string() + ".tflite");
    const Graph integer = host_form(model);
    const int64_t on_host = differing(Executor(integer).run({input})[0], stored);
    const int64_t on_overlay = differing_on_overlay(integer, input, stored);
    ++networks;
    outputs += stored.size();
    host += on_host;
    overlay += on_overlay;
    std::printf("%-50s %5lld outputs, %lld differ on the host, %lld on the overlay\n", network,
                static_cast<long long>(stored.size()), static_cast<long long>(on_host),
                static_cast<long long>(on_overlay));
  }
  std::printf(
      "{\"figure\": \"tflite_bits\", \"networks\": %d, \"outputs\": %lld, \"differing_bytes\": %lld}\n",
      networks, static_cast<long long>(outputs), static_cast<long long>(host + overlay));
}
