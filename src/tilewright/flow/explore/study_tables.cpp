// Tables for learning from explorations, which targets have enough data, and the results of boosted trees
// beside a linear model and the mean (tune/learn/prediction.h), as JSON, Markdown, bars and a page.
#include "tilewright/flow/explore/study_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/hardware/device.h"
#include "tilewright/overlay/implement/implementation_space.h"
#include "tilewright/report/bar_chart.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

constexpr size_t kShownFeatures = 10, kLeastConfigurations = 10;

Json prediction_json(const tune::Accuracy& a) {
  return {{"within", a.within}, {"same_class", a.same_class}, {"median_error", a.median_error}, {"r2", a.r2}};
}

std::string precision_name(int precision) {
  return precision == 0 ? "all" : fmt::format("w{0}a{0}", precision);
}

}  // namespace

tune::SampleTable exploration_table(const ExplorationReport& report) {
  tune::SampleTable table;
  if (!report.widths.empty()) table.features = report.widths[0].knobs;
  table.features.push_back("operand_bits");
  for (const WidthReport& w : report.widths) {
    for (const ExploredCandidate& c : w.candidates) {
      for (const int64_t value : c.values) table.rows.push_back(float(value));
      table.rows.push_back(float(w.operand_bits));
      table.configurations.push_back(c.hardware);
      table.precisions.push_back(w.operand_bits);
      table.targets["gops"].push_back(2e-9 * double(w.macs) / c.latency_s);
      table.targets["fmax"].push_back(c.clock_mhz);
      table.targets["lut"].push_back(double(c.lut));
      table.targets["ff"].push_back(double(c.ff));
      table.targets["dsp"].push_back(double(c.dsp));
      table.targets["bram"].push_back(double(c.bram));
    }
  }
  return table;
}

std::vector<std::string> learnable_targets(const tune::SampleTable& table) {
  std::vector<std::string> learnable;
  for (const auto& [target, values] : table.targets) {
    std::set<std::string> configurations;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] > 0) configurations.insert(table.configurations[i]);
    }
    if (configurations.size() >= kLeastConfigurations) learnable.push_back(target);
  }
  return learnable;
}

Answer implementation_rules(const std::string& device, const SharedFolders& folders) {
  const overlay::ImplementationSpace space(find_device(device, folders.devices()).family);
  return {overlay::elimination_table(space), overlay::elimination_json(space) + "\n"};
}

ImportanceReport study_importance(const tune::SampleTable& table, const std::vector<std::string>& targets,
                                  uint64_t seed) {
  ImportanceReport report;
  for (const std::string& target : targets) {
    tune::PredictionOptions options;
    options.seed = seed;
    report.predictions.push_back(tune::predict_target(table, target, options));
    for (tune::FeatureImportance& one :
         tune::feature_importance(table, {target}, report.predictions.back().chosen)) {
      report.importance.push_back(std::move(one));
    }
  }
  return report;
}

std::string to_json(const tune::SampleTable& table, const ImportanceReport& report) {
  Json predictions = Json::array(), importance = Json::array();
  for (const tune::PredictionReport& p : report.predictions) {
    predictions.push_back({{"target", p.target},
                           {"rows", p.rows},
                           {"configurations", p.configurations},
                           {"test_rows", p.test_rows},
                           {"classes", p.classes},
                           {"boosted", prediction_json(p.boosted)},
                           {"linear", prediction_json(p.linear)},
                           {"mean", prediction_json(p.mean)},
                           {"validation", prediction_json(p.validation)}});
  }
  for (const tune::FeatureImportance& one : report.importance) {
    Json shares;
    for (size_t f = 0; f < one.share.size(); ++f) shares[table.features[f]] = one.share[f];
    importance.push_back(
        {{"target", one.target}, {"precision", one.precision}, {"rows", one.rows}, {"share", shares}});
  }
  return json_text(Json{{"predictions", predictions}, {"importance", importance}}, 1);
}

std::string to_string(const tune::SampleTable& table, const ImportanceReport& report) {
  std::string text =
      "| target | rows (test) | within 10 %: trees | linear | mean | right class: trees | linear | mean | "
      "median error |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const tune::PredictionReport& p : report.predictions) {
    text += fmt::format(
        "| {} | {} ({}) | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % of {} | {:.1f} % | {:.1f} % | {:.1f} % "
        "|\n",
        p.target, p.rows, p.test_rows, 100 * p.boosted.within, 100 * p.linear.within, 100 * p.mean.within,
        100 * p.boosted.same_class, p.classes, 100 * p.linear.same_class, 100 * p.mean.same_class,
        100 * p.boosted.median_error);
  }
  return text + "\n" + tune::importance_table(table, report.importance);
}

