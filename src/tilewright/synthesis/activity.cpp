// A model gives sums since it was made; an interval is the difference of two of them.
#include "tilewright/synthesis/activity.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "activity_pins.h"
#include "tilewright/base/error.h"
#include "tilewright/base/words/named_values.h"
#include "tilewright/base/words/nearest_word.h"

namespace tilewright {
namespace {

constexpr double kMostPicojoules = 1e6;

}  // namespace

Activity& Activity::operator+=(const Activity& more) {
  toggled_bits += more.toggled_bits;
  memory_bits += more.memory_bits;
  dram_bits += more.dram_bits;
  return *this;
}

double EnergyCosts::picojoules(const Activity& activity) const {
  return toggle_pj * double(activity.toggled_bits) + memory_pj * double(activity.memory_bits) +
         dram_pj * double(activity.dram_bits);
}

EnergyCosts energy_costs(const std::string& text) {
  EnergyCosts costs;
  Diagnostics diagnostics;
  for (const auto& [name, value] : named_values(text)) {
    double* const cost = name == "toggle"   ? &costs.toggle_pj
                         : name == "memory" ? &costs.memory_pj
                         : name == "dram"   ? &costs.dram_pj
                                            : nullptr;
    const std::string where = "energy cost '" + name + "'";
    if (cost == nullptr) {
      diagnostics.error(ErrorKind::kInvalidInput, where, "", "there is no such cost",
                        words_hint(name, {"toggle", "memory", "dram"}, "costs"));
      continue;
    }
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, *cost);
    if (error != std::errc() || stop != end || !(*cost >= 0 && *cost <= kMostPicojoules)) {
      diagnostics.error(ErrorKind::kInvalidInput, where, "",
                        "'" + value + "' is no number of picojoules from 0 to 1000000",
                        "write " + name + "=0.05 for 0.05 pJ per bit");
    }
  }
  diagnostics.raise_if_any();
  return costs;
}

void ActivityLog::begin(std::span<const ScopeActivity> now, uint64_t dram_bits) {
  scopes_.clear(), before_.clear(), intervals_.clear(), dram_bits_.clear();
  for (const ScopeActivity& scope : now) {
    scopes_.push_back(scope.path);
    before_.push_back({scope.toggled_bits, scope.memory_bits, 0});
  }
  dram_before_ = dram_bits;
}

std::vector<std::string> instances_of(const std::string& path) {
  constexpr size_t kAround = 2;  // TOP, and the design
  std::vector<std::string> names;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('.', at), path.size());
    names.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  names.erase(names.begin(), names.begin() + long(std::min(kAround, names.size())));
  return names;
}

void ActivityLog::end(std::span<const ScopeActivity> now, uint64_t dram_bits) {
  while (intervals_.size() <= marks_.size()) note(now, dram_bits);
}

uint64_t ActivityLog::cycles_left(uint64_t cycle) const {
  if (intervals_.size() >= marks_.size()) return ~uint64_t{0};
  const uint64_t mark = marks_[intervals_.size()];
  return mark > cycle ? mark - cycle : 0;
}

void ActivityLog::note(std::span<const ScopeActivity> now, uint64_t dram_bits) {
  TILEWRIGHT_CHECK(now.size() == before_.size(), "a model whose scopes changed");
  std::vector<Activity>& interval = intervals_.emplace_back();
  for (size_t s = 0; s < now.size(); ++s) {
    interval.push_back(
        {now[s].toggled_bits - before_[s].toggled_bits, now[s].memory_bits - before_[s].memory_bits, 0});
    before_[s] = {now[s].toggled_bits, now[s].memory_bits, 0};
  }
  dram_bits_.push_back(dram_bits - dram_before_);
  dram_before_ = dram_bits;
}

}  // namespace tilewright
