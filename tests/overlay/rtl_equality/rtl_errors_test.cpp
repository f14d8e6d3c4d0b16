// Mistakes and disturbances in the RTL: every engine names the same instruction, the hardware stops cleanly,
// and a good program runs afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "equality.h"
#include "overlay/cycle_simulator/counter_sums.h"
#include "parameter_sets.h"
#include "small_program.h"
#include "tilewright/base/error.h"
#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

using Places = std::vector<std::string>;

// Where the diagnostics of an error stand; empty: no error.
template <typename Body>
Places places(const Body& body) {
  Places found;
  try {
    body();
  } catch (const Error& error) {
    for (const Diagnostic& d : error.diagnostics()) found.push_back(d.where);
  }
  return found;
}

class RtlErrors : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string missing = synthesis::missing_tools({"verilator"});
    if (!missing.empty()) GTEST_SKIP() << missing;
    hardware_ = parameter_sets()[size_t(GetParam())];
    memory_ = find_memory_model("fixed:12:1");
    RtlOptions options = equality_options(TILEWRIGHT_RTL_CACHE);
    rtl_ = std::make_unique<RtlSimulator>(hardware_, memory_, options);
    rtl_->model().limit_wait(100000);
  }

  HardwareError error_code() {
    return HardwareError(rtl_->model().read32(register_offset("STATUS")) >> 8 & 0xFF);
  }

  // The hardware has stopped with nothing outstanding and runs a good program.
  void expect_recovery(const std::string& after) {
    EXPECT_FALSE(rtl_->driver().running()) << after;
    EXPECT_FALSE(rtl_->model().memory().outstanding()) << after;
    const SmallProgram good(hardware_);
    std::vector<std::byte> expected = good.memory(), actual = expected;
    FunctionalSimulator(hardware_).run(expected, SmallProgram::kAddress, good.instructions.size());
    const Places none = places([&] { rtl_->run(actual, SmallProgram::kAddress, good.instructions.size()); });
    EXPECT_TRUE(none.empty()) << "after " << after << ": " << none.front();
    EXPECT_TRUE(actual == expected) << "after " << after;
  }

  OverlayHardware hardware_;
  MemoryModel memory_;
  std::unique_ptr<RtlSimulator> rtl_;
};

TEST_P(RtlErrors, AllEnginesNameTheSameInstruction) {
  for (const Mistake& mistake : mistakes(hardware_)) {
    SmallProgram program(hardware_);
    mistake.plant(program);
    const uint64_t count = program.instructions.size();
    Places expected;
    for (const uint32_t index : mistake.named) expected.push_back(fmt::format("instruction {}", index));
    std::vector<std::byte> memory = program.memory();
    EXPECT_EQ(places([&] { FunctionalSimulator(hardware_).run(memory, SmallProgram::kAddress, count); }),
              expected)
        << mistake.name << ", functional";
    memory = program.memory();
    EXPECT_EQ(places([&] { CycleSimulator(hardware_, memory_).run(memory, SmallProgram::kAddress, count); }),
              expected)
        << mistake.name << ", cycle";
    memory = program.memory();
    EXPECT_EQ(places([&] { rtl_->run(memory, SmallProgram::kAddress, count); }), expected)
        << mistake.name << ", RTL";
    EXPECT_EQ(int(error_code()), int(mistake.code)) << mistake.name;
    expect_recovery(mistake.name);
  }
}

// The hardware itself would run the first one from the aligned byte below, the second one in part of its
// memory.
TEST_P(RtlErrors, PlacesWhereNoProgramStands) {
  const SmallProgram good(hardware_);
  const uint64_t count = good.instructions.size();
  const auto refusals = [&](std::vector<std::byte> memory, uint64_t address) {
    std::vector<std::string> texts;
    const auto note = [&](const auto& run) {
      try {
        run();
        texts.push_back("no error");
      } catch (const Error& error) {
        texts.push_back(error.what());
      }
    };
    note([&] { FunctionalSimulator(hardware_).run(memory, address, count); });
    note([&] { CycleSimulator(hardware_, memory_).run(memory, address, count); });
    note([&] { rtl_->run(memory, address, count); });
    return texts;
  };
  const std::vector<std::string> unaligned = refusals(good.memory(), SmallProgram::kAddress + 4);
  EXPECT_NE(unaligned[0].find("is not aligned"), std::string::npos) << unaligned[0];
  EXPECT_EQ(unaligned, std::vector<std::string>(3, unaligned[0]));
  std::vector<std::byte> memory = good.memory();
  memory.resize(size_t(hardware_.dram_bytes) + 1);
  const std::vector<std::string> large = refusals(memory, SmallProgram::kAddress);
  EXPECT_NE(large[0].find("that the hardware addresses"), std::string::npos) << large[0];
  EXPECT_EQ(large, std::vector<std::string>(3, large[0]));
  expect_recovery("programs that never started");
}

