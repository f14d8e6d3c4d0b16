#include "engine_comparison.h"

#include <fmt/format.h>

#include <cstring>

#include "public_runtime.h"
#include "support/overlay/dont_care_testing.h"
#include "support/overlay/random_stream_testing.h"
#include "support/overlay/reference_interpreter_testing.h"

namespace tilewright::overlay {
namespace {

constexpr size_t kMostText = 4000;

bool same(const RunCounters& a, const RunCounters& b) {
  const auto list = [](const RunCounters& c) {
    return std::array{c.instructions,      c.uop_load_bytes,         c.input_load_bytes,
                      c.weight_load_bytes, c.accumulator_load_bytes, c.output_store_bytes,
                      c.gemm_uops,         c.gemm_reset_uops,        c.alu_uops,
                      c.alu_lanes};
  };
  return list(a) == list(b);
}

// Calls visit(words) for every instruction of `program` and writes back what it has changed.
template <typename Visit>
void for_each_instruction(const OverlayHardware& hardware, EqualityProgram& program, const Visit& visit) {
  const size_t bytes = size_t(hardware.instruction_bytes());
  for (uint64_t i = 0; i < program.count; ++i) {
    uint64_t words[IsaLayout::kMaxWords] = {};
    std::byte* const at = program.memory.data() + program.address + i * bytes;
    std::memcpy(words, at, bytes);
    visit(words);
    std::memcpy(at, words, bytes);
  }
}

void empty_some_loops(const OverlayHardware& hardware, const IsaLayout& layout, Random& random,
                      EqualityProgram& program) {
  for_each_instruction(hardware, program, [&](uint64_t* words) {
    const IsaOpcode opcode = IsaOpcode(layout.opcode.get(words));
    if ((opcode != IsaOpcode::kGemm && opcode != IsaOpcode::kAlu) || !random.chance(0.1)) return;
    const IsaLayout::Loop& loop = opcode == IsaOpcode::kGemm ? layout.gemm : layout.alu;
    const BitField* const fields[] = {&loop.uop_end, &loop.iter_out, &loop.iter_in};
    const BitField& field = *fields[random.between(0, 2)];
    words[field.word] &= ~(field.mask() << field.shift);
  });
}

}  // namespace

void ComparisonSummary::add(const ComparisonSummary& other) {
  programs += other.programs;
  differences += other.differences;
  refused += other.refused;
  if (first_problems.size() < kMostText) first_problems += other.first_problems;
}

// What a program left behind, alike on all engines; or what is wrong.
struct EngineComparison::Outcome {
  std::vector<std::byte> memory;
  TimedRun timed;
  bool refused = false;
  std::string problem;
};

EngineComparison::EngineComparison(const OverlayHardware& hardware, const std::optional<RtlOptions>& rtl)
    : hardware_(hardware) {
  if (rtl) rtl_.emplace(hardware, MemoryModel{}, *rtl);
}

EngineComparison::Outcome EngineComparison::run(const EqualityProgram& program, const MemoryModel& memory) {
  Outcome outcome;
  const uint64_t address = program.address, count = program.count;
  try {
    std::vector<std::byte> bytes = program.memory, other = program.memory;
    const RunCounters work = FunctionalSimulator(hardware_).run(bytes, address, count);
    const RunCounters plain = ReferenceInterpreter(hardware_).run(other, address, count);
    if (other != bytes || !same(plain, work)) outcome.problem += "the interpreter differs; ";
    other = program.memory;
    CycleOptions options;
    options.record_transactions = true;
    outcome.timed = CycleSimulator(hardware_, memory).run(other, address, count, options);
    if (other != bytes || !same(outcome.timed.work, work)) outcome.problem += "the cycle simulator differs; ";
    if (rtl_) {
      other = program.memory;
      rtl_->model().restart(memory);
      rtl_->model().limit_wait(2 * outcome.timed.cycles.cycles + 10000);
      AxiMemoryOptions rtl_options;
      rtl_options.record_transactions = true;
      const TimedRun run = rtl_->run(other, address, count, rtl_options);
      if (other != bytes) outcome.problem += "bytes of the RTL differ; ";
      if (!(run.cycles == outcome.timed.cycles)) {
        outcome.problem += fmt::format("{} cycles, in RTL {}, or other counters; ",
                                       outcome.timed.cycles.cycles, run.cycles.cycles);
      }
      if (run.transactions != outcome.timed.transactions) outcome.problem += "bursts of the RTL differ; ";
    }
    outcome.memory = std::move(bytes);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
    outcome.refused = true;
    outcome.problem += error.what();
  }
  return outcome;
}

std::string EngineComparison::check(const EqualityProgram& program) const {
  Diagnostics diagnostics;
  const std::span<const std::byte> memory(program.memory);
  check_program(hardware_,
                {memory.subspan(program.address, program.count * size_t(hardware_.instruction_bytes())),
                 memory, 0, memory.size()},
                diagnostics);
  return diagnostics.ok() ? "" : "checker: " + to_string(diagnostics.errors().front());
}

void EngineComparison::compare_dont_cares(uint64_t seed, ComparisonSummary& summary) {
  Random random(seed);
  const IsaLayout layout(hardware_);
  EqualityProgram plain = stream_program(hardware_, random.next());
  const bool with_empty_loops = random.chance(0.3);
  if (with_empty_loops) empty_some_loops(hardware_, layout, random, plain);
  EqualityProgram wild = plain;
  for_each_instruction(hardware_, wild,
                       [&](uint64_t* words) { randomise_dont_cares(hardware_, layout, random, words); });
  const MemoryModel memory = equality_memories()[seed % 3];
  const Outcome expected = run(plain, memory), actual = run(wild, memory);
  std::string problem = expected.problem + actual.problem;
  const std::string refusal = with_empty_loops ? "" : check(wild);
  const bool refused = expected.refused || actual.refused || !refusal.empty();
  if (!refused) {
    // Nothing but the program itself may differ.
    std::vector<std::byte> left = actual.memory;
    const size_t bytes = plain.count * size_t(hardware_.instruction_bytes());
    std::memcpy(left.data() + plain.address, plain.memory.data() + plain.address, bytes);
    if (left != expected.memory) problem += "fields without meaning change bytes; ";
    if (!(actual.timed.cycles == expected.timed.cycles) || !same(actual.timed.work, expected.timed.work)) {
      problem += "fields without meaning change counters; ";
    }
  }
  ++summary.programs;
  summary.refused += refused;
  summary.differences += !refused && !problem.empty();
  problem += refusal;
  if (!problem.empty() && summary.first_problems.size() < kMostText) {
    summary.first_problems += fmt::format("{}, stream of seed {}: {}\n", hardware_.name, seed, problem);
  }
}

void EngineComparison::compare_public(uint64_t seed, ComparisonSummary& summary) {
  Random random(seed);
  const PublicProgram made = public_program(hardware_, random);
  const EqualityProgram program{"", made.memory, made.address, made.count};
  const EqualityProgram wild{"", made.wild_memory, made.address, made.count};
  const MemoryModel memory = equality_memories()[seed % 3];
  Outcome expected = run(program, memory), actual = run(wild, memory);
  const std::string refusal = check(program) + check(wild);
  std::string problem = expected.problem + actual.problem;
  const bool refused = expected.refused || actual.refused || !refusal.empty();
  if (!refused) {
    // Nothing but the micro-ops themselves may differ.
    std::memcpy(actual.memory.data() + made.uop_address, made.memory.data() + made.uop_address,
                made.uop_bytes);
    if (actual.memory != expected.memory || !(actual.timed.cycles == expected.timed.cycles)) {
      problem += "what kernels do not read of micro-ops changes bytes or cycles; ";
    }
  }
  ++summary.programs;
  summary.refused += refused;
  summary.differences += !refused && !problem.empty();
  problem += refusal;
  if (!problem.empty() && summary.first_problems.size() < kMostText) {
    summary.first_problems += fmt::format("{}, loop nest of seed {}: {}\n", hardware_.name, seed, problem);
  }
}

}  // namespace tilewright::overlay
