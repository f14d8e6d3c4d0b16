// For tests: a random tensor_memory, what it reads against an array of words.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/task_rows.h"

namespace tilewright::pipeline {

class TensorMemoryCase : public BenchCase {
 public:
  explicit TensorMemoryCase(netlist::Parameters parameters_of)
      : BenchCase("tensor_memory", std::move(parameters_of)),
        readers_(size("READERS")),
        writers_(size("WRITERS")),
        parts_(size("PARTS")),
        words_(size("WORDS")),
        part_bits_(size("WIDTH") / parts_) {}

  static std::unique_ptr<BenchCase> make(Random& random) {
    const int64_t parts = random.between(1, 4);
    const char* const kinds[] = {"block", "ultra", "lutram"};
    return std::make_unique<TensorMemoryCase>(
        netlist::Parameters{{"PARTS", parts},
                            {"WIDTH", parts * random.between(1, 40)},
                            {"WORDS", random.between(1, 40)},
                            {"READERS", random.between(1, 4)},
                            {"WRITERS", random.between(1, 4)},
                            {"KIND", std::string(kinds[random.between(0, 2)])}});
  }

  void begin() override {
    contents_.assign(size_t(words_), Beat(part_bits_ * parts_));
    read_ = reading_ = {};
    reads_ = 0;
    wrong_.clear();
  }

  void drive(BenchPins& pins, Random& random) override {
    const int address = index_bits(words_), part = index_bits(parts_);
    read_address_ = Beat(readers_ * address);
    write_address_ = Beat(writers_ * address);
    write_part_ = Beat(writers_ * part);
    write_data_ = Beat(writers_ * part_bits_);
    write_data_.randomize(random);
    for (int i = 0; i < readers_; ++i) {
      read_address_.set(i * address, address, uint64_t(random.between(0, words_ - 1)));
    }
    for (int i = 0; i < writers_; ++i) {
      write_address_.set(i * address, address, uint64_t(random.between(0, words_ - 1)));
      write_part_.set(i * part, part, uint64_t(random.between(0, parts_ - 1)));
    }
    pins.set_beat("rd_address", read_address_);
    pins.set_beat("wr_address", write_address_);
    pins.set_beat("wr_part", write_part_);
    pins.set_beat("wr_data", write_data_);
    if (readers_ > 1) pins.set("rd_valid", random.next() & ((1u << readers_) - 1));
    if (writers_ > 1) pins.set("wr_valid", random.next() & ((1u << writers_) - 1));
    if (readers_ == 1) pins.set("rd_valid", random.chance(0.5));
    if (writers_ == 1) pins.set("wr_valid", random.chance(0.5));
  }
  bool is_stream(const std::string&) const override { return false; }

  void observe(const BenchPins& pins) override {
    if (read_.bits() > 0 && !(pins.get_beat("rd_data") == read_)) {
      wrong_ = fmt::format("read {} gave another word", reads_);
    }
    read_ = std::exchange(reading_, {});
    const int reader = granted(pins, "rd"), writer = granted(pins, "wr");
    const int address = index_bits(words_), part = index_bits(parts_);
    if (reader >= 0) {
      reading_ = contents_[read_address_.get(reader * address, address)];
      ++reads_;
    }
    if (writer < 0) return;
    Beat& word = contents_[write_address_.get(writer * address, address)];
    const int low = int(write_part_.get(writer * part, part)) * part_bits_;
    for (int i = 0; i < part_bits_; ++i) {
      word.set(low + i, 1, write_data_.get(writer * part_bits_ + i, 1));
    }
  }
  std::string finish() override { return reads_ < 100 ? "hardly a read" : wrong_; }

 private:
  int size(const char* name) const { return int(netlist::integer(parameters, name)); }
  // The one that is served; -1: none. Two at once would be seen as a difference to the model.
  static int granted(const BenchPins& pins, const std::string& port) {
    const uint64_t both = pins.get(port + "_valid") & pins.get(port + "_ready");
    return both == 0 ? -1 : std::countr_zero(both);
  }

  const int readers_, writers_, parts_, words_, part_bits_;
  std::vector<Beat> contents_;
  Beat read_address_, write_address_, write_part_, write_data_;
  Beat reading_, read_;  // granted in the cycle before, two cycles before; no bits: none
  int64_t reads_ = 0;
  std::string wrong_;
};

}  // namespace tilewright::pipeline