// Programs that end without FINISH: the last instruction is the one that should have been.
TEST_P(RtlErrors, NoFinish) {
  const SmallProgram program(hardware_);
  std::vector<std::byte> memory = program.memory();
  EXPECT_EQ(places([&] { rtl_->run(memory, SmallProgram::kAddress, kFinish); }), Places{"instruction 8"});
  EXPECT_EQ(int(error_code()), int(HardwareError::kNoFinish));
  expect_recovery("no FINISH");
}

TEST_P(RtlErrors, TokenOverflow) {
  std::vector<std::byte> memory(SmallProgram::kBytes), code;
  MemoryInstruction nop;
  nop.dependencies.push_next = true;
  for (int i = 0; i < 300; ++i) encode(hardware_, Instruction(nop), code);
  encode(hardware_, Instruction(FinishInstruction{}), code);
  // A first instruction that keeps compute from running ahead is not needed: nobody pops.
  std::copy(code.begin(), code.end(), memory.begin() + SmallProgram::kAddress);
  const Places cycle =
      places([&] { CycleSimulator(hardware_, memory_).run(memory, SmallProgram::kAddress, 301); });
  EXPECT_EQ(cycle, Places{"instruction 255"});
  EXPECT_EQ(places([&] { rtl_->run(memory, SmallProgram::kAddress, 301); }), cycle);
  EXPECT_EQ(int(error_code()), int(HardwareError::kTokenOverflow));
  expect_recovery("token overflow");
}

// Legal with endless queues: fetch is stuck behind a full one before it reaches the pushes.
TEST_P(RtlErrors, DeadlockOfFiniteQueues) {
  MemoryInstruction waiting, pushing;
  waiting.dependencies.pop_next = true;
  pushing.memory_type = MemoryType::kUop;
  pushing.dependencies.push_prev = true;
  const int pairs = hardware_.command_queue_depth + 3;
  std::vector<std::byte> code;
  for (int i = 0; i < pairs; ++i) encode(hardware_, Instruction(waiting), code);
  for (int i = 0; i < pairs; ++i) encode(hardware_, Instruction(pushing), code);
  encode(hardware_, Instruction(FinishInstruction{}), code);
  const uint64_t count = uint64_t(2 * pairs + 1);
  std::vector<std::byte> memory(SmallProgram::kBytes);
  std::copy(code.begin(), code.end(), memory.begin() + SmallProgram::kAddress);
  EXPECT_TRUE(
      places([&] { FunctionalSimulator(hardware_).run(memory, SmallProgram::kAddress, count); }).empty());
  const Places cycle =
      places([&] { CycleSimulator(hardware_, memory_).run(memory, SmallProgram::kAddress, count); });
  EXPECT_EQ(cycle, Places{"instruction 0"});
  EXPECT_EQ(places([&] { rtl_->run(memory, SmallProgram::kAddress, count); }), cycle);
  EXPECT_EQ(int(error_code()), int(HardwareError::kDeadlock));
  expect_recovery("a deadlock of finite queues");
}

