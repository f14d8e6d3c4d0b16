// kwt: KWT-1, a keyword transformer of 12 blocks as its authors published it (TFLite, float, raw audio in),
// from float outputs to the overlay's RTL.
//
// The speech features, and the dense layer that reads them, stay in float on the host: silence is 13 steps of
// the 16-bit audio, so that spectra need 22 bits. The 12 blocks and the classifier are quantised on 48 clips
// drawn by the rule of the model's folder with a seed of its own, compiled for overlay-16x16 and run on the
// 250 clips of yes, no and silence of that rule. Yes, no and silence as recorded are also run on the cycle
// simulator, yes on the Verilated RTL; every output is compared with the host's.
//
// usage: kwt [--no-rtl]     TILEWRIGHT_OUTSIDE names the folder of real models.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "support/outside_testing.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/model/quantize_model.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/flow/time/network_timing.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"

namespace {

using namespace tilewright;

constexpr int64_t kSamples = 16000;

std::filesystem::path folder() { return outside_models() / "tflite_kwt1"; }

// A recording's 16-bit samples.
std::vector<double> recording(const char* name) {
  const Tensor stored = read_npy((folder() / (std::string(name) + ".ref.in0.npy")).string());
  std::vector<double> samples;
  for (int64_t i = 0; i < kSamples; ++i) samples.push_back(std::round(stored.number_at(i) * 32768));
  return samples;
}

double energy(const std::vector<double>& samples) {
  double sum = 0;
  for (const double s : samples) sum += s * s;
  return sum;
}

// The rule of augment.py: recordings moved, scaled and mixed with noise. Without those of the noise itself,
// which belong to no class.
struct Clip {
  int expected;  // class; -1: of the noise
  Tensor audio{ElementType::kF32, Shape{1, kSamples}};
};

class ClipRule {
 public:
  explicit ClipRule(uint64_t seed) : state_(seed) {}

  std::vector<Clip> draw(int count) {
    const std::vector<double> recordings[] = {recording("yes"), recording("no"), recording("noise"),
                                              recording("silence")};
    const std::vector<double>& noise = recordings[2];
    std::vector<Clip> clips;
    for (int i = 0; i < count; ++i) {
      const int kind = i % 3 < 2 ? i % 3 : i / 3 % 2 == 0 ? 2 : 3;
      const double u1 = next(), u2 = next(), u3 = next(), u4 = next();
      const auto shift = int64_t(std::floor(3201 * u1)) - 1600, offset = int64_t(std::floor(16000 * u4));
      std::vector<double> moved(size_t(kSamples), 0.0);
      for (int64_t t = 0; t < kSamples; ++t) {
        if (t - shift >= 0 && t - shift < kSamples) moved[size_t(t)] = recordings[kind][size_t(t - shift)];
      }
      const double gain = 0.5 + u2;
      const double mix = gain * std::sqrt(energy(moved) / energy(noise)) * std::pow(10, -(5 + 15 * u3) / 20);
      constexpr int kClasses[] = {2, 3, -1, 0};
      Clip& clip = clips.emplace_back(Clip{kClasses[kind]});
      for (int64_t t = 0; t < kSamples; ++t) {
        const double value = gain * moved[size_t(t)] + mix * noise[size_t((t + offset) % kSamples)];
        clip.audio.set_number(t, std::clamp(std::floor(value + 0.5), -32768.0, 32767.0) / 32768);
      }
    }
    return clips;
  }

 private:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return double(state_ >> 40) / double(1 << 24);
  }
  uint64_t state_;
};

int64_t largest(const Tensor& scores) {
  int64_t best = 0;
  for (int64_t i = 1; i < scores.size(); ++i) {
    if (scores.number_at(i) > scores.number_at(best)) best = i;
  }
  return best;
}

int64_t differing_bytes(const Tensor& a, const Tensor& b) {
  int64_t count = 0;
  for (size_t i = 0; i < a.bytes().size(); ++i) count += a.bytes()[i] != b.bytes()[i];
  return count;
}

// Of the float model on the recordings, to the outputs of TFLite's runtime.
double float_error(const Graph& model) {
  double worst = 0;
  for (const char* name : {"yes", "no", "noise", "silence"}) {
    const std::string base = (folder() / name).string();
    const Tensor scores = Executor(model).run({read_npy(base + ".ref.in0.npy")})[0];
    const Tensor stored = read_npy(base + ".ref.out0.npy");
    for (int64_t i = 0; i < scores.size(); ++i)
      worst = std::max(worst, std::abs(scores.number_at(i) - stored.number_at(i)));
  }
  return worst;
}

