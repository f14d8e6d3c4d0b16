// A label is minus the logarithm of a cost, less the mean of its group: for the rank objective its order
// within the group counts, for the other the ratios.
#include "tilewright/search/models/boosted_cost_model.h"

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/search/models/sample_groups.h"

namespace tilewright {
namespace {

// The samples as a matrix, group by group.
struct Table {
  std::vector<float> rows, labels, start;
  std::vector<uint32_t> groups;
};

Table make_table(std::span<const CostSample> samples, const SampleGroups& groups,
                 const GradientBoosting& prior) {
  Table table;
  for (const std::vector<size_t>& group : groups) {
    double mean = 0;
    for (size_t i : group) mean += std::log(samples[i].cost) / double(group.size());
    for (size_t i : group) {
      const std::vector<float>& row = samples[i].features.row;
      table.rows.insert(table.rows.end(), row.begin(), row.end());
      table.labels.push_back(float(mean - std::log(samples[i].cost)));
      if (prior.fitted()) table.start.push_back(float(prior.predict(row)));
    }
    table.groups.push_back(uint32_t(group.size()));
  }
  return table;
}

SampleGroups drawn_again(const SampleGroups& groups, Random& random) {
  SampleGroups drawn = groups;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t& i : drawn[g]) i = groups[g][size_t(random.next() % groups[g].size())];
    std::sort(drawn[g].begin(), drawn[g].end());
  }
  return drawn;
}

}  // namespace

BoostedCostModel::BoostedCostModel(BoostedModelOptions options) : options_(options), prior_(options.trees) {
  if (options.members < 1 || options.members > 100) {
    throw Error(ErrorKind::kInvalidInput, "boosted cost model: members must be between 1 and 100");
  }
}

void BoostedCostModel::fit(std::span<const CostSample> samples) {
  const SampleGroups groups = group_samples(samples);
  if (groups.empty()) return;
  const size_t columns = samples.front().features.row.size();
  std::vector<GradientBoosting> members;
  Random random(options_.trees.seed);
  for (int m = 0; m < options_.members; ++m) {
    BoostingOptions options = options_.trees;
    options.seed = random.next() >> 1;
    const Table table =
        make_table(samples, options_.members == 1 ? groups : drawn_again(groups, random), prior_);
    GradientBoosting& member = members.emplace_back(options);
    member.fit(table.rows, columns, table.labels, table.groups, table.start);
  }
  members_ = std::move(members);
}

void BoostedCostModel::transfer(std::span<const CostSample> earlier) {
  members_.clear();
  prior_ = GradientBoosting(options_.trees);
  const SampleGroups groups = group_samples(earlier);
  if (groups.empty()) return;
  const Table table = make_table(earlier, groups, prior_);
  prior_.fit(table.rows, earlier.front().features.row.size(), table.labels, table.groups);
}

std::vector<CostPrediction> BoostedCostModel::predict(
    std::span<const ProgramFeatures* const> programs) const {
  std::vector<CostPrediction> all;
  all.reserve(programs.size());
  for (const ProgramFeatures* program : programs) {
    double sum = 0, squares = 0;
    for (const GradientBoosting& member : members_) {
      const double score = member.predict(program->row);
      sum += score;
      squares += score * score;
    }
    const double count = std::max<double>(1, double(members_.size()));
    const double mean = sum / count;
    all.push_back(
        {-(prior_.predict(program->row) + mean), std::sqrt(std::max(0.0, squares / count - mean * mean))});
  }
  return all;
}

}  // namespace tilewright
