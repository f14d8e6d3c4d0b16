// Splits shuffle configurations, not rows. Settings are judged by the mean squared error of logarithms, which
// is what the trees minimise.
#include "tilewright/tune/learn/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/tune/learn/linear_model.h"

namespace tilewright::tune {
namespace {

constexpr size_t kLeastConfigurations = 10;

double to_label(double target) { return std::log1p(target); }
double from_label(double label) { return std::max(0.0, std::expm1(label)); }

void verify(const PredictionOptions& options) {
  Diagnostics problems;
  const auto refuse = [&](bool bad, const char* field, const char* message) {
    if (bad) problems.error(ErrorKind::kInvalidInput, "prediction options", field, message);
  };
  const auto share = [](double x) { return x > 0 && x < 1; };
  refuse(!share(options.test_share), "test_share", "is not between 0 and 1");
  refuse(!share(options.training_share), "training_share", "is not between 0 and 1");
  refuse(options.splits < 1, "splits", "must be positive");
  refuse(options.classes < 2, "classes", "must be at least 2");
  refuse(!(options.tolerance > 0), "tolerance", "must be positive");
  problems.raise_if_any();
}

// Rows by configuration, configurations in the order of their first row.
std::vector<std::vector<size_t>> by_configuration(const SampleTable& table, const std::vector<size_t>& rows) {
  std::map<std::string, size_t> index;
  std::vector<std::vector<size_t>> groups;
  for (const size_t row : rows) {
    const auto [found, fresh] = index.emplace(table.configurations[row], groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(row);
  }
  return groups;
}

using Groups = std::vector<std::vector<size_t>>;

struct Split {
  std::vector<size_t> learned, judged;  // rows
};

// `share` of the configurations, at least one and not all, is judged.
Split split(const Groups& groups, double share, Random& random) {
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t(0));
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[size_t(random.between(0, int64_t(i) - 1))]);
  }
  const auto count =
      size_t(std::clamp<int64_t>(std::llround(share * double(groups.size())), 1, int64_t(groups.size()) - 1));
  Split result;
  for (size_t i = 0; i < order.size(); ++i) {
    std::vector<size_t>& side = i < count ? result.judged : result.learned;
    side.insert(side.end(), groups[order[i]].begin(), groups[order[i]].end());
  }
  return result;
}

std::vector<float> gather(const SampleTable& table, const std::vector<size_t>& rows) {
  const size_t columns = table.features.size();
  std::vector<float> values;
  values.reserve(rows.size() * columns);
  for (const size_t row : rows) {
    const auto first = table.rows.begin() + std::ptrdiff_t(row * columns);
    values.insert(values.end(), first, first + std::ptrdiff_t(columns));
  }
  return values;
}

std::vector<float> labels_of(const SampleTable& table, const std::string& target,
                             const std::vector<size_t>& rows) {
  const std::vector<double>& values = table.targets.at(target);
  std::vector<float> labels;
  for (const size_t row : rows) labels.push_back(float(to_label(values[row])));
  return labels;
}

// Upper ends of classes that have equally many of `values` each; equal ones are one.
std::vector<double> class_ends(std::vector<double> values, int classes) {
  std::sort(values.begin(), values.end());
  std::vector<double> ends;
  for (int k = 1; k < classes; ++k) {
    const double end = values[size_t(k) * (values.size() - 1) / size_t(classes)];
    if (end < values.back() && (ends.empty() || ends.back() < end)) ends.push_back(end);
  }
  return ends;
}

size_t class_of(double value, const std::vector<double>& ends) {
  return size_t(std::lower_bound(ends.begin(), ends.end(), value) - ends.begin());
}

