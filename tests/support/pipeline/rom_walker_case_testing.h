// For tests: a random rom_walker, its words against the loops of its task table.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/rom_walker.h"

namespace tilewright::pipeline {

class RomWalkerCase : public BenchCase {
 public:
  RomWalkerCase(netlist::Parameters parameters_of, MemoryImages images_of,
                const std::vector<RomWalkerRow>& rows)
      : BenchCase("rom_walker", std::move(parameters_of), std::move(images_of)) {
    for (const RomWalkerRow& row : rows) {
      for (int64_t ob = 0; ob < row.outer; ++ob) {
        for (int64_t px = 0; px < row.repeats; ++px) {
          for (int64_t n = 0; n < row.words; ++n) order_.push_back(row.base + ob * row.words + n);
        }
      }
    }
  }

  static std::unique_ptr<BenchCase> make(Random& random) {
    const int width = int(random.between(1, 100));
    const int64_t tasks = random.between(1, 5), words = random.between(1, 200);
    std::vector<RomWalkerRow> rows;
    for (int64_t i = 0; i < tasks; ++i) {
      RomWalkerRow row;
      row.outer = random.between(1, std::min<int64_t>(words, 4));
      row.words = random.between(1, words / row.outer);
      row.repeats = random.between(1, 4);
      row.base = random.between(0, words - row.outer * row.words);
      rows.push_back(row);
    }
    MemoryImage contents(width);
    for (int64_t i = 0; i < words; ++i) {
      const int64_t word = contents.add_word();
      for (int low = 0; low < width; low += 32) {
        const int bits = std::min(32, width - low);
        contents.set(word, low, bits, int64_t(random.next() >> (64 - bits)));
      }
    }
    netlist::Parameters parameters = {
        {"WIDTH", int64_t{width}},       {"WORDS", words},
        {"FILE", std::string("words")},  {"TASKS", tasks},
        {"TABLE", std::string("tasks")}, {"KIND", std::string(random.chance(0.5) ? "block" : "lutram")}};
    if (random.chance(0.5)) {
      parameters["OB_BITS"] = int64_t{3};
      parameters["PX_BITS"] = int64_t{3};
      parameters["N_BITS"] = int64_t{8};
    }
    return std::make_unique<RomWalkerCase>(parameters,
                                           MemoryImages{{"words", contents}, {"tasks", encode(rows)}}, rows);
  }

  void begin() override {
    ++run_;
    cycles_ = 0;
    taken_ = 0;
    wrong_.clear();
  }
  void transferred(const std::string&, const Beat& data, bool) override {
    const MemoryImage& contents = images.at("words");
    const int64_t word = order_[taken_++ % order_.size()];
    for (int low = 0; low < data.bits(); low += 32) {
      const int bits = std::min(32, data.bits() - low);
      if (data.get(low, bits) != contents.get(word, low, bits)) {
        wrong_ = fmt::format("beat {} is not word {}", taken_ - 1, word);
      }
    }
  }
  void observe(const BenchPins&) override { ++cycles_; }
  std::string finish() override {
    if (run_ == 1 && taken_ + 2 < cycles_) return "not one word per cycle";
    return taken_ < order_.size() ? "fewer beats than one round" : wrong_;
  }

 private:
  std::vector<int64_t> order_;  // of one round through the table
  int run_ = 0;
  size_t cycles_ = 0, taken_ = 0;
  std::string wrong_;
};

}  // namespace tilewright::pipeline
