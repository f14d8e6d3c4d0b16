// decoder: the language model of models/byte-lm, in 8 bits by the quantiser's defaults of the command, as a
// program for one token at any position (compile --decode) on overlay-16x16 with a 128-bit memory port of 32
// cycles latency.
//
// Greedy decoding fills all 256 positions of the caches on the host, the functional and the cycle simulator:
// the logits of every step, the caches at the end and, row by row, the logits of the quantised window of the
// same text have to be those of the host, bit for bit. The first 32 steps also run on the Verilated RTL, with
// as many cycles. One program serves all positions: apart from its run fields, its instructions must not
// change. `share_of_bound` is the time that the memory port needs for all weights and for the caches of the
// tokens that a token looks at, as a share of the cycles; `share_of_port` leaves out the weights that stay in
// the scratchpad from token to token, which the port does not carry. Bits per byte are those of held-out
// chapters, from float, 8 bits, and weights of 4 bits in groups of 32.
//
// usage: decoder [--quick]     --quick: no RTL, every window of the first tenth
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "model/own_networks/language_network.h"
#include "tilewright/flow/run/decode.h"
#include "tilewright/flow/time/network_timing.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/token_step.h"

namespace {

using namespace tilewright;

constexpr int kThreads = 2;
constexpr int64_t kRtlSteps = 32;
constexpr char kFirstByte = 'I';

Graph integers_of(int weight_bits, int64_t weight_group) {
  QuantizeOptions options;
  options.calibration.reset();  // as the command has it
  options.threads = kThreads;
  options.weight_bits = weight_bits;
  options.weight_group = weight_group;
  return integerize(quantized_language_network(options));
}

Bundle token_bundle(const Graph& window) {
  OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  hardware.memory_width_bits = 128;
  Bundle bundle = compile(form_token_step(window), hardware).bundle;
  bundle.states = find_states(bundle.graph, {});
  return bundle;
}

// What an engine made of a text: by step.
struct Steps {
  std::vector<std::vector<float>> logits;
  std::vector<uint64_t> cycles;
  std::vector<Tensor> caches;  // after the last one
};

Steps run_steps(Decoder decoder, std::span<const int64_t> text) {
  Steps steps;
  for (const int64_t token : text) {
    const uint64_t before = decoder.session().cycles().cycles;
    steps.logits.push_back(decoder.step(token));
    steps.cycles.push_back(decoder.session().cycles().cycles - before);
  }
  steps.caches = decoder.caches();
  return steps;
}

// As long as the caches are.
std::vector<int64_t> greedy_text(Decoder decoder) {
  std::vector<int64_t> text = {kFirstByte};
  Random unused(1);
  while (decoder.position() + 1 < decoder.capacity())
    text.push_back(choose_token(decoder.step(text.back()), 0, 0, unused));
  return text;
}

bool same_row(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// Steps and caches that differ; `found` may end earlier.
int64_t differences(const Steps& found, const Steps& expected) {
  int64_t count = 0;
  for (size_t i = 0; i < found.logits.size(); ++i) count += !same_row(found.logits[i], expected.logits[i]);
  if (found.logits.size() < expected.logits.size()) return count;
  for (size_t i = 0; i < found.caches.size(); ++i) count += !found.caches[i].identical(expected.caches[i]);
  return count;
}

// Rows of the window's logits that differ from those of the steps.
int64_t window_differences(const Graph& window, std::span<const int64_t> text, const Steps& steps) {
  const Tensor all = Executor(window).run({Tensor({1, std::ssize(text)}, text)})[0];
  int64_t count = 0;
  for (size_t i = 0; i < text.size(); ++i)
    count += !same_row(all.data<float>().subspan(i * byte_lm::kBytes, byte_lm::kBytes), steps.logits[i]);
  return count;
}

// The instructions without what a run's position sets.
std::vector<uint64_t> fixed_words(const overlay::OverlayProgram& program) {
  const std::span<const std::byte> bytes = program.instruction_bytes();
  std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const size_t of_instruction = size_t(program.hardware.instruction_bytes()) / sizeof(uint64_t);
  for (const overlay::RunField& field : program.run_fields)
    words[field.instruction * of_instruction + field.field.word] &=
        ~(field.field.mask() << field.field.shift);
  return words;
}

// Positions whose instructions are others. Everything else in memory is data of the run.
int64_t other_programs(overlay::OverlayProgram program) {
  const std::vector<uint64_t> first = fixed_words(program);
  int64_t count = 0;
  for (int64_t position = 0; position < program.positions; ++position) {
    overlay::set_position(program, position);
    count += fixed_words(program) != first;
  }
  return count;
}

// What fills the scratchpads, once before the first token.
int64_t setup_cycles(overlay::OverlayProgram program, const overlay::ProgramEngineOptions& options) {
  if (program.setup_count == 0) return 0;
  const auto engine = overlay::make_program_engine(program.hardware, options);
  return int64_t(engine->run(program.memory, program.setup_address, program.setup_count).cycles.cycles);
}

struct Traffic {
  // Bytes: the weights of products; those of any layer that are kept in the scratchpad, and that cross the
  // port for every token (sums and norms have a block that is no weight of the network); a token's rows of
  // all caches.
  int64_t weights = 0, kept_weights = 0, crossing_weights = 0, cache_row = 0;

  // That a port needs at least for the first `tokens` tokens.
  double cycles(int64_t tokens, int64_t weight_bytes, int64_t port_bytes) const {
    const int64_t rows = tokens * (tokens + 1) / 2;
    return double(tokens * weight_bytes + rows * cache_row) / double(port_bytes);
  }
};

struct Measured {
  int64_t tokens = 0, mismatches = 0, programs = 0, run_fields = 0, setup_cycles = 0;
  int64_t rtl_steps = 0, rtl_mismatches = 0, rtl_cycle_differences = 0;
  Traffic traffic;
  uint64_t cycles = 0;
  double share_of_bound = 0, share_of_port = 0, tokens_per_s = 0;
};

void run_rtl(const Bundle& bundle, const std::shared_ptr<const Engine>& engine,
             overlay::ProgramEngineOptions options, std::span<const int64_t> text, const Steps& reference,
             const Steps& cycle, Measured& result) {
  options.kind = overlay::ProgramEngineKind::kRtl;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  options.cache_folder = std::filesystem::temp_directory_path() / "tilewright_decoder_rtl";
  const Steps rtl = run_steps(Decoder(bundle, engine, options), text.first(size_t(kRtlSteps)));
  result.rtl_steps = std::ssize(rtl.logits);
  result.rtl_mismatches = differences(rtl, reference);
  for (size_t i = 0; i < rtl.cycles.size(); ++i)
    result.rtl_cycle_differences += rtl.cycles[i] != cycle.cycles[i];
}

Measured decode_on_all(const Graph& window, bool with_rtl) {
  const Bundle bundle = token_bundle(window);
  const auto engine = std::make_shared<const Engine>(bundle, Execution::kAsPlaced);
  const auto host = std::make_shared<const Engine>(bundle, Execution::kOnHost);
  const std::vector<int64_t> text = greedy_text(Decoder(bundle, host));
  overlay::ProgramEngineOptions options;
  options.memory = find_memory_model("fixed:32");
  const Steps reference = run_steps(Decoder(bundle, host), text),
              functional = run_steps(Decoder(bundle, engine, options), text);
  options.kind = overlay::ProgramEngineKind::kCycle;
  const Steps cycle = run_steps(Decoder(bundle, engine, options), text);
  for (const int64_t token : text) fmt::print("{}", char(token));
  fmt::print("\n");

  Measured result;
  result.tokens = std::ssize(text);
  result.mismatches = differences(functional, reference) + differences(cycle, reference) +
                      window_differences(window, text, reference);
  if (with_rtl) run_rtl(bundle, engine, options, text, reference, cycle, result);
  for (const Engine::PreparedStep& step : engine->steps()) {
    if (!step.program) continue;
    result.programs += 1 + other_programs(*step.program);
    result.run_fields += std::ssize(step.program->run_fields);
    result.setup_cycles += setup_cycles(*step.program, options);
    result.traffic.kept_weights += step.program->kept_weight_bytes;
    for (const overlay::LayerReport& layer : step.program->layers) {
      result.traffic.crossing_weights += layer.weight_bytes;
      if (layer.macs > 0) result.traffic.weights += layer.weight_bytes;
    }
    result.traffic.crossing_weights -= step.program->kept_weight_bytes;
    for (const overlay::ProgramState& state : step.program->states)
      result.traffic.cache_row += state.tensor.shape[1];
  }
  for (const uint64_t cycles : cycle.cycles) result.cycles += cycles;
  const Traffic& traffic = result.traffic;
  const int64_t port = bundle.hardware.memory_width_bits / 8;
  result.share_of_bound = traffic.cycles(result.tokens, traffic.weights, port) / double(result.cycles);
  result.share_of_port =
      traffic.cycles(result.tokens, traffic.crossing_weights, port) / double(result.cycles);
  result.tokens_per_s = bundle.hardware.clock_mhz * 1e6 * double(result.tokens) / double(result.cycles);
  return result;
}

int measure(bool quick) {
  const std::vector<uint8_t> held_out = held_out_text();
  const int64_t windows = byte_lm::windows_in(held_out) / (quick ? 10 : 1);
  const auto bits = [&](const char* name, const Graph& graph) {
    const double result = bits_per_byte(graph, held_out, windows, kThreads);
    fmt::print("{}: {:.4f} bits per byte\n", name, result);
    std::fflush(stdout);
    return result;
  };
  const Graph w8 = integers_of(8, 0);
  const Measured m = decode_on_all(w8, !quick);
  const double in_float = bits("float", language_network()), in_w8 = bits("8 bits", w8),
               in_w4 = bits("4-bit weights in groups of 32", integers_of(4, 32));
  fmt::print(
      "{{\"figure\": \"decoder\", \"tokens\": {}, \"mismatches\": {}, \"windows\": {}, "
      "\"bits_per_byte_float\": {:.4f}, \"bits_per_byte_w8\": {:.4f}, \"bits_per_byte_w4\": {:.4f}, "
      "\"programs\": {}, \"run_fields\": {}, \"share_of_bound\": {:.4f}, \"share_of_port\": {:.4f}, "
      "\"cycles_per_token\": {:.0f}, \"setup_cycles\": {}, \"tokens_per_s\": {:.1f}, "
      "\"kept_weight_bytes\": {}, \"weight_bytes\": {}, \"rtl_steps\": {}, \"rtl_mismatches\": {}, "
      "\"rtl_cycle_differences\": {}}}\n",
      m.tokens, m.mismatches, windows, in_float, in_w8, in_w4, m.programs, m.run_fields, m.share_of_bound,
      m.share_of_port, double(m.cycles) / double(m.tokens), m.setup_cycles, m.tokens_per_s,
      m.traffic.kept_weights, m.traffic.weights, m.rtl_steps, m.rtl_mismatches, m.rtl_cycle_differences);
  return m.mismatches + m.rtl_mismatches + m.rtl_cycle_differences == 0 && m.programs == 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decoder: %s\n", error.what());
    return 1;
  }
}