Accuracy judge(const std::vector<double>& truth, const std::vector<double>& predicted,
               const std::vector<double>& ends, double tolerance) {
  Accuracy result;
  const auto n = double(truth.size());
  const double mean = std::accumulate(truth.begin(), truth.end(), 0.0) / n;
  double squares = 0, variance = 0;
  std::vector<double> errors;
  for (size_t i = 0; i < truth.size(); ++i) {
    const double error = std::abs(predicted[i] - truth[i]);
    // A count of nothing is met by less than half a cell.
    const double relative = truth[i] > 0 ? error / truth[i] : error < 0.5 ? 0 : 1;
    errors.push_back(relative);
    result.within += relative <= tolerance ? 1 : 0;
    result.same_class += class_of(truth[i], ends) == class_of(predicted[i], ends) ? 1 : 0;
    squares += error * error;
    variance += (truth[i] - mean) * (truth[i] - mean);
  }
  result.within /= n;
  result.same_class /= n;
  const auto middle = errors.begin() + std::ptrdiff_t(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  result.median_error = *middle;
  result.r2 = variance > 0 ? 1 - squares / variance : squares > 0 ? 0 : 1;
  return result;
}

class TargetStudy {
 public:
  TargetStudy(const SampleTable& table, const std::string& target, const PredictionOptions& options)
      : table_(table), target_(target), options_(options), truth_(table.targets.at(target)) {}

  std::vector<double> truth(const std::vector<size_t>& rows) const {
    std::vector<double> values;
    for (const size_t row : rows) values.push_back(truth_[row]);
    return values;
  }
  std::vector<double> boosted(const GradientBoosting& model, const std::vector<size_t>& rows) const {
    const size_t columns = table_.features.size();
    std::vector<double> values;
    for (const size_t row : rows) {
      values.push_back(predicted_target(model, table_.rows.data() + row * columns, columns));
    }
    return values;
  }
  std::vector<double> linear(const std::vector<size_t>& learned, const std::vector<size_t>& rows) const {
    const size_t columns = table_.features.size();
    const LinearModel model(gather(table_, learned), columns, labels_of(table_, target_, learned));
    std::vector<double> values;
    for (const size_t row : rows) {
      values.push_back(from_label(model.predict({table_.rows.data() + row * columns, columns})));
    }
    return values;
  }
  std::vector<double> mean(const std::vector<size_t>& learned, size_t count) const {
    const std::vector<float> labels = labels_of(table_, target_, learned);
    const double sum = std::accumulate(labels.begin(), labels.end(), 0.0);
    return std::vector<double>(count, from_label(sum / double(labels.size())));
  }
  Accuracy score(const std::vector<size_t>& learned, const std::vector<size_t>& rows,
                 const std::vector<double>& predicted) const {
    return judge(truth(rows), predicted, class_ends(truth(learned), options_.classes), options_.tolerance);
  }

  // The settings with the least error over all splits; the accuracy they had there.
  std::pair<BoostingOptions, Accuracy> choose(const Groups& groups, Random& random) const {
    std::vector<Split> splits;
    for (int i = 0; i < options_.splits; ++i) {
      splits.push_back(split(groups, 1 - options_.training_share, random));
    }
    const auto settings = options_.settings.empty() ? boosting_settings() : options_.settings;
    std::pair<BoostingOptions, Accuracy> best;
    double least = std::numeric_limits<double>::infinity();
    for (const BoostingOptions& setting : settings) {
      double error = 0;
      Accuracy sum;
      for (const Split& one : splits) {
        const std::vector<double> predicted =
            boosted(fit_target(table_, target_, one.learned, setting), one.judged);
        const std::vector<double> real = truth(one.judged);
        for (size_t i = 0; i < real.size(); ++i) {
          error += std::pow(to_label(predicted[i]) - to_label(real[i]), 2) / double(real.size());
        }
        const Accuracy a = score(one.learned, one.judged, predicted);
        const double part = 1.0 / double(splits.size());
        sum.within += part * a.within;
        sum.same_class += part * a.same_class;
        sum.median_error += part * a.median_error;
        sum.r2 += part * a.r2;
      }
      if (error < least) best = {setting, sum};
      least = std::min(least, error);
    }
    return best;
  }

 private:
  const SampleTable& table_;
  const std::string& target_;
  const PredictionOptions& options_;
  const std::vector<double>& truth_;
};

}  // namespace

std::vector<BoostingOptions> boosting_settings() {
  std::vector<BoostingOptions> settings;
  for (const int depth : {2, 3, 5}) {
    for (const int rounds : {60, 200}) {
      BoostingOptions options;
      options.depth = depth;
      options.rounds = rounds;
      options.min_child_weight = 2;
      options.row_share = 0.8;
      options.bins = 64;
      settings.push_back(options);
    }
  }
  return settings;
}

GradientBoosting fit_target(const SampleTable& table, const std::string& target,
                            const std::vector<size_t>& rows, const BoostingOptions& settings) {
  GradientBoosting model(settings);
  model.fit(gather(table, rows), table.features.size(), labels_of(table, target, rows));
  return model;
}

double predicted_target(const GradientBoosting& model, const float* row, size_t columns) {
  return from_label(model.predict({row, columns}));
}

PredictionReport predict_target(const SampleTable& table, const std::string& target,
                                const PredictionOptions& options) {
  table.verify();
  verify(options);
  const std::vector<size_t> rows = table.rows_with(target);
  const Groups groups = by_configuration(table, rows);
  if (groups.size() < kLeastConfigurations) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("{} configurations have a value of '{}': too few to learn from", groups.size(), target),
        fmt::format("at least {} are needed", kLeastConfigurations));
  }
  Random random(options.seed);
  const Split test = split(groups, options.test_share, random);
  const Groups others = by_configuration(table, test.learned);
  const TargetStudy study(table, target, options);

  PredictionReport report;
  report.target = target;
  report.rows = int64_t(rows.size());
  report.configurations = int64_t(groups.size());
  report.test_rows = int64_t(test.judged.size());
  report.test_configurations = int64_t(groups.size() - others.size());
  report.classes = int(class_ends(study.truth(test.learned), options.classes).size()) + 1;
  std::tie(report.chosen, report.validation) = study.choose(others, random);
  const GradientBoosting model = fit_target(table, target, test.learned, report.chosen);
  report.boosted = study.score(test.learned, test.judged, study.boosted(model, test.judged));
  report.linear = study.score(test.learned, test.judged, study.linear(test.learned, test.judged));
  report.mean = study.score(test.learned, test.judged, study.mean(test.learned, test.judged.size()));
  report.importance = model.importance();
  return report;
}

}  // namespace tilewright::tune
