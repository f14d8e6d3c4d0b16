#include "equality.h"

#include <fmt/format.h>

#include <algorithm>

#include "random_layer.h"
#include "support/overlay/random_stream_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/overlay/rtl/registers.h"

namespace tilewright::overlay {
namespace {

constexpr int kStreamLength = 40;

std::string describe(const AxiTransaction& t) {
  constexpr const char* kClients[] = {"fetch", "compute", "load", "store"};
  return fmt::format("{} of {} beats at {:#x} in cycle {}", kClients[size_t(t.client)], t.beats, t.address,
                     t.cycle);
}

std::string compare_transactions(const std::vector<AxiTransaction>& a, const std::vector<AxiTransaction>& b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() && y == b.end()) return "";
  return fmt::format("transaction {} of {} is {}, in RTL {}; ", x - a.begin(), a.size(),
                     x == a.end() ? "none" : describe(*x), y == b.end() ? "none" : describe(*y));
}

std::string compare_counters(const CycleCounters& a, const CycleCounters& b) {
  std::string text;
  size_t index = 0;
  const size_t first =
      size_t(std::find_if(std::begin(kRegisters), std::end(kRegisters),
                          [](const DeviceRegister& r) { return r.offset == register_offset("CYCLES"); }) -
             std::begin(kRegisters));
  for (const auto counter : kCounterRegisters) {
    if (index > 0 && a.*counter != b.*counter) {
      text += fmt::format("{} {}, in RTL {}; ", kRegisters[first + index].name, a.*counter, b.*counter);
    }
    ++index;
  }
  return text;
}

}  // namespace

void EqualitySummary::add(const EqualitySummary& other) {
  programs += other.programs;
  runs += other.runs;
  byte_mismatches += other.byte_mismatches;
  cycle_mismatches += other.cycle_mismatches;
  counter_mismatches += other.counter_mismatches;
  transaction_mismatches += other.transaction_mismatches;
  cycles += other.cycles;
  transactions += other.transactions;
  first_problems += other.first_problems;
}

std::vector<MemoryModel> equality_memories() {
  return {find_memory_model("ideal"), find_memory_model("fixed:20:2"), find_memory_model("ddr")};
}

RtlOptions equality_options(const std::string& cache_folder) {
  RtlOptions options;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  options.cache_folder = cache_folder;
  return options;
}

EqualityBench::EqualityBench(const OverlayHardware& hardware, const RtlOptions& options)
    : hardware_(hardware), rtl_(hardware, MemoryModel{}, options) {}

std::string EqualityBench::compare_one(const EqualityProgram& program, const MemoryModel& memory,
                                       EqualitySummary& summary) {
  std::vector<std::byte> expected = program.memory, actual = program.memory;
  CycleSimulator simulator(hardware_, memory);
  CycleOptions options;
  options.record_transactions = true;
  const TimedRun a = simulator.run(expected, program.address, program.count, options);
  rtl_.model().restart(memory);
  rtl_.model().limit_wait(2 * a.cycles.cycles + 10000);
  AxiMemoryOptions rtl_options;
  rtl_options.record_transactions = true;
  const TimedRun b = rtl_.run(actual, program.address, program.count, rtl_options);
  summary.cycles += b.cycles.cycles;
  summary.transactions += b.transactions.size();

  std::string text;
  if (expected != actual) {
    ++summary.byte_mismatches;
    const auto at = std::mismatch(expected.begin(), expected.end(), actual.begin()).first - expected.begin();
    text += fmt::format("bytes differ from {:#x} on; ", at);
  }
  if (a.cycles.cycles != b.cycles.cycles) {
    ++summary.cycle_mismatches;
    text += fmt::format("{} cycles, in RTL {}; ", a.cycles.cycles, b.cycles.cycles);
  }
  const std::string counters = compare_counters(a.cycles, b.cycles);
  summary.counter_mismatches += !counters.empty();
  const std::string transactions = compare_transactions(a.transactions, b.transactions);
  summary.transaction_mismatches += !transactions.empty();
  return text + transactions + counters;
}

void EqualityBench::compare(const EqualityProgram& program, const std::vector<MemoryModel>& memories,
                            EqualitySummary& summary) {
  constexpr size_t kMostText = 4000;
  ++summary.programs;
  for (const MemoryModel& memory : memories) {
    ++summary.runs;
    std::string text;
    try {
      text = compare_one(program, memory, summary);
    } catch (const Error& error) {
      ++summary.byte_mismatches;
      text = error.what();
    }
    if (text.empty() || summary.first_problems.size() > kMostText) continue;
    constexpr const char* kKinds[] = {"ideal", "fixed", "ddr"};
    summary.first_problems +=
        fmt::format("{}, {}, {}: {}\n", hardware_.name, program.name, kKinds[size_t(memory.kind)], text);
  }
}

EqualityProgram stream_program(const OverlayHardware& hardware, uint64_t seed) {
  Random random(seed);
  RandomProgram stream = random_stream(hardware, random, kStreamLength);
  return {fmt::format("stream {}", seed), std::move(stream.dram), stream.address, stream.count};
}

EqualityProgram layer_program(const OverlayHardware& hardware, uint64_t seed, bool of_tokens) {
  using random_layers::Kind;
  constexpr uint64_t kAttempts = 100;
  for (uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    constexpr Kind kOfTokens[] = {Kind::kMatrices, Kind::kSoftmax, Kind::kNorm};
    const Kind kind =
        of_tokens ? kOfTokens[(seed + attempt) % 3] : random_layers::pick_kind(seed + attempt, hardware);
    try {
      random_layers::Case test = random_layers::make_case(seed * 1000003 + attempt, kind, hardware);
      const Node& node = test.graph.nodes.back();
      if (!supports(test.graph, node, hardware, nullptr)) continue;
      const OverlayLayer layer = extract_layer(test.graph, node, hardware);
      const NodeId nodes[] = {NodeId(test.graph.nodes.size()) - 1};
      OverlayProgram program =
          compile_overlay(test.graph, nodes, hardware,
                          {{node.name, random_layers::pick_schedule(seed + attempt, layer, hardware)}});
      write_program_inputs(program, test.inputs);
      return {fmt::format("layer {} ({}, {})", seed, random_layers::kind_name(kind),
                          print_schedule(program.layers[0].schedule)),
              std::move(program.memory), program.instruction_address, program.instruction_count};
    } catch (const Error& error) {
      // A window that does not fit its image, a layer that does not fit the overlay: drawn again.
      if (error.kind() == ErrorKind::kInternal) throw;
    }
  }
  return {fmt::format("layer {}", seed), {}, 0, 0};
}

}  // namespace tilewright::overlay
