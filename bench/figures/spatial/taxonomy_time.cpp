// taxonomy_time: how long the exact search of all six dataflows takes on AlexNet's eight layers, on one core:
// at one setting (16 images, 256 PEs; the files read included) and at 15 settings (1, 4, 16, 64, 256 images x
// 256, 512, 1024 PEs). Every search ends with its proof, or with the constraint that cannot hold; two threads
// give the same result.
//
// usage: taxonomy_time [--quick]     (--quick changes nothing: a third of a second)
#include <chrono>
#include <cstdio>

#include "row_stationary_checks.h"
#include "row_stationary_reference.h"

namespace {

using namespace tilewright;
using namespace tilewright::claims;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Work {
  size_t searches = 0, proven = 0, infeasible = 0;
  int64_t nodes = 0;
  double points = 0;  // of all spaces, before pruning
};

Work work_of(const std::vector<study::TaxonomyPoint>& points) {
  Work work;
  for (const study::TaxonomyPoint& point : points) {
    for (const study::DataflowResult& result : point.results) {
      ++work.searches;
      work.proven +=
          result.status == study::BoxSearchStatus::kOptimal && result.proof.bound == result.proof.value;
      work.infeasible += result.status == study::BoxSearchStatus::kInfeasible && !result.reasons.empty();
      work.nodes += result.proof.nodes;
      work.points += result.proof.space_points;
    }
  }
  return work;
}

void show(const char* what, const Work& work, double seconds) {
  std::printf(
      "%-12s %4zu searches: %zu proven, %zu infeasible with reason; %lld boxes for %.2g points, %.4f s\n",
      what, work.searches, work.proven, work.infeasible, static_cast<long long>(work.nodes), work.points,
      seconds);
}

bool same(const std::vector<study::TaxonomyPoint>& a, const std::vector<study::TaxonomyPoint>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    for (size_t layer = 0; layer < a[k].results.size(); ++layer) {
      const study::DataflowResult& x = a[k].results[layer];
      const study::DataflowResult& y = b[k].results[layer];
      if (x.variables != y.variables || x.counts != y.counts || x.proof.nodes != y.proof.nodes) return false;
    }
  }
  return a.size() == b.size();
}

int measure() {
  auto start = Clock::now();
  const Study study = read_study(TILEWRIGHT_SOURCE_DIR);
  const Work one = work_of(taxonomy_at(study, 16, 256));
  const double seconds_one = seconds_since(start);
  show("one setting", one, seconds_one);

  study::TaxonomyOptions options;
  options.batches = {1, 4, 16, 64, 256};
  options.array_sizes = {256, 512, 1024};
  start = Clock::now();
  const auto points = evaluate_taxonomy(study.dataflows, alexnet(1), study.machine, options);
  const double seconds_all = seconds_since(start);
  const Work all = work_of(points);
  show("15 settings", all, seconds_all);

  options.threads = 2;
  const bool identical = same(points, evaluate_taxonomy(study.dataflows, alexnet(1), study.machine, options));
  std::printf("2 threads: %s\n", identical ? "identical" : "DIFFERENT");
  std::printf(
      "{\"figure\": \"taxonomy_time\", \"seconds_one_setting\": %.4f, \"seconds_all_settings\": %.4f, "
      "\"searches\": %zu, \"proven\": %zu, \"infeasible\": %zu, \"nodes\": %lld, \"identical\": %s}\n",
      seconds_one, seconds_all, all.searches, all.proven, all.infeasible, static_cast<long long>(all.nodes),
      identical ? "true" : "false");
  const bool settled =
      all.searches > 0 && all.proven + all.infeasible == all.searches && one.proven == one.searches;
  return settled && identical ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return measure();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taxonomy_time: %s\n", error.what());
    return 1;
  }
}
