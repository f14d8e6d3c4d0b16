// The memory cycle by cycle: a hand-driven master against the times of MemoryTiming, errors, pauses, and
// every rule that it checks.
#include "tilewright/hardware/axi_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>

#include "axi_pins.h"

namespace tilewright {
namespace {

constexpr uint8_t kSize8 = 3;  // AxSIZE of 8 bytes

class AxiMemoryTest : public testing::Test {
 protected:
  AxiMemoryTest() : bytes_(8192), memory_(find_memory_model("fixed:10:2"), 8, 16) {
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = std::byte(i * 7 + i / 256);
    begin({});
  }

  void begin(const AxiMemoryOptions& options) {
    memory_.begin(bytes_, options);
    pins_ = AxiPins{};
    pins_.ar_ready = pins_.aw_ready = pins_.w_ready = pins_.r_ready = pins_.b_ready = 1;
    pins_.ar_burst = pins_.aw_burst = 1;
    pins_.ar_size = pins_.aw_size = kSize8;
  }

  void cycle() {
    memory_.tick(pins_);
    ++pins_.cycle;
  }

  void ask_read(uint64_t address, int beats, uint8_t id = 0) {
    pins_.ar_valid = 1;
    pins_.ar_address = address;
    pins_.ar_length = uint8_t(beats - 1);
    pins_.ar_id = id;
  }
  void ask_write(uint64_t address, int beats) {
    pins_.aw_valid = 1;
    pins_.aw_address = address;
    pins_.aw_length = uint8_t(beats - 1);
  }
  void beat(uint64_t value, uint64_t strobe, bool last) {
    pins_.w_valid = 1;
    std::memcpy(pins_.w_data, &value, 8);
    pins_.w_strobe[0] = strobe;
    pins_.w_last = last;
  }
  uint64_t word(uint64_t address) const {
    uint64_t value;
    std::memcpy(&value, bytes_.data() + address, 8);
    return value;
  }
  uint64_t read_data() const {
    uint64_t value;
    std::memcpy(&value, pins_.r_data, 8);
    return value;
  }

