// What a box search relies on: narrowing loses no point that holds and beats the cut, and no point of a box
// lies below its bound. Checked against every point of random boxes.
#include "tilewright/spatial/formula/box.h"

#include <gtest/gtest.h>

#include <limits>

#include "tilewright/spatial/taxonomy/bound_dataflow.h"
#include "tilewright/spatial/taxonomy/random_layer_testing.h"

namespace tilewright::study {
namespace {

class BoxNarrowing : public testing::TestWithParam<const char*> {};

// Enumerates `whole`; points that hold, with an energy of at most `cut`, must lie in `narrowed` and not below
// `bound`.
int check_points(const BoxProblem& problem, const Box& whole, bool any_left, const Box& narrowed,
                 double bound, double cut) {
  const size_t variables = problem.upper.size();
  std::vector<double> point(variables), values(problem.exact_graph.nodes().size());
  for (size_t v = 0; v < variables; ++v) point[v] = whole[v].low;
  int held = 0;
  for (;;) {
    evaluate(problem.exact_graph, point, values);
    bool good = values[size_t(problem.exact_objective)] <= cut;
    for (const Comparison& c : problem.exact) {
      good = good && holds(c.relation, values[size_t(c.left)], values[size_t(c.right)]);
    }
    if (good) {
      ++held;
      EXPECT_TRUE(any_left);
      for (size_t v = 0; v < variables; ++v) {
        EXPECT_GE(point[v], narrowed[v].low);
        EXPECT_LE(point[v], narrowed[v].high);
      }
      const double energy = values[size_t(problem.exact_objective)];
      EXPECT_GE(energy, bound - 1e-12 * energy);
    }
    size_t v = 0;
    while (v < variables && point[v] == whole[v].high) {
      point[v] = whole[v].low;
      ++v;
    }
    if (v == variables || testing::Test::HasFailure()) return held;
    ++point[v];
  }
}

TEST_P(BoxNarrowing, LosesNoPointAndBoundsEveryPoint) {
  const Dataflow flow = read_dataflow(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "dataflows" /
                                      (GetParam() + std::string(".yaml")));
  constexpr uint64_t kSeed = 81;
  SCOPED_TRACE(testing::Message() << GetParam() << ", seed " << kSeed);
  Random random(kSeed);
  int held = 0;
  for (int round = 0; round < 200; ++round) {
    StudyMachine machine;
    machine.pes = random.between(1, 40);
    Storage storage;
    storage.buffer_words = random.between(10, 400);
    storage.register_file_words = random.between(4, 60);
    const BoundDataflow bound_flow = bind_dataflow(flow, random_layer(random), machine, storage, {});
    const BoxProblem problem = energy_problem(bound_flow, machine.energy);
    Box whole{};
    for (size_t v = 0; v < problem.upper.size(); ++v) {
      const int64_t upper = int64_t(problem.upper[v]), low = random.between(1, upper);
      whole[v] = {double(low), double(std::min(upper, low + random.between(0, 3)))};
    }
    BoxNarrower narrower(problem);
    const double all = std::numeric_limits<double>::infinity();
    Box narrowed = whole;
    const bool left = narrower.narrow(narrowed, all, 4);
    const double bound = narrower.objective_bound(narrowed);
    held += check_points(problem, whole, left, narrowed, bound, all);
    // With a cut somewhere above the bound.
    if (!left) continue;
    const double cut = bound * (1 + 0.2 * random.uniform());
    Box cut_box = whole;
    const bool cut_left = narrower.narrow(cut_box, cut, 4);
    check_points(problem, whole, cut_left, cut_box, bound, cut);
    if (HasFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(held, 50);
}

INSTANTIATE_TEST_SUITE_P(Taxonomy, BoxNarrowing, every_dataflow(), dataflow_test_name);

}  // namespace
}  // namespace tilewright::study
