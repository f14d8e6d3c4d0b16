// 2,000 random layers on random overlays under random schedules against the reference kernels; --quick: 200.
#include <cstdio>
#include <cstring>

#include "random_layer.h"

int main(int argc, char** argv) {
  using namespace tilewright::random_layers;
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int64_t count = quick ? 200 : 2000, scale = quick ? 10 : 1;
  std::printf("%lld random layers%s, seeds 1..%lld\n", (long long)count, quick ? " (a tenth)" : "",
              (long long)count);
  const Summary summary = run_cases(1, count, TILEWRIGHT_SOURCE_DIR "/hardware");
  std::printf("%s%s", describe(summary).c_str(), summary.first_problem.c_str());
  bool enough = summary.cases == count && summary.by_hardware.size() >= 6 && summary.tiled >= 500 / scale &&
                summary.overflowing >= 200 / scale && int(summary.by_kind.size()) == kKinds;
  for (const auto& [kind, cases] : summary.by_kind) enough = enough && cases >= 150 / scale;
  if (!enough) std::printf("a category has too few cases\n");
  std::printf("{\"figure\": \"random_layers_bit_exact\", \"cases\": %lld, \"mismatches\": %lld}\n",
              (long long)summary.cases, (long long)summary.mismatches);
  return enough && summary.mismatches == 0 ? 0 : 1;
}
