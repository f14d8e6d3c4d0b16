// Which design choice matters for which target at which precision (paper 002, section III.B and figure 6):
// the share of a choice in the gain of the splits of boosted trees, grown per target and precision.
#pragma once

#include <string>
#include <vector>

#include "tilewright/search/models/gradient_boosted.h"
#include "tilewright/tune/learn/sample_table.h"

namespace tilewright::tune {

struct FeatureImportance {
  std::string target;
  int precision = 0;  // bits; 0: rows of all precisions
  int64_t rows = 0;
  std::vector<double> share;  // by chosen feature, adds up to 1; all 0 where the target never changes
};

// Of the features that were chosen (SampleTable::derived). One entry per target and precision that has at
// least `least_rows` rows, precisions falling, after them precision 0 with all rows. Errors (invalid input):
// the table does not verify, no such target.
std::vector<FeatureImportance> feature_importance(const SampleTable& table,
                                                  const std::vector<std::string>& targets,
                                                  const BoostingOptions& settings, int64_t least_rows = 20);

// Features by falling share, at most `count`, none below `least`.
std::vector<size_t> most_important(const FeatureImportance& importance, size_t count, double least = 0.005);

// Half the sum of the differences of shares: 0 means the same, 1 nothing in common.
double importance_distance(const FeatureImportance& a, const FeatureImportance& b);

// Markdown: a row per feature that matters anywhere, a column per precision; one table per target.
std::string importance_table(const SampleTable& table, const std::vector<FeatureImportance>& importance);

}  // namespace tilewright::tune
