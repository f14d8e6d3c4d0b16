// Equal processor time without asking mappers for the clock: a short run says how many evaluations fill the
// time, so that results depend on the machine's speed only through that number.
#include "tilewright/flow/place/place_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/base/json.h"
#include "tilewright/report/bar_chart.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

using cgra::MappingProblem;
using cgra::MappingResult;

// Speed is taken from a run that fills this share of the time.
constexpr double kPilotShare = 0.2;

const PlaceMethod& method_named(const std::string& name) {
  const std::vector<PlaceMethod>& methods = place_methods();
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [&](const PlaceMethod& method) { return method.name == name; });
  TILEWRIGHT_CHECK(found != methods.end(), "a method of the comparison is missing");
  return *found;
}

struct Timed {
  MappingResult result;
  double seconds = 0;  // of the process's processor time
};

Timed timed(const PlaceMethod& method, const MappingProblem& problem,
            const cgra::GraphMapperOptions& options) {
  const std::clock_t start = std::clock();
  Timed made{method.map(problem, options)};
  made.seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  return made;
}

Timed with_evaluations(const PlaceMethod& method, const MappingProblem& problem, uint64_t seed,
                       double evaluations) {
  cgra::GraphMapperOptions options{.seed = seed};
  options.limits.evaluations = std::max<int64_t>(1, std::llround(std::min(evaluations, 1e12)));
  return timed(method, problem, options);
}

// The first number of evaluations is a guess, the second comes from its speed, the last from the second's.
Timed with_processor_time(const PlaceMethod& method, const MappingProblem& problem, uint64_t seed,
                          double seconds) {
  double evaluations = 64;
  for (const double share : {kPilotShare, 1.0}) {
    const Timed pilot = with_evaluations(method, problem, seed, evaluations);
    const double per_second = double(std::max<int64_t>(1, pilot.result.counts.evaluations)) /
                              std::max(pilot.seconds, 1.0 / CLOCKS_PER_SEC);
    evaluations = share * seconds * per_second;
  }
  return with_evaluations(method, problem, seed, evaluations);
}

class Comparison {
 public:
  explicit Comparison(const PlaceBenchRequest& request) : request_(request) {}

  PlaceBenchReport run() {
    for (const BenchGraph& graph : request_.graphs) find_reference(graph);
    diagnostics_.raise_if_any();
    for (const char* name : {"random", "annealing", "evolution"}) draw_with(method_named(name));
    draw_with(request_.policy);
    for (size_t g = 0; g < request_.graphs.size(); ++g) run_the_others(g);
    summarise();
    return std::move(report_);
  }

 private:
  void find_reference(const BenchGraph& graph) {
    cgra::GraphMapperOptions options;
    options.limits.seconds = request_.most_seconds;
    const Timed exact = timed(method_named("exact"), graph.problem, options);
    if (exact.result.status == SearchStatus::kInfeasible) {
      diagnostics_.error(ErrorKind::kInfeasible, graph.name, "",
                         fmt::format("no mapping exists at an II of {}", graph.problem.ii),
                         "leave it out, or give another --ii");
      return;
    }
    const bool proven = exact.result.status == SearchStatus::kOptimal;
    report_.graphs.push_back({graph.name, int(graph.problem.graph.nodes.size()), graph.problem.ii,
                              exact.result.mapping ? exact.result.makespan : 0,
                              std::max(1, exact.result.lower_bound), proven});
    add(report_.graphs.size() - 1, "exact", "own", 0, exact);
  }

  void add(size_t graph, const std::string& method, const std::string& budget, uint64_t seed,
           const Timed& made) {
    const BenchReference& reference = report_.graphs[graph];
    const MappingResult& result = made.result;
    BenchRun run{method, reference.graph, budget, seed};
    const bool valid =
        result.mapping && cgra::check_mapping(request_.graphs[graph].problem, *result.mapping).empty();
    run.makespan = valid ? result.makespan : 0;
    run.gap = valid ? double(result.makespan - reference.reference) / reference.reference : 1;
    run.evaluations = result.counts.evaluations;
    run.processor_seconds = made.seconds;
    report_.runs.push_back(std::move(run));
  }

  void draw_with(const PlaceMethod& method) {
    for (size_t g = 0; g < request_.graphs.size(); ++g) {
      const MappingProblem& problem = request_.graphs[g].problem;
      for (int i = 0; i < request_.seeds; ++i) {
        const auto seed = uint64_t(i);
        for (const int64_t evaluations : request_.evaluations) {
          add(g, method.name, std::to_string(evaluations), seed,
              with_evaluations(method, problem, seed, double(evaluations)));
        }
        add(g, method.name, "time", seed,
            with_processor_time(method, problem, seed, request_.processor_seconds));
      }
    }
  }

  void run_the_others(size_t g) {
    const MappingProblem& problem = request_.graphs[g].problem;
    const Timed list = timed(method_named("list"), problem, {});
    cgra::GraphMapperOptions options;
    options.limits.seconds = request_.processor_seconds;
    const PlaceMethod& tree = method_named("branch-and-bound");
    for (const int64_t evaluations : request_.evaluations) {
      add(g, "list", std::to_string(evaluations), 0, list);
      options.limits.evaluations = evaluations;
      add(g, tree.name, std::to_string(evaluations), 0, timed(tree, problem, options));
    }
    options.limits.evaluations = SearchLimits::kNone;
    add(g, "list", "time", 0, list);
    add(g, tree.name, "time", 0, timed(tree, problem, options));
  }

