// The subset recursion of Held and Karp (1962) on differences of measured orders. Labels of a subset are
// reduced to those that no other label of the subset beats.
#include "tilewright/spatial/mapper/mapper_orders.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

using Orders = std::vector<std::vector<int>>;

struct Label {
  OrderMeasure measure;
  std::vector<int> inside_out;  // the loops placed so far
};

// `margin`: energies that differ by less differ by rounding.
bool beats(const OrderMeasure& a, const OrderMeasure& b, double margin) {
  if (a.energy > b.energy + margin) return false;
  for (size_t i = 0; i < a.words.size(); ++i) {
    if (a.words[i] > b.words[i]) return false;
  }
  return true;
}

void add_label(std::vector<Label>& labels, Label label, double margin) {
  for (const Label& known : labels) {
    if (beats(known.measure, label.measure, margin)) return;
  }
  std::erase_if(labels, [&](const Label& known) { return beats(label.measure, known.measure, margin); });
  labels.push_back(std::move(label));
}

void add_measure(const OrderMeasure& term, OrderMeasure& sum) {
  sum.energy += term.energy;
  for (size_t p = 0; p < term.words.size(); ++p) sum.words[p] += term.words[p];
}

OrderMeasure less(OrderMeasure a, const OrderMeasure& b) {
  a.energy -= b.energy;
  for (size_t p = 0; p < a.words.size(); ++p) a.words[p] -= b.words[p];
  return a;
}

class LevelOrders {
 public:
  using Measure = std::function<OrderMeasure(const Orders&)>;

  // `fixed`: loops inside all of `loops`, outermost first.
  LevelOrders(Orders base, int level, std::vector<int> loops, std::vector<int> fixed, const Measure& measure,
              const SettledOrders& settled, int64_t& evaluations)
      : orders_(std::move(base)),
        level_(size_t(level)),
        loops_(std::move(loops)),
        fixed_(std::move(fixed)),
        measure_(measure),
        settled_(settled),
        evaluations_(evaluations) {}

  std::vector<Label> solve(const OrderMeasure& start, double margin) {
    const uint32_t all = (1u << loops_.size()) - 1;
    std::vector<std::vector<Label>> by_subset(size_t(all) + 1);
    canonical_.assign(size_t(all) + 1, {});
    by_subset[0].push_back({start, {}});
    for (uint32_t inside = 0; inside < all; ++inside) {
      if (by_subset[inside].empty()) continue;
      if (settled_(int(level_), with_fixed(ascending(inside)))) {
        // One order of the rest stands for all.
        const OrderMeasure term = less(canonical(inside), canonical(0));
        const std::vector<int> outside = ascending(all & ~inside);
        for (Label& label : by_subset[inside]) {
          add_measure(term, label.measure);
          label.inside_out.insert(label.inside_out.end(), outside.begin(), outside.end());
          add_label(by_subset[all], std::move(label), margin);
        }
        by_subset[inside].clear();
        continue;
      }
      for (size_t i = 0; i < loops_.size(); ++i) {
        if ((inside >> i & 1u) != 0) continue;
        const OrderMeasure term = difference(inside, i);
        for (const Label& label : by_subset[inside]) {
          Label next = label;
          add_measure(term, next.measure);
          next.inside_out.push_back(loops_[i]);
          add_label(by_subset[inside | 1u << i], std::move(next), margin);
        }
      }
      by_subset[inside].clear();
    }
    return std::move(by_subset[all]);
  }

  std::vector<int> outermost_first(const std::vector<int>& inside_out) const {
    std::vector<int> order(inside_out.rbegin(), inside_out.rend());
    order.insert(order.end(), fixed_.begin(), fixed_.end());
    return order;
  }

 private:
  OrderMeasure evaluate(const std::vector<int>& inside_out) {
    ++evaluations_;
    orders_[level_] = outermost_first(inside_out);
    return measure_(orders_);
  }

  std::vector<int> ascending(uint32_t subset) const {
    std::vector<int> out;
    for (size_t i = 0; i < loops_.size(); ++i) {
      if ((subset >> i & 1u) != 0) out.push_back(loops_[i]);
    }
    return out;
  }

  std::vector<int> with_fixed(std::vector<int> inside) const {
    inside.insert(inside.end(), fixed_.begin(), fixed_.end());
    return inside;
  }

