// 2,000 random layers on random overlays under random schedules against the reference kernels; --quick: 200.
// The seed is that of the first layer, the next one has the next seed: "--seed S --cases 1" repeats the layer
// of seed S.
#include "case_options.h"
#include "random_layer.h"

namespace {

using namespace tilewright;
using namespace tilewright::random_layers;

int run(const CaseOptions& options) {
  const Summary summary = run_cases(options.seed, options.cases, TILEWRIGHT_SOURCE_DIR "/hardware");
  std::printf("%s%s", describe(summary).c_str(), summary.first_problem.c_str());
  const bool enough = options.cases < 200 || summary.covers_every_category();
  if (!enough) std::printf("a category has too few cases\n");
  std::printf(
      "{\"figure\": \"random_layers_bit_exact\", \"cases\": %lld, \"mismatches\": %lld, \"seed\": %llu}\n",
      (long long)summary.cases, (long long)summary.mismatches, (unsigned long long)options.seed);
  return enough && summary.cases == options.cases && summary.mismatches == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return case_main("random_layers_bit_exact", 2000, run, argc, argv); }
