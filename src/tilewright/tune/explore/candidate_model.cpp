// A row is the digits of a candidate's knobs, its label log(latency / bound). Until there are enough rows
// for trees, the mean of the labels stands in for them.
#include "tilewright/tune/explore/candidate_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/base/error.h"

namespace tilewright::tune {
namespace {

constexpr size_t kLeastRows = 12;     // before trees say more than the mean
constexpr double kLeastShare = 0.02;  // of a knob in importance()

BoostingOptions tree_settings() {
  BoostingOptions options;
  options.depth = 4;
  options.rounds = 80;
  options.learning_rate = 0.15;
  options.bins = 32;
  return options;
}

std::vector<double> normalised(std::vector<double> shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = sum > 0 ? share / sum : 1 / double(shares.size());
  return shares;
}

}  // namespace

CandidateModel::CandidateModel(const KnobSpace& space, std::vector<double> prior)
    : space_(space), trees_(tree_settings()) {
  if (prior.empty()) prior.assign(space.knobs().size(), 1);
  TILEWRIGHT_CHECK(prior.size() == space.knobs().size(), "an importance for every knob");
  prior_ = normalised(std::move(prior));
}

std::vector<float> CandidateModel::row(KnobSpace::Point point) const {
  std::vector<float> values;
  for (size_t k = 0; k < space_.knobs().size(); ++k) values.push_back(float(space_.digit(point, k)));
  return values;
}

void CandidateModel::add(KnobSpace::Point point, double latency_s, double bound_s) {
  const std::vector<float> values = row(point);
  rows_.insert(rows_.end(), values.begin(), values.end());
  labels_.push_back(float(std::log(latency_s / bound_s)));
  mean_ += (labels_.back() - mean_) / double(labels_.size());
}

void CandidateModel::fit() {
  if (labels_.size() >= kLeastRows) trees_.fit(rows_, space_.knobs().size(), labels_);
}

double CandidateModel::predict(KnobSpace::Point point, double bound_s) const {
  const double ratio = trees_.fitted() ? trees_.predict(row(point)) : mean_;
  return bound_s * std::exp(std::max(0.0, ratio));
}

std::vector<double> CandidateModel::learned_importance() const {
  return trees_.fitted() ? normalised(trees_.importance()) : prior_;
}

std::vector<double> CandidateModel::importance() const {
  std::vector<double> shares = learned_importance();
  for (size_t k = 0; k < shares.size(); ++k) {
    shares[k] = std::max(kLeastShare, (shares[k] + prior_[k]) / 2);
  }
  return normalised(std::move(shares));
}

}  // namespace tilewright::tune
