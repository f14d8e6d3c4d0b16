// What switches in a simulation of RTL, and the energy that it stands for by a model: every bit of a signal
// that changes, every bit that an on-chip memory gives or takes, and every bit that crosses to DRAM cost a
// fixed energy each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct ScopeActivity;  // rtl/harness/activity_pins.h

namespace tilewright {

struct Activity {
  uint64_t toggled_bits = 0, memory_bits = 0, dram_bits = 0;
  Activity& operator+=(const Activity& more);
  bool operator==(const Activity&) const = default;
};

// Picojoules per bit. The defaults are those of 45 nm (Horowitz, ISSCC 2014): an 8-bit addition of 0.03 pJ
// for some eight changing bits, on an FPGA fourteen times that (Kuon and Rose, TCAD 2007), 10 pJ for 64 bits
// of an 8 KiB SRAM, 1.3 nJ for 64 bits of DRAM. They serve for comparing designs and their parts, not for
// watts.
struct EnergyCosts {
  double toggle_pj = 0.05, memory_pj = 0.16, dram_pj = 20;
  double picojoules(const Activity& activity) const;
};
// "toggle=0.05,memory=0.16,dram=20", in picojoules per bit; what is not named keeps its default. Errors
// (invalid input): unknown names, numbers below 0, all of them in one.
EnergyCosts energy_costs(const std::string& text);

// The instances, and generate blocks, on the way to a scope below the top of the design: "fetcher", "queue"
// of "TOP.design.fetcher.queue". Empty: the top itself, or what is around it.
std::vector<std::string> instances_of(const std::string& path);

// The activity of one run in intervals, by scope of the design.
class ActivityLog {
 public:
  // `marks`: the ends of all intervals but the last, ascending; in cycles, as whoever runs the model counts
  // them.
  explicit ActivityLog(std::vector<uint64_t> marks = {}) : marks_(std::move(marks)) {}

  // What the model had done before the run.
  void begin(std::span<const ScopeActivity> now, uint64_t dram_bits);
  // How many cycles from this one on the present interval goes on: 0 where its end is to be noted now.
  uint64_t cycles_left(uint64_t cycle) const;
  // The end of an interval; a mark that equals the one before it has an empty one.
  void note(std::span<const ScopeActivity> now, uint64_t dram_bits);
  // The end of the run: of all intervals that are left.
  void end(std::span<const ScopeActivity> now, uint64_t dram_bits);

  const std::vector<uint64_t>& marks() const { return marks_; }
  const std::vector<std::string>& scopes() const { return scopes_; }  // paths, "TOP.design.instance"
  // By interval and scope; bits of DRAM belong to none.
  const std::vector<std::vector<Activity>>& intervals() const { return intervals_; }
  const std::vector<uint64_t>& dram_bits() const { return dram_bits_; }  // by interval

 private:
  std::vector<uint64_t> marks_;
  std::vector<std::string> scopes_;
  std::vector<Activity> before_;
  uint64_t dram_before_ = 0;
  std::vector<std::vector<Activity>> intervals_;
  std::vector<uint64_t> dram_bits_;
};

}  // namespace tilewright