  void summarise() {
    std::map<std::string, const BenchReference*> references;
    for (const BenchReference& graph : report_.graphs) references[graph.graph] = &graph;
    std::vector<BenchSummary>& all = report_.summary;
    for (const BenchRun& run : report_.runs) {
      auto at = std::find_if(all.begin(), all.end(), [&](const BenchSummary& summary) {
        return summary.method == run.method && summary.budget == run.budget;
      });
      if (at == all.end()) at = all.insert(all.end(), {run.method, run.budget});
      ++at->runs;
      at->gap += run.gap;
      at->processor_seconds += run.processor_seconds;
      at->missing += run.makespan == 0;
      at->at_reference += run.makespan == references.at(run.graph)->reference;
    }
    for (BenchSummary& summary : all) {
      summary.gap /= summary.runs;
      summary.processor_seconds /= summary.runs;
    }
    const auto rank = [&](const BenchSummary& summary) {
      const auto first = std::find_if(report_.runs.begin(), report_.runs.end(),
                                      [&](const BenchRun& run) { return run.method == summary.method; });
      return std::distance(report_.runs.begin(), first);
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const BenchSummary& a, const BenchSummary& b) { return rank(a) < rank(b); });
  }

  const PlaceBenchRequest& request_;
  PlaceBenchReport report_;
  Diagnostics diagnostics_;
};

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) made += c == '"' ? std::string("\"\"") : std::string(1, c);
  return made + "\"";
}

}  // namespace

PlaceBenchReport bench_methods(const PlaceBenchRequest& request) { return Comparison(request).run(); }

std::string bench_text(const PlaceBenchReport& report) {
  TextTable graphs({"graph", ">nodes", ">II", ">makespan", ""});
  for (const BenchReference& graph : report.graphs) {
    graphs.row({graph.graph, std::to_string(graph.nodes), std::to_string(graph.ii),
                graph.makespan > 0 ? std::to_string(graph.makespan) : "-",
                graph.proven ? "proven" : fmt::format("at least {}", graph.reference)});
  }
  TextTable methods({"method", ">budget", ">mean gap", ">at optimum", ">without mapping", ">processor time"});
  for (const BenchSummary& row : report.summary) {
    methods.row({row.method, row.budget, fmt::format("{:.2f}%", 100 * row.gap),
                 fmt::format("{}/{}", row.at_reference, row.runs), std::to_string(row.missing),
                 fmt::format("{:.4f} s", row.processor_seconds)});
  }
  return graphs.to_string() + "\n" + methods.to_string();
}

std::string bench_json(const PlaceBenchReport& report) {
  nlohmann::ordered_json document;
  for (const BenchReference& graph : report.graphs) {
    document["graphs"].push_back({{"name", graph.graph},
                                  {"nodes", graph.nodes},
                                  {"ii", graph.ii},
                                  {"makespan_cycles", graph.makespan},
                                  {"least_makespan_cycles", graph.reference},
                                  {"proven", graph.proven}});
  }
  for (const BenchSummary& row : report.summary) {
    document["methods"].push_back({{"method", row.method},
                                   {"budget", row.budget},
                                   {"mean_gap", row.gap},
                                   {"runs", row.runs},
                                   {"at_optimum", row.at_reference},
                                   {"without_mapping", row.missing},
                                   {"processor_seconds", row.processor_seconds}});
  }
  return json_text(document, 2) + "\n";
}

std::string bench_csv(const PlaceBenchReport& report) {
  std::string text = "method,graph,budget,seed,makespan_cycles,gap,evaluations,processor_seconds\n";
  for (const BenchRun& run : report.runs) {
    text += fmt::format("{},{},{},{},{},{:.6f},{},{:.6f}\n", run.method, quoted(run.graph), run.budget,
                        run.seed, run.makespan > 0 ? std::to_string(run.makespan) : "", run.gap,
                        run.evaluations, run.processor_seconds);
  }
  return text;
}

std::string bench_picture(const PlaceBenchReport& report) {
  BarChart chart;
  chart.y_label = "gap, %";
  std::vector<std::string> methods;
  const auto index_of = [](std::vector<std::string>& names, const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) return size_t(at - names.begin());
    names.push_back(name);
    return names.size() - 1;
  };
  // The exact mapper's bar would always be nought where it finishes; it is what the others are measured by.
  for (const BenchSummary& row : report.summary) {
    if (row.budget == "own") continue;
    index_of(methods, row.method);
    index_of(chart.series, row.budget);
  }
  for (const std::string& method : methods) {
    chart.groups.push_back(
        {method, std::vector<double>(chart.series.size(), std::numeric_limits<double>::quiet_NaN()), ""});
  }
  for (const BenchSummary& row : report.summary) {
    if (row.budget == "own") continue;
    const size_t group = index_of(methods, row.method);
    chart.groups[group].values[index_of(chart.series, row.budget)] = 100 * row.gap;
  }
  for (std::string& series : chart.series)
    series = series == "time" ? "equal processor time" : series + " evaluations";
  return draw_bars("Mean gap to the proven optimum, by method and budget", {chart}).document();
}

}  // namespace tilewright
