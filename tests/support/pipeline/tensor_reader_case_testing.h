// For tests: a random tensor_reader on memories whose words follow from their addresses; what it gives
// against the loops of its task table.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/tensor_reader.h"

namespace tilewright::pipeline {

class TensorReaderCase : public BenchCase {
 public:
  TensorReaderCase(netlist::Parameters parameters_of, MemoryImages images_of,
                   const std::vector<TensorReaderRow>& rows)
      : BenchCase("tensor_reader", std::move(parameters_of), std::move(images_of)),
        element_bits_(size("AW")),
        elements_(size("PI")),
        units_(size("UNITS")),
        address_bits_(size("A")),
        sources_(size("PROGRESS")) {
    for (const TensorReaderRow& row : rows) walk(row);
  }

  static std::unique_ptr<BenchCase> make(Random& random) {
    const int64_t aw = random.between(1, 9), units = random.between(1, 3), sources = random.between(0, 8);
    const int64_t tasks = random.between(1, 4);
    std::vector<TensorReaderRow> rows;
    for (int64_t i = 0; i < tasks; ++i) rows.push_back(random_row(random, int(aw), units, sources));
    netlist::Parameters parameters = {{"AW", aw},
                                      {"PI", random.between(1, 6)},
                                      {"UNITS", units},
                                      {"A", random.between(6, 20)},
                                      {"PROGRESS", sources},
                                      {"TASKS", tasks},
                                      {"TABLE", std::string("tasks")},
                                      {"QUEUE", random.between(1, 9)}};
    if (random.chance(0.5)) {
      parameters["OB_BITS"] = int64_t{2};
      parameters["SIZE_BITS"] = int64_t{6};
      parameters["K_BITS"] = int64_t{3};
      parameters["CB_BITS"] = int64_t{3};
    }
    return std::make_unique<TensorReaderCase>(
        parameters, MemoryImages{{"tasks", encode(rows, int(aw), int(sources))}}, rows);
  }

  bool is_stream(const std::string& name) const override { return name == "out"; }
  void begin() override {
    ++run_;
    progress_.assign(8, 0);
    flying_[0] = flying_[1] = {};
    expected_ = 0;
    passes_ = taken_ = cycles_ = 0;
    wrong_.clear();
  }

  void drive(BenchPins& pins, Random& random) override {
    const bool fast = run_ == 1;
    const bool start = pins.get("busy") == 0 && random.chance(fast ? 1 : 0.3);
    // A word per cycle, a cycle between tasks, and what the counts of progress and the ends take.
    const int64_t most = int64_t(words_.size()) + size("TASKS") + kLeadIn;
    if (start && passes_ > 0 && fast && size("QUEUE") >= 5 && cycles_ > most) wrong_ = "a pass took too long";
    ++cycles_;
    if (start) {
      cycles_ = 0;
      if (expected_ != 0 && expected_ != words_.size()) wrong_ = "a pass ended before its last word";
      ++passes_;
      expected_ = 0;
    }
    pins.set("start", start ? 1 : 0);
    for (int i = 0; i < 8; ++i) {
      uint64_t& progress = progress_[size_t(i)];
      if (start)
        progress = 0;
      else if (random.chance(fast ? 1 : 0.1))
        ++progress;
      pins.set(fmt::format("progress{}", i), progress & 0xFFFF);
    }
    pins.set("rd_ready", fast ? (uint64_t{1} << units_) - 1 : random.next() & ((uint64_t{1} << units_) - 1));
    Beat data(units_ * elements_ * element_bits_);
    data.randomize(random);
    const Asked asked = std::exchange(flying_[1], flying_[0]);
    flying_[0] = {};
    if (asked.unit >= 0) {
      const int bits = elements_ * element_bits_;
      for (int i = 0; i < bits; ++i) data.set(asked.unit * bits + i, 1, bit(asked.unit, asked.address, i));
    }
    pins.set_beat("rd_data", data);
  }

  void observe(const BenchPins& pins) override {
    const uint64_t granted = pins.get("rd_valid") & pins.get("rd_ready");
    if (granted == 0) return;
    flying_[0].unit = granted == 1 ? 0 : granted == 2 ? 1 : 2;
    flying_[0].address = pins.get("rd_address");
  }