  // The order that puts `subset` inside, both parts ascending inside out.
  const OrderMeasure& canonical(uint32_t subset) {
    const uint32_t all = (1u << loops_.size()) - 1;
    // The same order as the subset with the next loops in line taken in: a prefix of it.
    std::vector<int> order = ascending(subset);
    const std::vector<int> outside = ascending(all & ~subset);
    order.insert(order.end(), outside.begin(), outside.end());
    const bool sorted = std::is_sorted(order.begin(), order.end());
    std::optional<OrderMeasure>& known = canonical_[sorted ? 0 : subset];
    if (!known) known = evaluate(order);
    return *known;
  }

  // The term of loop i with `inside` inside it, but for a part that depends on the subsets alone and cancels
  // along every path.
  OrderMeasure difference(uint32_t inside, size_t i) {
    const uint32_t grown = inside | 1u << i;
    if ((inside >> i) == 0) {  // i comes after all of them: the canonical order of `grown`
      return less(canonical(grown), canonical(grown));
    }
    std::vector<int> order = ascending(inside);
    order.push_back(loops_[i]);
    const std::vector<int> outside = ascending(((1u << loops_.size()) - 1) & ~grown);
    order.insert(order.end(), outside.begin(), outside.end());
    return less(evaluate(order), canonical(grown));
  }

  Orders orders_;
  size_t level_;
  std::vector<int> loops_, fixed_;
  const Measure& measure_;
  const SettledOrders& settled_;
  int64_t& evaluations_;
  std::vector<std::optional<OrderMeasure>> canonical_;
};

}  // namespace

std::vector<OrderedMapping> best_orders(const MapspaceChoices& choices, const std::vector<int64_t>& factors,
                                        const std::function<OrderMeasure(const Orders&)>& measure,
                                        const SettledOrders& settled, int64_t& evaluations) {
  // The starting orders: the free loops outermost, descending, so that inside out they ascend.
  Orders base;
  std::vector<std::vector<int>> free_loops, fixed_loops;
  for (int l = 0; l < choices.levels(); ++l) {
    const int slot = choices.slot_of(l, SlotKind::kTemporal);
    const std::vector<int>& innermost = choices.constraints(l).innermost;
    std::vector<int> free;
    std::vector<int> all;
    for (int d = 0; d < choices.dimensions(); ++d) {
      if (factors[size_t(slot * choices.dimensions() + d)] == 1) continue;
      all.push_back(d);
      if (std::find(innermost.begin(), innermost.end(), d) == innermost.end()) free.push_back(d);
    }
    const std::vector<int> constrained = choices.constrained_order(l, all);
    fixed_loops.emplace_back(constrained.begin() + std::ptrdiff_t(free.size()), constrained.end());
    std::vector<int> order(free.rbegin(), free.rend());
    order.insert(order.end(), fixed_loops.back().begin(), fixed_loops.back().end());
    base.push_back(std::move(order));
    free_loops.push_back(std::move(free));
  }
  ++evaluations;
  std::vector<OrderedMapping> found{{base, measure(base)}};
  const double margin = 1e-13 * std::abs(found.front().measure.energy);
  for (int l = 0; l < choices.levels(); ++l) {
    if (free_loops[size_t(l)].size() < 2) continue;
    LevelOrders level(base, l, free_loops[size_t(l)], fixed_loops[size_t(l)], measure, settled, evaluations);
    // Terms of a level add to any measure: solved once from zero, then combined with what was found.
    const OrderMeasure zero = less(found.front().measure, found.front().measure);
    const std::vector<Label> ways = level.solve(zero, margin);
    std::vector<OrderedMapping> next;
    for (const OrderedMapping& before : found) {
      for (const Label& way : ways) {
        OrderedMapping candidate = before;
        add_measure(way.measure, candidate.measure);
        candidate.orders[size_t(l)] = level.outermost_first(way.inside_out);
        const auto beaten = [&](const OrderedMapping& known) {
          return beats(known.measure, candidate.measure, margin);
        };
        if (std::any_of(next.begin(), next.end(), beaten)) continue;
        std::erase_if(next, [&](const OrderedMapping& known) {
          return beats(candidate.measure, known.measure, margin);
        });
        next.push_back(std::move(candidate));
      }
    }
    found = std::move(next);
  }
  return found;
}

}  // namespace tilewright
