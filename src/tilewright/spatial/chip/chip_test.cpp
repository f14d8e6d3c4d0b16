#include "tilewright/spatial/chip/chip.h"

#include <gtest/gtest.h>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/hardware/array_hardware.h"

namespace tilewright {
namespace {

const char* const kFile = TILEWRIGHT_SOURCE_DIR "/hardware/eyeriss-chip.yaml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message_of(const std::string& yaml) {
  try {
    parse_row_stationary_chip(yaml, "chip.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "accepted";
}

TEST(RowStationaryChip, FileStatesTheChip) {
  const RowStationaryChip chip = read_row_stationary_chip(kFile);
  EXPECT_EQ(chip.name, "eyeriss-chip");
  EXPECT_EQ(chip.rows * chip.columns, 168);
  EXPECT_EQ(chip.filter_spad_words + chip.pixel_spad_words + chip.psum_spad_words, 260);
  EXPECT_EQ(chip.buffer_banks * chip.bank_bytes + chip.weight_buffer_bytes, 108 * 1024);
  EXPECT_EQ(chip.filter_words_per_cycle * chip.word_bits, 64);
  EXPECT_EQ(chip.pixel_words_per_cycle * chip.word_bits, 16);
  EXPECT_DOUBLE_EQ(chip.clock_mhz, 200);
}

// The levels of the same file describe the same chip to the mappers.
TEST(RowStationaryChip, BothPartsOfTheFileAgree) {
  const RowStationaryChip chip = read_row_stationary_chip(kFile);
  const ArrayHardware array = read_array_hardware(kFile);
  EXPECT_EQ(array.pe_count(), chip.rows * chip.columns);
  EXPECT_EQ(array.word_bits, chip.word_bits);
  ASSERT_EQ(array.levels.size(), 3u);
  const ArrayLevel& buffer = array.levels[1];
  const ArrayLevel& spads = array.levels[2];
  EXPECT_EQ(buffer.capacity_words * chip.word_bytes(), chip.buffer_banks * chip.bank_bytes);
  EXPECT_EQ(buffer.role_capacity_words[1] * chip.word_bytes(), chip.weight_buffer_bytes);
  EXPECT_EQ(buffer.network.words_per_cycle[0], double(chip.pixel_words_per_cycle));
  EXPECT_EQ(buffer.network.words_per_cycle[1], double(chip.filter_words_per_cycle));
  EXPECT_EQ(buffer.network.words_per_cycle[2],
            double(chip.psum_in_words_per_cycle + chip.psum_out_words_per_cycle));
  EXPECT_EQ(spads.role_capacity_words[0], chip.pixel_spad_words);
  EXPECT_EQ(spads.role_capacity_words[1], chip.filter_spad_words);
  EXPECT_EQ(spads.role_capacity_words[2], chip.psum_spad_words);
}

TEST(RowStationaryChip, ReportsEveryProblemAtOnce) {
  std::string text = read_text_file(kFile);
  text = replaced(text, "rows: 12", "rows: 0");
  text = replaced(text, "banks: 25", "banks: -3");
  text = replaced(text, "clock_mhz: 200", "clock_mhz: 0");
  text = replaced(text, "psum_fifo_words: 24", "psum_fifo_words: 3");
  const std::string message = message_of(text);
  for (const char* part : {"(rows): 0 is not in 1..1024", "(banks): -3 is not in", "(clock_mhz)",
                           "(psum_fifo_words): 3 is not in 4.."}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(RowStationaryChip, RefusesMissingUnknownAndMistypedFields) {
  std::string text = read_text_file(kFile);
  text = replaced(text, "    rows: 12\n", "");
  text = replaced(text, "    pixel: 1\n", "    pixel: one\n    bus: 3\n");
  const std::string message = message_of(text);
  EXPECT_NE(message.find("rows"), std::string::npos) << message;
  EXPECT_NE(message.find("pixel"), std::string::npos) << message;
  EXPECT_NE(message.find("bus"), std::string::npos) << message;
  EXPECT_NE(message_of("name: x\n").find("row_stationary"), std::string::npos);
  EXPECT_NE(message_of("- 1\n"), "accepted");
}

TEST(RowStationaryChip, RefusesMoreSpadsThanCanBeSimulated) {
  std::string text = replaced(read_text_file(kFile), "rows: 12", "rows: 1024");
  text = replaced(text, "columns: 14", "columns: 1024");
  EXPECT_NE(message_of(text).find("(pe): the spads of all PEs hold more than"), std::string::npos);
}

// A damaged file is refused or read; nothing else happens.
TEST(RowStationaryChip, SurvivesDamagedFiles) {
  const std::string text = read_text_file(kFile);
  const std::string bytes = "{}[]:-#&*!|>'\"%@`,? \n\t0123456789aeirs\x80\xff";
  int refused = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::string damaged = text;
    for (int64_t k = random.between(1, 4); k > 0; --k) {
      const size_t at = size_t(random.between(0, int64_t(damaged.size()) - 1));
      if (random.chance(0.5)) {
        damaged[at] = bytes[size_t(random.between(0, int64_t(bytes.size()) - 1))];
      } else {
        damaged.erase(at, size_t(random.between(1, 40)));
      }
    }
    try {
      parse_row_stationary_chip(damaged, "damaged.yaml");
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.kind(), ErrorKind::kInvalidInput);
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace tilewright