Graph quantized_model() {
  const std::vector<Clip> clips = ClipRule(777).draw(48);
  Tensor samples(ElementType::kF32, Shape{int64_t(clips.size()), kSamples});
  for (size_t c = 0; c < clips.size(); ++c)
    std::memcpy(samples.mutable_bytes().data() + c * clips[c].audio.bytes().size(),
                clips[c].audio.bytes().data(), clips[c].audio.bytes().size());
  QuantizeRequest request;
  request.model.path = folder() / "kwt1.tflite";
  request.calibration.sources = {{.input = "", .path = {}, .array = samples}};
  request.keep_float = {"speech_features/*", "kws_transformer/dense/*"};
  return quantize_model(request).graph;
}

// Of the operators behind the features.
struct Placed {
  int64_t macs = 0, overlay_macs = 0, all_macs = 0;
  int host_nodes = 0, host_rows = 0;  // rows: products, softmaxes, norms and tables
};

Placed placed(const Bundle& bundle) {
  Placed result;
  for (size_t n = 0; n < bundle.graph.nodes.size(); ++n) {
    const Node& node = bundle.graph.nodes[n];
    const int64_t macs = multiply_accumulates(bundle.graph, node);
    result.all_macs += macs;
    if (node.name.starts_with("speech_features/")) continue;
    result.macs += macs;
    if (!bundle.nodes[n].on_host()) {
      result.overlay_macs += macs;
      continue;
    }
    ++result.host_nodes;
    for (const char* op : {"QMatMul", "QSoftmax", "QLayerNorm", "QLookup"})
      result.host_rows += node.is_tilewright(op);
    std::printf("on the host: %-20s %s: %s\n", node.op.c_str(), node.name.c_str(),
                bundle.nodes[n].reason.c_str());
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_rtl = !(argc > 1 && std::strcmp(argv[1], "--no-rtl") == 0);
  const double error = float_error(load_model(folder() / "kwt1.tflite"));
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  const Bundle bundle = compile(integerize(quantized_model()), hardware).bundle;
  const Placed nodes = placed(bundle);
  const NetworkTiming timing = time_network(bundle, find_memory_model("fixed:32"));
  std::printf("%s", to_string(timing).c_str());

  const auto engine = std::make_shared<const Engine>(bundle, Execution::kAsPlaced);
  Session reference(std::make_shared<const Engine>(bundle, Execution::kOnHost)), functional(engine);
  overlay::ProgramEngineOptions options;
  options.memory = find_memory_model("fixed:32");
  options.kind = overlay::ProgramEngineKind::kCycle;
  Session cycle(engine, options);
  int64_t mismatches = 0, rtl_cycles = 0;
  bool top = true;
  for (const char* name : {"yes", "no", "silence"}) {
    const std::string base = (folder() / name).string();
    const Tensor audio = read_npy(base + ".ref.in0.npy");
    const Tensor expected = reference.run({audio})[0];
    mismatches += differing_bytes(cycle.run({audio})[0], expected);
    top = top && largest(expected) == largest(read_npy(base + ".ref.out0.npy"));
    if (!with_rtl || std::strcmp(name, "yes") != 0) continue;
    options.kind = overlay::ProgramEngineKind::kRtl;
    options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
    options.cache_folder = std::filesystem::temp_directory_path() / "tilewright_kwt_rtl";
    Session rtl(engine, options);
    mismatches += differing_bytes(rtl.run({audio})[0], expected);
    rtl_cycles = int64_t(rtl.cycles().cycles);
    mismatches += rtl.cycles().cycles != cycle.cycles().cycles;
  }
  int clips = 0, agreement = 0;
  for (const Clip& clip : ClipRule(20210400).draw(300)) {
    if (clip.expected < 0) continue;
    const Tensor scores = functional.run({clip.audio})[0];
    mismatches += differing_bytes(scores, reference.run({clip.audio})[0]);
    ++clips;
    agreement += largest(scores) == clip.expected;
  }
  std::printf(
      "{\"figure\": \"kwt\", \"float_error\": %.1e, \"mac_share\": %.4f, \"mac_share_with_features\": %.4f, "
      "\"nodes_on_host\": %d, \"rows_on_host\": %d, \"cycles\": %llu, \"peak_share\": %.4f, \"rtl_cycles\": "
      "%lld, "
      "\"mismatches\": %lld, \"recordings_right\": %s, \"clips\": %d, \"agreement\": %d}\n",
      error, double(nodes.overlay_macs) / double(nodes.macs),
      double(nodes.overlay_macs) / double(nodes.all_macs), nodes.host_nodes, nodes.host_rows,
      (unsigned long long)timing.cycles(), timing.share_of_peak(), (long long)rtl_cycles,
      (long long)mismatches, top ? "true" : "false", clips, agreement);
  return mismatches == 0 ? 0 : 1;
}
