// Additions on every preset overlay against the reference kernel: all pairs of power-of-two multipliers, with
// both signs, and 10,000 random ones (--cases). --quick: every tenth pair, 1,000 random ones.
#include "addition_grid.h"
#include "case_options.h"

namespace {

using namespace tilewright;
using namespace tilewright::random_layers;

int run(const CaseOptions& options) {
  const std::string folder = TILEWRIGHT_SOURCE_DIR "/hardware";
  AdditionSummary summary = check_powers_of_two(options.seed, options.quick ? 10 : 1, folder);
  add(summary, check_random_multipliers(options.seed, options.cases, folder));
  std::printf("%s%s", describe(summary).c_str(), summary.first_problems.c_str());
  const bool enough = summary.pairs >= (options.quick ? 2000 : 20000);
  if (!enough) std::printf("too few pairs\n");
  std::printf("{\"figure\": \"additions_grid\", \"pairs\": %lld, \"wrong\": %lld, \"seed\": %llu}\n",
              (long long)summary.pairs, (long long)summary.wrong, (unsigned long long)options.seed);
  return enough && summary.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return case_main("additions_grid", 10000, run, argc, argv); }
