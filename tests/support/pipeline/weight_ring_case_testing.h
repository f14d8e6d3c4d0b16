// For tests: a random weight_ring, its words against the loops of its task table on the bits that came in.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/weight_ring.h"

namespace tilewright::pipeline {

class WeightRingCase : public BenchCase {
 public:
  WeightRingCase(netlist::Parameters parameters_of, MemoryImages images_of, std::vector<WeightRingRow> rows)
      : BenchCase("weight_ring", std::move(parameters_of), std::move(images_of)), rows_(std::move(rows)) {}

  static std::unique_ptr<BenchCase> make(Random& random) {
    const int64_t beat = int64_t{1} << random.between(0, 7), factor = int64_t{1} << random.between(0, 3);
    const bool cut = random.chance(0.4);
    std::vector<WeightRingRow> rows;
    const int64_t tasks = random.between(1, 4);
    for (int64_t i = 0; i < tasks; ++i) {
      WeightRingRow row{random.between(1, 3), random.between(1, 3), random.between(1, 12), false};
      rows.push_back(row);
      // A held task is followed by others of the same words.
      while (random.chance(0.5) && rows.size() < 6) {
        rows.back().hold = true;
        row.repeats = random.between(1, 3);
        rows.push_back(row);
      }
    }
    const int64_t depth = least_depth(rows) + random.between(0, 6);
    netlist::Parameters parameters = {{"WIDTH", cut ? beat : beat * factor},
                                      {"BEAT", cut ? beat * factor : beat},
                                      {"DEPTH", depth},
                                      {"TASKS", int64_t(rows.size())},
                                      {"TABLE", std::string("tasks")},
                                      {"KIND", std::string(random.chance(0.5) ? "block" : "lutram")}};
    if (random.chance(0.5)) {
      parameters["OB_BITS"] = int64_t{2};
      parameters["PX_BITS"] = int64_t{2};
      parameters["N_BITS"] = int64_t{4};
    }
    if (random.chance(0.5)) parameters["STREAM"] = words_of(rows);
    return std::make_unique<WeightRingCase>(parameters, MemoryImages{{"tasks", encode(rows)}}, rows);
  }

  void begin() override {
    bits_.clear();
    first_ = 0;
    task_ = 0;
    at_ = 0;
    taken_ = 0;
    wrong_.clear();
    pass_ = 0;
  }

  void transferred(const std::string& stream, const Beat& data, bool) override {
    if (stream == "out") return check(data);
    int64_t kept = data.bits();
    if (const int64_t words = netlist::integer_or(parameters, "STREAM", 0); words > 0) {
      const int64_t bits = words * netlist::integer(parameters, "WIDTH");
      kept = std::min(kept, bits - pass_);
      pass_ = pass_ + kept == bits ? 0 : pass_ + kept;
    }
    for (int i = 0; i < kept; ++i) bits_.push_back(data.get(i, 1) != 0);
  }

  // The stream's last beats may be cut only in part: a beat that is offered and not yet taken counts too.
  bool next(const std::string&, Beat& data, bool&, Random& random) override {
    data.randomize(random);
    offered_ = data;
    return true;
  }

  std::string finish() override { return taken_ < 20 ? "hardly a beat came out" : wrong_; }

 private:
  // Of one pass over all tasks.
  static int64_t words_of(const std::vector<WeightRingRow>& rows) {
    int64_t words = 0;
    for (const WeightRingRow& row : rows) words += row.hold ? 0 : row.outer * row.words;
    return words;
  }

  void check(const Beat& data) {
    const WeightRingRow& row = rows_[task_];
    const int64_t block = at_ / (row.repeats * row.words), n = at_ % row.words;
    const int64_t low = (first_ + block * row.words + n) * data.bits();
    for (int i = 0; i < data.bits(); ++i) {
      if (bit(low + i) != (data.get(i, 1) != 0)) wrong_ = fmt::format("beat {} is another word", taken_);
    }
    ++taken_;
    if (++at_ < row.outer * row.repeats * row.words) return;
    at_ = 0;
    if (!row.hold) first_ += row.outer * row.words;
    task_ = task_ + 1 == rows_.size() ? 0 : task_ + 1;
  }
  bool bit(int64_t at) const {
    if (at < int64_t(bits_.size())) return bits_[size_t(at)];
    const int64_t rest = at - int64_t(bits_.size());
    return rest < offered_.bits() && offered_.get(int(rest), 1) != 0;
  }

  const std::vector<WeightRingRow> rows_;
  std::vector<bool> bits_;  // all that were taken
  Beat offered_;
  int64_t pass_ = 0;            // bits of this pass among them
  int64_t first_ = 0, at_ = 0;  // the task's first word; beats of the task so far
  size_t task_ = 0, taken_ = 0;
  std::string wrong_;
};

}  // namespace tilewright::pipeline
