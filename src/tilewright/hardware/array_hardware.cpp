// What follows from an array description (instances, area) and the rules it obeys.
#include "tilewright/hardware/array_hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tilewright/base/plain_text.h"
#include "tilewright/hardware/array_rules.h"

namespace tilewright {
namespace {

constexpr uint32_t kAllRoles = (1u << kDataRoles) - 1u;

std::string role_list(uint32_t roles) {
  std::string text;
  for (int role = 0; role < kDataRoles; ++role) {
    if (roles >> role & 1u) text += (text.empty() ? "" : ", ") + std::string(kDataRoleNames[size_t(role)]);
  }
  return text;
}

bool plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

class Rules {
 public:
  explicit Rules(const ArrayHardware& hardware) : hardware_(hardware) {}

  std::vector<ArrayProblem> run() {
    whole_array();
    for (size_t l = 0; l < hardware_.levels.size(); ++l) {
      level_ = int(l);
      const ArrayLevel& level = hardware_.levels[l];
      name(level);
      if (l == 0) outermost(level);
      capacities(level);
      keeps(level);
      costs(level);
    }
    level_ = -1;
    instances();
    return std::move(problems_);
  }

 private:
  void problem(std::string field, std::string message, std::string hint = {}) {
    problems_.push_back({level_, std::move(field), std::move(message), std::move(hint)});
  }

  void cost(const std::string& field, double value) {
    if (value >= 0 && value <= kMostArrayCost) return;
    problem(field, fmt::format("{} is not in 0..{:g}", value, kMostArrayCost));
  }

  void whole_array() {
    if (hardware_.name.empty()) problem("name", "is empty", "give the array a name");
    if (!valid_utf8(hardware_.name)) problem("name", "is not UTF-8", "write it in UTF-8");
    if (hardware_.word_bits < 1 || hardware_.word_bits > 64) {
      problem("word_bits", fmt::format("{} is not in 1..64", hardware_.word_bits));
    }
    cost("arithmetic.energy", hardware_.mac_energy);
    cost("arithmetic.area_um2", hardware_.mac_area_um2);
    cost("clock_mhz", hardware_.clock_mhz);
    if (hardware_.levels.empty() || hardware_.levels.size() > size_t(kMostArrayLevels)) {
      problem("levels",
              fmt::format("{} levels, there must be 1..{}", hardware_.levels.size(), kMostArrayLevels));
    }
  }

  void name(const ArrayLevel& level) {
    if (!plain_name(level.name)) {
      problem("name", fmt::format("'{}' is not a name of letters, digits and underscores", level.name));
    } else if (!names_.insert(level.name).second) {
      problem("name", fmt::format("a second level '{}'", level.name), "level names must differ");
    }
  }

  void outermost(const ArrayLevel& level) {
    const bool unlimited = level.capacity_words == kUnlimitedWords &&
                           std::all_of(level.role_capacity_words.begin(), level.role_capacity_words.end(),
                                       [](int64_t words) { return words == kUnlimitedWords; });
    if (!unlimited) {
      problem("capacity_words", "the outermost level is main memory and must be unlimited",
              "add a level for it outside of this one");
    }
    if ((level.may_keep & kAllRoles) != kAllRoles) {
      problem("may_keep", "the outermost level must keep input, weight and output");
    }
  }

  void capacities(const ArrayLevel& level) {
    const auto check = [&](const std::string& field, int64_t words) {
      if (words == kUnlimitedWords || (words >= 0 && words <= kMostArrayWords)) return;
      problem(field, fmt::format("{} words are not in 0..2^40", words), "or say unlimited");
    };
    check("capacity_words", level.capacity_words);
    for (size_t role = 0; role < kDataRoles; ++role) {
      check("role_capacity_words", level.role_capacity_words[role]);
    }
    if (level.copies < 1 || level.copies > 1 << 20) {
      problem("copies", fmt::format("{} is not in 1..2^20", level.copies), "2 is double buffering");
    }
  }

  void keeps(const ArrayLevel& level) {
    if (level.may_keep & ~kAllRoles) problem("may_keep", "has bits of roles that do not exist");
    if (const uint32_t forbidden = level.must_keep & ~level.may_keep) {
      problem("must_keep",
              fmt::format("{} must be kept but is not among those that may be kept", role_list(forbidden)),
              "name it under may_keep too");
    }
    for (int role = 0; role < kDataRoles; ++role) {
      if ((level.must_keep >> role & 1u) == 0) continue;
      const int64_t reserved = level.role_capacity_words[size_t(role)];
      if ((reserved == kUnlimitedWords ? level.capacity_words : reserved) == 0) {
        problem("must_keep",
                fmt::format("{} must be kept, but there are 0 words for it", kDataRoleNames[size_t(role)]));
      }
    }
  }

  void costs(const ArrayLevel& level) {
    cost("energy.read", level.read_energy);
    cost("energy.fill", level.fill_energy);
    cost("energy.update", level.update_energy);
    cost("bandwidth.read", level.read_words_per_cycle);
    cost("bandwidth.write", level.write_words_per_cycle);
    cost("area_um2", level.area_um2);
    cost("network.delivery_energy", level.network.delivery_energy);
    cost("network.hop_energy", level.network.hop_energy);
    for (const double words : level.network.words_per_cycle) cost("network.words_per_cycle", words);
  }

  void instances() {
    int64_t count = 1;
    for (size_t l = 0; l < hardware_.levels.size(); ++l) {
      level_ = int(l);
      for (const int64_t fanout : {hardware_.levels[l].fanout_x, hardware_.levels[l].fanout_y}) {
        if (fanout < 1 || fanout > kMostArrayInstances) {
          problem("fanout", fmt::format("{} is not in 1..2^30", fanout));
          return;
        }
        // Both factors are at most 2^30.
        count *= fanout;
        if (count > kMostArrayInstances) {
          problem("fanout", fmt::format("{} instances below this level are more than 2^30", count));
          return;
        }
      }
    }
  }

  const ArrayHardware& hardware_;
  std::vector<ArrayProblem> problems_;
  std::set<std::string> names_;
  int level_ = -1;
};

}  // namespace

std::vector<ArrayProblem> array_problems(const ArrayHardware& hardware) { return Rules(hardware).run(); }

int64_t ArrayHardware::instances(int level) const {
  int64_t count = 1;
  for (int l = 0; l < level; ++l) count *= levels[size_t(l)].fanout_x * levels[size_t(l)].fanout_y;
  return count;
}

double ArrayHardware::area_um2() const {
  double area = double(pe_count()) * mac_area_um2;
  for (size_t l = 0; l < levels.size(); ++l) area += double(instances(int(l))) * levels[l].area_um2;
  return area;
}

void ArrayHardware::verify(Diagnostics& diagnostics) const {
  for (const ArrayProblem& p : array_problems(*this)) {
    std::string where = fmt::format("array '{}'", name);
    if (p.level >= 0) where += fmt::format(", level '{}'", levels[size_t(p.level)].name);
    diagnostics.error(ErrorKind::kInvalidInput, where, p.field, p.message, p.hint);
  }
}

}  // namespace tilewright