namespace {

// Trees that found nothing to split by have no shares.
bool learned(const tune::FeatureImportance& one) {
  return std::any_of(one.share.begin(), one.share.end(), [](double share) { return share > 0; });
}

// Of a target: the precisions from which something was learned, and the choices that matter for any of them.
struct ShownImportance {
  std::vector<const tune::FeatureImportance*> precisions;
  std::set<size_t> features;
};
ShownImportance shown_importance(const std::vector<tune::FeatureImportance>& importance,
                                 const std::string& target) {
  ShownImportance shown;
  for (const tune::FeatureImportance& one : importance) {
    if (one.target != target || one.precision == 0 || !learned(one)) continue;
    shown.precisions.push_back(&one);
    for (const size_t feature : tune::most_important(one, kShownFeatures, 0.02))
      shown.features.insert(feature);
  }
  return shown;
}

PageSection accuracy_section(const ImportanceReport& report) {
  const auto more = PageBetter::kMore;
  PageSection section{.id = "accuracy",
                      .title = "How well each target is predicted",
                      .note =
                          "Boosted trees per target, beside a linear model and the mean; a fifth of the "
                          "configurations is the test "
                          "set, and all rows of a configuration are on the same side. Classes hold equal "
                          "numbers of the training rows.",
                      .subject = "target",
                      .subject_column = "target",
                      .columns = {{"target", "target"},
                                  {"rows", "rows"},
                                  {"test_rows", "test rows"},
                                  {"within", "trees within 10 %", "%", more},
                                  {"within_linear", "linear within 10 %", "%", more},
                                  {"within_mean", "mean within 10 %", "%", more},
                                  {"same_class", "trees in the right class", "%", more},
                                  {"same_class_linear", "linear in the right class", "%", more},
                                  {"same_class_mean", "mean in the right class", "%", more},
                                  {"median_error", "median error of the trees", "%", PageBetter::kLess},
                                  {"classes", "classes", "", PageBetter::kNeither, true},
                                  {"configurations", "configurations", "", PageBetter::kNeither, true}}};
  for (const tune::PredictionReport& p : report.predictions) {
    section.rows.push_back({p.target, p.rows, p.test_rows, p.boosted.within, p.linear.within, p.mean.within,
                            p.boosted.same_class, p.linear.same_class, p.mean.same_class,
                            p.boosted.median_error, p.classes, p.configurations});
  }
  section.charts = {{.kind = PageChartKind::kGrouped,
                     .title = "Test rows predicted within 10 %",
                     .series = {"within", "within_linear", "within_mean"}}};
  return section;
}

PageSection target_section(const tune::SampleTable& table, const ImportanceReport& report,
                           const std::string& target) {
  const ShownImportance shown = shown_importance(report.importance, target);
  PageSection section{.id = "importance_" + target,
                      .title = "What matters for " + target,
                      .note = "Share of the gain of the trees' splits, per precision.",
                      .subject = "choice",
                      .subject_column = "choice",
                      .columns = {{"choice", "choice"}}};
  if (shown.precisions.empty()) {
    section.note =
        "Nothing was learned: the target hardly changes, or there are too few rows of any precision.";
    return section;
  }
  PageChart chart{.kind = PageChartKind::kGrouped, .title = "Importance for " + target};
  for (const tune::FeatureImportance* one : shown.precisions) {
    const std::string name = precision_name(one->precision);
    section.columns.push_back({name, name, "%"});
    chart.series.push_back(name);
  }
  for (const size_t feature : shown.features) {
    std::vector<PageValue> row = {table.features[feature]};
    for (const tune::FeatureImportance* one : shown.precisions) row.emplace_back(one->share[feature]);
    section.rows.push_back(std::move(row));
  }
  section.charts = {std::move(chart)};
  return section;
}

}  // namespace

PlotDrawing importance_bars(const tune::SampleTable& table,
                            const std::vector<tune::FeatureImportance>& importance,
                            const std::string& target) {
  const ShownImportance shown = shown_importance(importance, target);
  BarChart chart;
  chart.y_label = "share of the gain";
  for (const tune::FeatureImportance* one : shown.precisions)
    chart.series.push_back(precision_name(one->precision));
  for (const size_t feature : shown.features) {
    BarGroup& group = chart.groups.emplace_back();
    group.label = table.features[feature];
    for (const tune::FeatureImportance* one : shown.precisions) group.values.push_back(one->share[feature]);
  }
  return draw_bars(shown.precisions.empty() ? target + ": nothing was learned" : target, {chart});
}

Page importance_page(const tune::SampleTable& table, const ImportanceReport& report,
                     const std::string& title) {
  Page page{.verb = "importance", .title = title};
  page.subtitle = "which design choices decide the outcome, learned from implementations";
  page.facts = {{"samples", "rows", table.samples()}, {"features", "choices", table.features.size()}};
  for (const tune::PredictionReport& p : report.predictions) {
    page.facts.push_back(
        {"within_" + p.target, p.target + " within 10 %", p.boosted.within, "%", PageBetter::kMore});
  }
  page.sections = {accuracy_section(report)};
  for (const tune::PredictionReport& p : report.predictions) {
    page.sections.push_back(target_section(table, report, p.target));
  }
  return page;
}

}  // namespace tilewright
