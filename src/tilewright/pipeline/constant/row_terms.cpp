// Counts of old pairs only ever fall, so a heap of candidates with counts that were true once is enough: a
// candidate whose count has changed goes back with its new worth. The digits that a factor offers overlap, so
// counts are upper bounds; how often a pair can really be taken is found before it is.
#include "tilewright/pipeline/constant/row_terms.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace tilewright::pipeline {

RowTerms::RowTerms(GraphBuilder& builder, const ConstantMatrix& matrix, const SharingRule& rule,
                   std::vector<int64_t> loads)
    : builder_(builder),
      rule_(rule),
      rows_(matrix.rows),
      choices_(rule.all_digits),
      random_(rule.seed),
      row_nodes_(size_t(matrix.rows)),
      loads_(size_t(matrix.rows), 0),
      most_loads_(std::move(loads)) {
  for (int column = 0; column < matrix.columns; ++column) {
    const int node = new_node();
    for (int row = 0; row < rows_; ++row) {
      const int32_t weight = matrix.at(row, column);
      if (weight == 0) continue;
      factor(node, row) = weight;
      row_nodes_[size_t(row)].push_back(node);
      loads_[size_t(row)] += digit_count(weight) * load(node);
    }
  }
}

int RowTerms::new_node() {
  factors_.emplace_back(size_t(rows_), 0);
  return int(factors_.size()) - 1;
}

std::vector<ShiftedNode> RowTerms::terms(int row) const {
  std::vector<ShiftedNode> result;
  for (const int node : row_nodes_[size_t(row)]) {
    for_each_digit(factor(node, row), [&](const Digit& digit) {
      result.push_back({node, digit.shift, digit.negative});
    });
  }
  return result;
}

namespace {

// Calls `visit` for each two digits of `choices` that a shortest sum of `value` has both of.
template <typename Visit>
void for_each_digit_pair(int64_t value, const DigitSet& choices, Visit&& visit) {
  const int count = digit_count(value);
  if (count < 2) return;
  for_each_digit(choices, [&](const Digit& first) {
    for_each_digit(choices, [&](const Digit& second) {
      if (second.shift <= first.shift) return;
      if (digit_count(value - first.value() - second.value()) == count - 2) visit(first, second);
    });
  });
}

}  // namespace

void RowTerms::count_node(int node, int row, PairCounts& counts) {
  const int64_t value = factor(node, row);
  const DigitSet own = choices_.of(value);
  for (const int other : row_nodes_[size_t(row)]) {
    if (other == node) continue;
    const DigitSet others = choices_.of(factor(other, row));
    for_each_digit(own, [&](const Digit& a) {
      for_each_digit(others, [&](const Digit& b) { counts.increase(pair_key(node, a, other, b), 1); });
    });
  }
  for_each_digit_pair(
      value, own, [&](const Digit& a, const Digit& b) { counts.increase(pair_key(node, a, node, b), 1); });
}

void RowTerms::count_all() {
  for (int row = 0; row < rows_; ++row) {
    const std::vector<int> nodes = row_nodes_[size_t(row)];
    std::vector<int>& seen = row_nodes_[size_t(row)];
    seen.clear();
    for (const int node : nodes) {
      count_node(node, row, counts_);
      seen.push_back(node);
    }
  }
}

void RowTerms::set_factor(int node, int row, int64_t value) {
  const int64_t before = factor(node, row);
  const DigitSet had = choices_.of(before), has = choices_.of(value);
  const DigitSet lost = {had.positive & ~has.positive, had.negative & ~has.negative};
  std::vector<int>& nodes = row_nodes_[size_t(row)];
  for (const int other : nodes) {
    if (other == node) continue;
    const DigitSet others = choices_.of(factor(other, row));
    for_each_digit(lost, [&](const Digit& a) {
      for_each_digit(others, [&](const Digit& b) { counts_.decrease(pair_key(node, a, other, b)); });
    });
  }
  const int left = digit_count(value);
  for_each_digit_pair(before, had, [&](const Digit& a, const Digit& b) {
    const bool still =
        left >= 2 && has.has(a) && has.has(b) && digit_count(value - a.value() - b.value()) == left - 2;
    if (!still) counts_.decrease(pair_key(node, a, node, b));
  });
  loads_[size_t(row)] += (left - digit_count(before)) * load(node);
  factor(node, row) = int32_t(value);
  if (value == 0) {
    *std::find(nodes.begin(), nodes.end(), node) = nodes.back();
    nodes.pop_back();
  }
}

PlannedSum RowTerms::plan(const TermPair& pair) const {
  return builder_.plan({pair.a, 0, false}, {pair.b, pair.shift, pair.opposite});
}