// SLVERR in the middle of a burst of each client: the instruction whose data it is.
TEST_P(RtlErrors, BusErrorInTheMiddleOfABurst) {
  const SmallProgram program(hardware_);
  const uint64_t count = program.instructions.size();
  std::vector<std::byte> memory = program.memory();
  AxiMemoryOptions options;
  options.record_transactions = true;
  const std::vector<AxiTransaction> log =
      rtl_->run(memory, SmallProgram::kAddress, count, options).transactions;
  const uint64_t port = uint64_t(hardware_.memory_width_bits) / 8;
  const auto inside = [&](const AxiTransaction& t, uint64_t address, uint64_t bytes) {
    return t.address + t.beats * port > address && t.address < address + bytes;
  };
  const auto& inp = std::get<MemoryInstruction>(program.instructions[kLoadInp]);
  const uint64_t inp_bytes = uint64_t(hardware_.input_bytes());
  bool load = false, compute = false, store = false;
  uint64_t beats = 0, bursts = 0;
  for (const AxiTransaction& t : log) {
    AxiMemoryOptions faulty;
    uint32_t expected = kStoreOut;
    bool wanted = false;
    if (t.client == AxiClient::kStore) {
      faulty.fault = AxiFault{true, bursts++};
      wanted = !std::exchange(store, true);
    } else {
      faulty.fault = AxiFault{false, beats + t.beats / 2};
      beats += t.beats;
      if (t.client == AxiClient::kLoad && inside(t, inp.dram_base * inp_bytes, inp.x_size * inp_bytes)) {
        expected = kLoadInp;
        wanted = !std::exchange(load, true);
      } else if (t.client == AxiClient::kCompute && t.address == 0) {
        expected = kLoadUop;
        wanted = !std::exchange(compute, true);
      } else if (t.client == AxiClient::kFetch) {
        const uint64_t at = t.address + t.beats / 2 * port - SmallProgram::kAddress;
        expected = uint32_t(at / uint64_t(hardware_.instruction_bytes()));
        wanted = true;
      }
    }
    if (!wanted) continue;
    memory = program.memory();
    EXPECT_EQ(places([&] { rtl_->run(memory, SmallProgram::kAddress, count, faulty); }),
              Places{fmt::format("instruction {}", expected)})
        << "client " << int(t.client) << " at " << t.address;
    EXPECT_EQ(int(error_code()), int(HardwareError::kBus));
    expect_recovery("a bus error");
  }
  EXPECT_TRUE(load && compute && store);
}

TEST_P(RtlErrors, ResetInTheMiddleOfARun) {
  OverlayRtlModel& model = rtl_->model();
  Random random(7);
  const EqualityProgram stream = stream_program(hardware_, 3);
  for (const uint64_t cycles : {1, 5, 20, 61, 133, 340, 502, 777}) {
    for (const bool pin : {false, true}) {
      std::vector<std::byte> memory = stream.memory;
      model.memory().begin(memory);
      rtl_->driver().launch(stream.address, stream.count);
      model.step(cycles);
      EXPECT_TRUE(rtl_->driver().running()) << cycles;
      if (pin) {
        model.reset();
      } else {
        rtl_->driver().soft_reset();
      }
      EXPECT_EQ(model.read32(register_offset("STATUS")), 0u);
      expect_recovery(fmt::format("{} after {} cycles", pin ? "reset" : "soft reset", cycles));
    }
  }
}

// A launch in the middle of a run ends that run first, without a report.
TEST_P(RtlErrors, LaunchInTheMiddleOfARun) {
  OverlayRtlModel& model = rtl_->model();
  const SmallProgram good(hardware_);
  std::vector<std::byte> expected = good.memory(), actual = expected;
  FunctionalSimulator(hardware_).run(expected, SmallProgram::kAddress, good.instructions.size());
  for (const uint64_t cycles : {3, 40, 90}) {
    actual = good.memory();
    model.memory().begin(actual);
    rtl_->driver().launch(SmallProgram::kAddress, good.instructions.size());
    model.step(cycles);
    rtl_->driver().launch(SmallProgram::kAddress, good.instructions.size());
    EXPECT_TRUE(model.wait_for_interrupt());
    EXPECT_TRUE(places([&] { rtl_->driver().raise_error(); }).empty());
    EXPECT_TRUE(actual == expected) << cycles;
  }
}

// The assertions of the RTL and the checks of the memory hold, and the results do not change.
TEST_P(RtlErrors, RandomPauses) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const EqualityProgram stream = stream_program(hardware_, seed);
    std::vector<std::byte> expected = stream.memory, actual = stream.memory;
    FunctionalSimulator(hardware_).run(expected, stream.address, stream.count);
    rtl_->model().restart(equality_memories()[seed % 3]);
    AxiMemoryOptions options;
    options.pause_seed = seed;
    const CycleCounters c = rtl_->run(actual, stream.address, stream.count, options).cycles;
    EXPECT_TRUE(actual == expected) << seed;
    expect_sums(c);
  }
}

TEST_P(RtlErrors, OtherHardwareIsNamed) {
  OverlayHardware other = hardware_;
  other.weight_buffer_bytes *= 2;
  other.memory_width_bits *= 2;
  try {
    OverlayDriver(other, rtl_->model());
    FAIL() << "accepted";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("log2 of WGT depth"), std::string::npos) << text;
    EXPECT_NE(text.find("memory_width_bits"), std::string::npos) << text;
    EXPECT_EQ(error.diagnostics().size(), 2u) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RtlErrors, testing::Values(TILEWRIGHT_ERROR_SETS),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tilewright::overlay
