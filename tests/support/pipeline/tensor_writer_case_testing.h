// For tests: a random tensor_writer, its writes against the loops of its task table.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/tensor_writer.h"

namespace tilewright::pipeline {

class TensorWriterCase : public BenchCase {
 public:
  TensorWriterCase(netlist::Parameters parameters_of, MemoryImages images_of,
                   const std::vector<TensorWriterRow>& rows)
      : BenchCase("tensor_writer", std::move(parameters_of), std::move(images_of)),
        units_(size("UNITS")),
        address_bits_(size("A")),
        parts_(size("PI") / size("PF")) {
    for (const TensorWriterRow& row : rows) walk(row);
  }

  static std::unique_ptr<BenchCase> make(Random& random) {
    const int64_t pf = random.between(1, 5), parts = random.between(1, 4), units = random.between(1, 3);
    const int64_t tasks = random.between(1, 4);
    std::vector<TensorWriterRow> rows;
    for (int64_t i = 0; i < tasks; ++i) {
      TensorWriterRow row;
      row.unit = random.between(0, units - 1);
      row.base = random.between(0, 200);
      row.outer = random.between(1, 3);
      row.outer_step = random.between(0, 3);
      row.row_step = random.between(0, 90);
      row.column_step = random.between(0, 9);
      row.rows = random.between(1, 5);
      row.columns = random.between(1, 5);
      row.beats = random.between(1, 7);
      row.limit = random.between(1, 9);
      rows.push_back(row);
    }
    netlist::Parameters parameters = {{"AW", random.between(1, 9)},
                                      {"PI", pf * parts},
                                      {"PF", pf},
                                      {"UNITS", units},
                                      {"A", random.between(5, 20)},
                                      {"TASKS", tasks},
                                      {"TABLE", std::string("tasks")}};
    if (random.chance(0.5)) {
      parameters["OB_BITS"] = int64_t{2};
      parameters["SIZE_BITS"] = int64_t{4};
      parameters["D_BITS"] = int64_t{3};
      parameters["W_BITS"] = int64_t{5};
    }
    return std::make_unique<TensorWriterCase>(parameters, MemoryImages{{"tasks", encode(rows)}}, rows);
  }

  bool is_stream(const std::string& name) const override { return name == "in"; }
  void begin() override {
    ++run_;
    waiting_.clear();
    next_ = 0;
    taken_ = 0;
    tasks_ = 0;
    wrong_.clear();
  }

  void drive(BenchPins& pins, Random& random) override {
    const uint64_t all = (uint64_t{1} << units_) - 1;
    pins.set("wr_ready", run_ == 1 ? all : random.next() & all);
    // The task whose last beat is still waiting is not counted yet.
    const int64_t counted = int64_t(pins.get("progress"));
    if (counted != tasks_ && counted + 1 != tasks_) wrong_ = "progress is not the number of tasks";
    const bool clear = counted == tasks_ && random.chance(0.01);
    pins.set("clear", clear ? 1 : 0);
    if (clear) tasks_ = 0;
  }

  void transferred(const std::string&, const Beat& data, bool) override {
    const Write& write = writes_[next_];
    if (write.written) waiting_.push_back({next_, data});
    if (write.ends) ++tasks_;
    next_ = next_ + 1 == writes_.size() ? 0 : next_ + 1;
    ++taken_;
  }

  void observe(const BenchPins& pins) override {
    const uint64_t granted = pins.get("wr_valid") & pins.get("wr_ready");
    if (granted == 0) return;
    if (waiting_.empty()) {
      wrong_ = "a write that no beat asked for";
      return;
    }
    const Write& write = writes_[waiting_.front().first];
    if (int(granted) != 1 << write.unit || pins.get("wr_address") != write.address ||
        pins.get("wr_part") != write.part || !(pins.get_beat("wr_data") == waiting_.front().second)) {
      wrong_ = fmt::format("beat {} of a round went to another place", waiting_.front().first);
    }
    waiting_.pop_front();
  }
  std::string finish() override {
    return waiting_.size() > 2 ? "writes are missing" : taken_ < 100 ? "hardly a beat was taken" : wrong_;
  }

 private:
  struct Write {
    int unit = 0;
    uint64_t address = 0, part = 0;
    bool written = true, ends = false;
  };

  void walk(const TensorWriterRow& r) {
    const int64_t total = r.outer * r.rows * r.columns * r.beats;
    for (int64_t i = 0; i < total; ++i) {
      const int64_t d = i % r.beats, x = i / r.beats % r.columns, y = i / (r.beats * r.columns) % r.rows;
      const int64_t ob = i / (r.beats * r.columns * r.rows);
      const int64_t w = ob * r.outer_step + d / parts_;
      Write write;
      write.unit = int(r.unit);
      write.address =
          uint64_t(r.base + y * r.row_step + x * r.column_step + w) & ((uint64_t{1} << address_bits_) - 1);
      write.part = uint64_t(d % parts_);
      write.written = w < r.limit;
      write.ends = i + 1 == total;
      writes_.push_back(write);
    }
  }

  int size(const char* name) const { return int(netlist::integer(parameters, name)); }

  const int units_, address_bits_, parts_;
  std::vector<Write> writes_;  // of one round through the table
  int run_ = 0;
  std::deque<std::pair<size_t, Beat>> waiting_;
  size_t next_ = 0;
  int64_t taken_ = 0, tasks_ = 0;
  std::string wrong_;
};

}  // namespace tilewright::pipeline
