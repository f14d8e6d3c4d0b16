// Tables for learning from explorations, which targets have enough data, and the results of boosted trees
// beside a linear model and the mean (tune/learn/prediction.h), as JSON, Markdown, bars and a page.
#include "tilewright/flow/explore/study_tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/hardware/device.h"
#include "tilewright/overlay/implement/implementation_space.h"
#include "tilewright/report/bar_chart.h"
#include "tilewright/report/html_page.h"

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

PlotDrawing importance_bars(const tune::SampleTable& table,
                            const std::vector<tune::FeatureImportance>& importance,
                            const std::string& target) {
  BarChart chart;
  chart.y_label = "share of the gain";
  std::set<size_t> shown;
  std::vector<const tune::FeatureImportance*> series;
  for (const tune::FeatureImportance& one : importance) {
    if (one.target != target || one.precision == 0) continue;
    series.push_back(&one);
    chart.series.push_back(precision_name(one.precision));
    for (const size_t feature : tune::most_important(one, kShownFeatures, 0.02)) shown.insert(feature);
  }
  for (const size_t feature : shown) {
    BarGroup& group = chart.groups.emplace_back();
    group.label = table.features[feature];
    for (const tune::FeatureImportance* one : series) group.values.push_back(one->share[feature]);
  }
  return draw_bars(target, {chart});
}

std::string importance_page(const tune::SampleTable& table, const ImportanceReport& report,
                            const std::string& title) {
  std::string body =
      "<p>Boosted trees per target; a fifth of the configurations is the test set, and all rows of a "
      "configuration are on the same side. Classes hold equal numbers of the training rows.</p>";
  HtmlTable accuracies(
      {"target", "> rows", "> within 10 %", "> linear", "> mean", "> right class", "> linear", "> mean"});
  for (const tune::PredictionReport& p : report.predictions) {
    const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
    accuracies.row({p.target, fmt::format("{}", p.rows), percent(p.boosted.within), percent(p.linear.within),
                    percent(p.mean.within), percent(p.boosted.same_class), percent(p.linear.same_class),
                    percent(p.mean.same_class)});
  }
  body += accuracies.html();
  for (const tune::PredictionReport& p : report.predictions) {
    body += html_figure(importance_bars(table, report.importance, p.target), p.target,
                        "Share of the gain of the trees' splits, per precision.");
  }
  return html_page(title, body);
}

}  // namespace tilewright