double RowTerms::worth(const TermPair& pair, int times) {
  if (times < 2) return 0;
  const GraphSum sum = plan(pair).sum;
  const int saved = builder_.number(pair.a).width + builder_.number(pair.b).width - sum.width;
  double value = rule_.power == 0 ? double(times * saved - sum.luts())
                                  : (times - 1) * std::pow(std::max(0, saved), rule_.power);
  if (rule_.noise > 0) value *= 1 + rule_.noise * (2 * random_.uniform() - 1);
  return value;
}

// Takes the pair out of the factors of one row once; `found` is the digit of the first node.
bool RowTerms::take_out(const TermPair& pair, int64_t& factor_a, int64_t& factor_b, Digit& found) {
  const bool same = pair.a == pair.b;
  const DigitSet of_a = choices_.of(factor_a), of_b = same ? of_a : choices_.of(factor_b);
  for (const bool negative : {false, true}) {
    const uint32_t a = of_a.of_sign(negative), b = of_b.of_sign(negative != pair.opposite);
    uint32_t both = pair.shift >= 0 ? a & (b >> pair.shift) : a & (b << -pair.shift);
    for (; both != 0; both &= both - 1) {
      const Digit first{std::countr_zero(both), negative};
      const Digit second{first.shift + pair.shift, negative != pair.opposite};
      if (same) {
        const int64_t rest = factor_a - first.value() - second.value();
        if (digit_count(rest) != digit_count(factor_a) - 2) continue;
        factor_a = rest;
      } else {
        factor_a -= first.value(), factor_b -= second.value();
      }
      found = first;
      return true;
    }
  }
  return false;
}

int RowTerms::occurrences(const TermPair& pair, std::vector<Place>* places) {
  const std::vector<int32_t>& of_a = factors_[size_t(pair.a)];
  const std::vector<int32_t>& of_b = factors_[size_t(pair.b)];
  const int64_t taken = load(pair.a) + load(pair.b);
  const int64_t given = int64_t{1} << plan(pair).sum.depth;
  int times = 0;
  for (int row = 0; row < rows_; ++row) {
    int64_t a = of_a[size_t(row)], b = of_b[size_t(row)], row_load = loads_[size_t(row)];
    Digit found;
    while (a != 0 && b != 0) {
      if (row_load - taken + given > most_loads_[size_t(row)]) break;
      if (!take_out(pair, a, b, found)) break;
      if (pair.a == pair.b) b = a;
      row_load += given - taken;
      ++times;
      if (places != nullptr) places->push_back({row, found});
    }
  }
  return times;
}

void RowTerms::replace(const TermPair& pair, const std::vector<Place>& places) {
  const PlannedSum planned = plan(pair);
  builder_.add(planned);
  const int node = new_node();
  fresh_.clear();
  for (size_t i = 0; i < places.size();) {
    const int row = places[i].row;
    int64_t own = 0;
    for (; i < places.size() && places[i].row == row; ++i) {
      const Digit first = places[i].digit;
      const Digit second{first.shift + pair.shift, first.negative != pair.opposite};
      set_factor(pair.a, row, factor(pair.a, row) - first.value());
      set_factor(pair.b, row, factor(pair.b, row) - second.value());
      own += Digit{std::min(first.shift, second.shift), first.negative != planned.negated}.value();
    }
    if (own == 0) continue;  // the row had it twice, with opposite signs
    factor(node, row) = int32_t(own);
    row_nodes_[size_t(row)].push_back(node);
    loads_[size_t(row)] += digit_count(own) * load(node);
    count_node(node, row, fresh_);
  }
}

void RowTerms::share(const CpuLimit& limit) {
  count_all();
  std::priority_queue<Candidate> candidates;
  const auto offer = [&](PairKey key, int pairs) {
    if (pairs < 2) return;
    const double value = worth(pair_of(key), pairs);
    if (value > 0) candidates.push({value, key, pairs, false});
  };
  counts_.for_each(offer);
  std::vector<Place> places;
  for (int64_t step = 0; !candidates.empty(); ++step) {
    if (step % 64 == 0 && limit.over()) return;
    const Candidate best = candidates.top();
    candidates.pop();
    const int pairs = counts_.at(best.key);
    const TermPair pair = pair_of(best.key);
    if (!best.exact || best.pairs != pairs) {
      const double value = worth(pair, occurrences(pair, nullptr));
      if (value <= 0) continue;
      if (!candidates.empty() && value < candidates.top().worth) {
        candidates.push({value, best.key, pairs, true});
        continue;
      }
    }
    places.clear();
    if (occurrences(pair, &places) < 2) continue;
    replace(pair, places);
    fresh_.for_each([&](PairKey key, int count) {
      if (count < 2) return;
      counts_.increase(key, count);
      offer(key, count);
    });
  }
}

}  // namespace tilewright::pipeline
