// A deletion filter: limits are lifted one after the other; one without which there is still no mapping is
// not part of the conflict and stays lifted, the others are put back. What stays is a smallest conflicting
// set.
#include "tilewright/spatial/mapper/mapper_infeasible.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "tilewright/spatial/mapper/mapper_tree.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxNodes = 100'000;         // of one question whether there is a mapping
constexpr int64_t kPlenty = int64_t{1} << 40;  // words

struct Question {
  Mapspace mapspace;
  CostRules rules;
  std::optional<int64_t> max_cycles;
  const Deadline* deadline = nullptr;
};

// Whether there is a mapping; true also if that takes too long to tell.
class Existence {
 public:
  explicit Existence(const Question& question)
      : question_(question), tree_(question.mapspace, question.rules), found_(false) {}

  bool holds() {
    tree_.roots([&](MapNode&& node) { look(node); });
    return found_ || nodes_ > kMaxNodes;
  }

 private:
  void look(const MapNode& node) {
    if (found_ || ++nodes_ > kMaxNodes) return;
    if (question_.deadline) question_.deadline->check();
    if (question_.max_cycles && node.dimension == 0) {
      const std::optional<CostBound> bound = tree_.bound(node);
      if (!bound || bound->cycles > *question_.max_cycles) return;
    }
    if (!tree_.complete(node)) {
      tree_.expand(node, [&](MapNode&& child) { look(child); });
    } else if (!question_.max_cycles) {
      found_ = true;
    } else {
      tree_.leaves(node, [&](MapLeaf&& leaf) { found_ = found_ || leaf.cycles <= *question_.max_cycles; });
    }
  }

  const Question& question_;
  MapTree tree_;
  bool found_;
  int64_t nodes_ = 0;
};

bool has_mapping(const Question& question) {
  Diagnostics diagnostics;
  question.mapspace.verify(diagnostics);
  return diagnostics.ok() && Existence(question).holds();
}

struct Limit {
  std::function<void(Question&)> lift;
  // With every other limit of the conflict in place.
  std::function<std::string(const Question&)> describe;
};

// The smallest number that makes `set` leave a mapping, between `low` (which does not) and kPlenty.
int64_t needed(Question question, int64_t low, const std::function<void(Question&, int64_t)>& set) {
  int64_t high = std::max<int64_t>(1, low);
  do {
    high = std::min(high * 2, kPlenty);
    set(question, high);
  } while (!has_mapping(question) && high < kPlenty);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    set(question, middle);
    (has_mapping(question) ? high : low) = middle;
  }
  return high;
}

std::string kept_names(const Mapspace& mapspace, size_t level) {
  std::string names;
  for (int space = 0; space < mapspace.workload.data_space_count(); ++space) {
    const bool constrained =
        level < mapspace.constraints.size() && (mapspace.constraints[level].must_keep >> space & 1u) != 0;
    const uint32_t role = 1u << int(data_role(mapspace.workload, space));
    if (!constrained && (mapspace.hardware.levels[level].must_keep & role) == 0) continue;
    names += (names.empty() ? "" : ", ") + mapspace.workload.data_spaces[size_t(space)].name;
  }
  return names;
}

std::vector<Limit> limits_of_level(const Mapspace& mapspace, size_t l) {
  std::vector<Limit> limits;
  const ArrayLevel& level = mapspace.hardware.levels[l];
  const auto capacity = [&](const std::string& what, int64_t words, auto set) {
    limits.push_back({[=](Question& q) { set(q, kPlenty); },
                      [=](const Question& q) {
                        return fmt::format("level '{}' has {} words{}, {} are needed",
                                           q.mapspace.hardware.levels[l].name, words, what,
                                           needed(q, words, set));
                      }});
  };
  if (level.capacity_words > 0) {
    capacity("", level.capacity_words,
             [l](Question& q, int64_t words) { q.mapspace.hardware.levels[l].capacity_words = words; });
  }
  const char* roles[] = {"inputs", "weights", "outputs"};
  for (size_t r = 0; r < kDataRoles; ++r) {
    if (level.role_capacity_words[r] <= 0) continue;
    capacity(
        fmt::format(" for {}", roles[r]), level.role_capacity_words[r],
        [l, r](Question& q, int64_t words) { q.mapspace.hardware.levels[l].role_capacity_words[r] = words; });
  }
  if (l > 0 && !kept_names(mapspace, l).empty()) {
    limits.push_back({[l](Question& q) {
                        q.mapspace.hardware.levels[l].must_keep = 0;
                        if (l < q.mapspace.constraints.size()) q.mapspace.constraints[l].must_keep = 0;
                      },
                      [l](const Question& q) {
                        return fmt::format("level '{}' must keep {}", q.mapspace.hardware.levels[l].name,
                                           kept_names(q.mapspace, l));
                      }});
  }
  if (l >= mapspace.constraints.size()) return limits;
  const auto fixed = [&](const char* kind, auto member) {
    std::string factors;
    const std::vector<int64_t>& values = mapspace.constraints[l].*member;
    for (size_t d = 0; d < values.size(); ++d) {
      if (values[d] != kFree)
        factors += fmt::format(" {}={}", mapspace.workload.dimensions[d].name, values[d]);
    }
    if (factors.empty()) return;
    limits.push_back({[l, member](Question& q) { (q.mapspace.constraints[l].*member).clear(); },
                      [=, name = level.name](const Question&) {
                        return fmt::format("level '{}' has fixed {} factors{}", name, kind, factors);
                      }});
  };
  fixed("temporal", &LevelConstraints::temporal);
  fixed("x", &LevelConstraints::spatial_x);
  fixed("y", &LevelConstraints::spatial_y);
  return limits;
}

}  // namespace

std::string explain_infeasible(const Mapspace& mapspace, const MapperOptions& options) {
  Question question{mapspace, options.rules, options.max_cycles, options.deadline};
  std::vector<Limit> limits;
  if (options.max_cycles) {
    limits.push_back(
        {[](Question& q) { q.max_cycles.reset(); },
         [&](const Question& q) {
           const int64_t least = needed(q, *options.max_cycles,
                                        [](Question& asked, int64_t cycles) { asked.max_cycles = cycles; });
           return fmt::format("at most {} cycles are allowed, {} are needed", *options.max_cycles, least);
         }});
  }
  for (size_t l = 0; l < mapspace.hardware.levels.size(); ++l) {
    for (Limit& limit : limits_of_level(mapspace, l)) limits.push_back(std::move(limit));
  }
  std::vector<const Limit*> conflict;
  for (const Limit& limit : limits) {
    Question without = question;
    limit.lift(without);
    if (has_mapping(without)) {
      conflict.push_back(&limit);
    } else {
      question = std::move(without);
    }
  }
  std::string text;
  for (const Limit* limit : conflict) text += (text.empty() ? "" : "; ") + limit->describe(question);
  return text.empty() ? "no combination of factors fits" : text;
}

}  // namespace tilewright
