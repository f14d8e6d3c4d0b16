// Rows of a matrix as terms, and the search for pairs of terms that many of them have: each such pair becomes
// a sum, the best first, until none is worth it. Which digits a factor is written with is left open until a
// pair uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/pipeline/constant/cpu_limit.h"
#include "tilewright/pipeline/constant/graph_builder.h"
#include "tilewright/pipeline/constant/pair_counts.h"
#include "tilewright/pipeline/constant/signed_digits.h"

namespace tilewright::pipeline {

// How pairs are chosen.
struct SharingRule {
  bool all_digits = true;  // every shortest sum of digits; false: the non-adjacent form alone
  // What a pair found n times is worth: 0: the bits that it saves less its tables; otherwise (n - 1) times
  // its bits to this power.
  double power = 0;
  double noise = 0;  // the worth is off by up to this share, by chance
  uint64_t seed = 0;
};

// A row fits a depth of sums if the loads of its terms, 2^depth of each, sum up to 2^depth or less.
class RowTerms {
 public:
  // Rows whose terms are nodes of `builder`, which takes the sums. `loads`: the most that a row may have.
  RowTerms(GraphBuilder& builder, const ConstantMatrix& matrix, const SharingRule& rule,
           std::vector<int64_t> loads);

  void share(const CpuLimit& limit);
  std::vector<ShiftedNode> terms(int row) const;

 private:
  struct Place {
    int row = 0;
    Digit digit;  // of the pair's first node
  };
  struct Candidate {
    double worth = 0;
    PairKey key = 0;
    int pairs = 0;  // the count at that time
    bool exact = false;
    bool operator<(const Candidate& other) const {
      return worth != other.worth ? worth < other.worth : key > other.key;
    }
  };

  int32_t& factor(int node, int row) { return factors_[size_t(node)][size_t(row)]; }
  int32_t factor(int node, int row) const { return factors_[size_t(node)][size_t(row)]; }
  int new_node();
  void count_all();
  // Counts the pairs of `node` in `row` into `counts`: with other nodes and with itself.
  void count_node(int node, int row, PairCounts& counts);
  void set_factor(int node, int row, int64_t value);
  int occurrences(const TermPair& pair, std::vector<Place>* places);
  bool take_out(const TermPair& pair, int64_t& factor_a, int64_t& factor_b, Digit& found);
  PlannedSum plan(const TermPair& pair) const;
  double worth(const TermPair& pair, int times);
  void replace(const TermPair& pair, const std::vector<Place>& places);
  int64_t load(int node) const { return int64_t{1} << builder_.number(node).depth; }

  GraphBuilder& builder_;
  const SharingRule rule_;
  int rows_;
  DigitChoices choices_;
  Random random_;
  std::vector<std::vector<int32_t>> factors_;  // by node, by row
  std::vector<std::vector<int>> row_nodes_;    // of each row, those whose factor is not 0
  std::vector<int64_t> loads_, most_loads_;
  PairCounts counts_, fresh_;
};

}  // namespace tilewright::pipeline
