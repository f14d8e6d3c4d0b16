// fit_target() (prediction.h) grows the trees on the chosen features, with the logarithm of the target as
// label; the trees report the gain of each feature. The rest is ranking, comparing and printing.
#include "tilewright/tune/learn/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tilewright/tune/learn/prediction.h"

namespace tilewright::tune {
namespace {

std::vector<int> precisions_of(const SampleTable& table) {
  const std::set<int> distinct(table.precisions.begin(), table.precisions.end());
  std::vector<int> result(distinct.rbegin(), distinct.rend());
  result.push_back(0);
  return result;
}

std::string precision_name(int precision) {
  return precision == 0 ? "all" : fmt::format("w{0}a{0}", precision);
}

}  // namespace

std::vector<FeatureImportance> feature_importance(const SampleTable& table,
                                                  const std::vector<std::string>& targets,
                                                  const BoostingOptions& settings, int64_t least_rows) {
  table.verify();
  const SampleTable choices = table.choices();
  std::vector<FeatureImportance> result;
  for (const std::string& target : targets) {
    for (const int precision : precisions_of(table)) {
      const std::vector<size_t> rows = table.rows_with(target, precision);
      if (rows.empty() || int64_t(rows.size()) < least_rows) continue;
      result.push_back({target, precision, int64_t(rows.size()),
                        fit_target(choices, target, rows, settings).importance()});
    }
  }
  return result;
}

std::vector<size_t> most_important(const FeatureImportance& importance, size_t count, double least) {
  std::vector<size_t> order(importance.share.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return importance.share[a] > importance.share[b]; });
  while (!order.empty() && (order.size() > count || importance.share[order.back()] < least)) order.pop_back();
  return order;
}

double importance_distance(const FeatureImportance& a, const FeatureImportance& b) {
  double sum = 0;
  for (size_t i = 0; i < a.share.size(); ++i) sum += std::abs(a.share[i] - b.share[i]) / 2;
  return sum;
}

std::string importance_table(const SampleTable& table, const std::vector<FeatureImportance>& importance) {
  std::string text;
  for (size_t first = 0; first < importance.size();) {
    size_t end = first;
    std::set<size_t> shown;
    while (end < importance.size() && importance[end].target == importance[first].target) {
      for (const size_t feature : most_important(importance[end], table.features.size())) {
        shown.insert(feature);
      }
      ++end;
    }
    text += fmt::format("| {} |", importance[first].target);
    for (size_t i = first; i < end; ++i) text += " " + precision_name(importance[i].precision) + " |";
    text += "\n|---|";
    for (size_t i = first; i < end; ++i) text += "---|";
    text += "\n| rows |";
    for (size_t i = first; i < end; ++i) text += fmt::format(" {} |", importance[i].rows);
    text += "\n";
    for (const size_t feature : shown) {
      text += fmt::format("| `{}` |", table.features[feature]);
      for (size_t i = first; i < end; ++i)
        text += fmt::format(" {:.1f} % |", 100 * importance[i].share[feature]);
      text += "\n";
    }
    text += "\n";
    first = end;
  }
  return text;
}

}  // namespace tilewright::tune