  void transferred(const std::string&, const Beat& data, bool last) override {
    ++taken_;
    if (expected_ >= words_.size()) {
      wrong_ = "more words than the tasks have";
      return;
    }
    const Word& word = words_[expected_++];
    if (last != word.last) wrong_ = fmt::format("word {}: last is wrong", expected_ - 1);
    for (int i = 0; i < data.bits(); ++i) {
      const uint64_t right =
          word.pad ? uint64_t(word.pad_value >> (i % element_bits_)) & 1 : bit(word.unit, word.address, i);
      if (data.get(i, 1) != right) wrong_ = fmt::format("word {} is another one", expected_ - 1);
    }
  }
  std::string finish() override { return taken_ < 100 ? "hardly a word came out" : wrong_; }

 private:
  static constexpr int64_t kMostWait = 12, kLeadIn = kMostWait + 8;
  struct Word {
    int unit = 0;
    uint64_t address = 0;
    bool pad = false, last = false;
    int64_t pad_value = 0;
  };
  struct Asked {
    int unit = -1;  // -1: none
    uint64_t address = 0;
  };

  static TensorReaderRow random_row(Random& random, int aw, int64_t units, int64_t sources) {
    TensorReaderRow row;
    row.unit = random.between(0, units - 1);
    row.base = random.between(-30, 200);
    row.outer = random.between(1, 3);
    row.outer_step = random.between(0, 20);
    row.row_step = random.between(0, 70);
    row.column_step = random.between(0, 9);
    row.rows = random.between(1, 5);
    row.columns = random.between(1, 5);
    row.kernel_rows = random.between(1, 3);
    row.kernel_columns = random.between(1, 3);
    row.blocks = random.between(1, 4);
    row.stride_y = random.between(1, 3);
    row.stride_x = random.between(1, 3);
    row.first_y = random.between(-3, 2);
    row.first_x = random.between(-3, 2);
    row.in_rows = random.between(1, 12);
    row.in_columns = random.between(1, 12);
    row.pad_value = random.between(-(int64_t{1} << (aw - 1)), (int64_t{1} << (aw - 1)) - 1);
    row.flat = random.chance(0.2);
    for (int64_t i = 0; i < sources; ++i) row.waits.push_back(random.between(0, kMostWait));
    return row;
  }

  void walk(const TensorReaderRow& r) {
    const int64_t total = r.outer * r.rows * r.columns * r.kernel_rows * r.kernel_columns * r.blocks;
    for (int64_t i = 0; i < total; ++i) {
      int64_t rest = i;
      const auto digit = [&](int64_t count) { return std::exchange(rest, rest / count) % count; };
      const int64_t cb = digit(r.blocks), kx = digit(r.kernel_columns), ky = digit(r.kernel_rows);
      const int64_t x = digit(r.columns), y = digit(r.rows), ob = digit(r.outer);
      Word word;
      word.unit = int(r.unit);
      word.address = uint64_t(r.base + ob * r.outer_step + (y * r.stride_y + ky) * r.row_step +
                              (x * r.stride_x + kx) * r.column_step + cb) &
                     ((uint64_t{1} << address_bits_) - 1);
      const int64_t py = y * r.stride_y + r.first_y + ky, px = x * r.stride_x + r.first_x + kx;
      word.pad = py < 0 || py >= r.in_rows || px < 0 || px >= r.in_columns;
      word.pad_value = r.pad_value;
      word.last = r.flat || (cb == r.blocks - 1 && kx == r.kernel_columns - 1 && ky == r.kernel_rows - 1);
      words_.push_back(word);
    }
  }

  static uint64_t bit(int unit, uint64_t address, int i) {
    return Random(address * 1024 + uint64_t(i) * 4 + uint64_t(unit)).next() & 1;
  }
  int size(const char* name) const { return int(netlist::integer(parameters, name)); }

  const int element_bits_, elements_, units_, address_bits_, sources_;
  std::vector<Word> words_;  // of one pass
  int run_ = 0;
  std::vector<uint64_t> progress_;
  Asked flying_[2];  // granted in the cycle before, two cycles before
  size_t expected_ = 0;
  int64_t passes_ = 0, taken_ = 0, cycles_ = 0;
  std::string wrong_;
};

}  // namespace tilewright::pipeline