  std::vector<std::byte> bytes_;
  AxiMemory memory_;
  AxiPins pins_;
};

TEST_F(AxiMemoryTest, ReadsInTheCyclesOfTheModel) {
  begin({true, 0, {}});
  ask_read(64, 3, 2);
  cycle();
  pins_.ar_valid = 0;
  std::vector<std::pair<uint64_t, uint64_t>> beats;
  while (pins_.cycle < 40) {
    if (pins_.r_valid != 0) {
      beats.emplace_back(pins_.cycle, read_data());
      EXPECT_EQ(pins_.r_last != 0, beats.size() == 3);
      EXPECT_EQ(pins_.r_id, 2);
      EXPECT_EQ(pins_.r_response, 0);
    }
    cycle();
  }
  const std::vector<std::pair<uint64_t, uint64_t>> expected{{10, word(64)}, {12, word(72)}, {14, word(80)}};
  EXPECT_EQ(beats, expected);
  const std::vector<AxiTransaction> log{{0, 64, 3, AxiClient::kLoad}};
  EXPECT_EQ(memory_.transactions(), log);
  EXPECT_FALSE(memory_.outstanding());
}

// It says when it wants to be called next, and is not needed before.
TEST_F(AxiMemoryTest, WakesWhenItHasSomethingToDrive) {
  ask_read(0, 1);
  cycle();
  pins_.ar_valid = 0;
  EXPECT_EQ(pins_.wake, 9u);  // sets the pins of cycle 10
  pins_.cycle = 9;
  cycle();
  EXPECT_EQ(pins_.r_valid, 1);
  EXPECT_EQ(pins_.wake, 10u);
  cycle();
  EXPECT_EQ(pins_.r_valid, 0);
  EXPECT_EQ(pins_.wake, UINT64_MAX);
}

TEST_F(AxiMemoryTest, WritesStrobedBytesAndAnswers) {
  const uint64_t before = word(128);
  ask_write(120, 2);
  beat(0x1111111111111111, 0xFF, false);
  cycle();
  pins_.aw_valid = 0;
  beat(0x2222222222222222, 0x81, true);
  cycle();  // the last beat, in cycle 1
  pins_.w_valid = 0;
  uint64_t answered = 0;
  while (pins_.cycle < 30) {
    if (pins_.b_valid != 0) answered = pins_.cycle;
    cycle();
  }
  EXPECT_EQ(answered, 11u);
  EXPECT_EQ(word(120), 0x1111111111111111u);
  EXPECT_EQ(word(128), (before & 0x00FFFFFFFFFFFF00u) | 0x2200000000000022u);
  EXPECT_TRUE(memory_.violation().empty());
}

TEST_F(AxiMemoryTest, AnswersWithErrors) {
  AxiMemoryOptions options;
  options.fault = AxiFault{false, 1};
  begin(options);
  ask_read(8184, 1);
  cycle();
  ask_read(8192 - 8, 1);
  cycle();
  ask_read(8192, 1);
  cycle();
  pins_.ar_valid = 0;
  std::vector<int> responses;
  while (pins_.cycle < 40) {
    if (pins_.r_valid != 0) responses.push_back(pins_.r_response);
    cycle();
  }
  EXPECT_EQ(responses, (std::vector<int>{0, 2, 3}));

  options.fault = AxiFault{true, 0};
  begin(options);
  ask_write(0, 1);
  beat(0, 0xFF, true);
  cycle();
  ask_write(8192, 1);
  cycle();
  pins_.aw_valid = pins_.w_valid = 0;
  responses.clear();
  while (pins_.cycle < 40) {
    if (pins_.b_valid != 0) responses.push_back(pins_.b_response);
    cycle();
  }
  EXPECT_EQ(responses, (std::vector<int>{2, 3}));
}

// With pauses every beat still comes once, in order, and stays until it is taken.
TEST_F(AxiMemoryTest, PausesKeepOrderAndData) {
  AxiMemoryOptions options;
  options.pause_seed = 5;
  begin(options);
  Random random(3);
  int asked = 0, got = 0;
  uint64_t held = 0;
  bool holding = false;
  for (int i = 0; i < 4000 && got < 64 * 4; ++i) {
    if (pins_.ar_valid == 0 && asked < 64) ask_read(uint64_t(asked) * 32, 4);
    const bool accepted = pins_.ar_valid != 0 && pins_.ar_ready != 0;
    pins_.r_ready = random.chance(0.5);
    if (holding) {
      EXPECT_EQ(pins_.r_valid, 1);
      EXPECT_EQ(read_data(), held);
    }
    holding = pins_.r_valid != 0 && pins_.r_ready == 0;
    held = read_data();
    if (pins_.r_valid != 0 && pins_.r_ready != 0) {
      EXPECT_EQ(read_data(), word(uint64_t(got) * 8));
      ++got;
    }
    cycle();
    if (accepted) {
      pins_.ar_valid = 0;
      ++asked;
    }
  }
  EXPECT_EQ(got, 64 * 4);
  EXPECT_EQ(memory_.violation(), "");
}

TEST_F(AxiMemoryTest, NamesBrokenRules) {
  const std::pair<const char*, std::function<void()>> cases[] = {
      {"ARADDR 0x4 is not aligned", [&] { ask_read(4, 1); }},
      {"ARLEN is 16", [&] { ask_read(0, 17); }},
      {"crosses 4 KiB", [&] { ask_read(4096 - 8, 2); }},
      {"ARSIZE is 2", [&] { ask_read(0, 1), pins_.ar_size = 2; }},
      {"AWBURST is 0", [&] { ask_write(0, 1), pins_.aw_burst = 0; }},
      {"a write beat without an address", [&] { beat(0, 1, true); }},
      {"WLAST is wrong at beat 0", [&] { ask_write(0, 2), beat(0, 1, true); }},
  };
  for (const auto& [text, drive] : cases) {
    begin({});
    drive();
    cycle();
    EXPECT_NE(memory_.violation().find(text), std::string::npos) << memory_.violation();
    EXPECT_EQ(pins_.stop, 1);
  }
}

TEST_F(AxiMemoryTest, NamesUnstableRequests) {
  const std::pair<const char*, std::function<void()>> cases[] = {
      {"ARVALID fell", [&] { pins_.ar_valid = 0; }}, {"AR changed", [&] { pins_.ar_address += 8; }},
      {"AW changed", [&] { pins_.aw_length = 1; }},  {"WVALID fell", [&] { pins_.w_valid = 0; }},
      {"W changed", [&] { pins_.w_data[1] ^= 1; }},
  };
  for (const auto& [text, change] : cases) {
    AxiMemoryOptions options;
    options.pause_seed = 1;
    begin(options);
    ask_read(0, 1);
    ask_write(64, 1);
    beat(7, 255, true);
    pins_.ar_ready = pins_.aw_ready = pins_.w_ready = 0;
    cycle();
    pins_.ar_ready = pins_.aw_ready = pins_.w_ready = 0;
    cycle();
    EXPECT_EQ(memory_.violation(), "");
    change();
    cycle();
    EXPECT_NE(memory_.violation().find(text), std::string::npos) << memory_.violation();
  }
}

}  // namespace
}  // namespace tilewright
