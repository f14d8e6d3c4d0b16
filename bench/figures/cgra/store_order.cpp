// 1,000 random expressions with several stores (to the same and to different arrays, at lines of the
// iteration and at computed addresses, some of them loads) placed on four fabrics at II 1 to 6 and run; the
// arrays are held against an evaluation of the text, statement by statement. Refused: with the reason.
// --quick: 100; --seed S;
// --cases N.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "support/flow/store_programs_testing.h"

namespace {

using namespace tilewright;
using namespace tilewright::store_programs;

int measure(uint64_t seed, int64_t cases) {
  const std::filesystem::path presets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";
  Random random(seed);
  int64_t wrong = 0, ran = 0, refused = 0;
  std::map<std::string, int64_t> reasons;
  for (int64_t i = 0; i < cases; ++i) {
    const Program program = Maker(random).run();
    const char* fabrics[] = {"streaming-engine", "mesh-4x4", "ring-8", "hycube-4x4"};
    const char* fabric = fabrics[random.between(0, 3)];
    const int ii = int(random.between(1, 6)), iterations = int(random.between(1, 60));
    const Outcome outcome = run_program(program, find_fabric(fabric, presets), ii, iterations, random, 20);
    if (outcome.wrong) {
      ++wrong;
      std::printf("wrong: case %lld on %s, II %d: %s\n  %s\n", (long long)i, fabric, ii,
                  text(program).c_str(), outcome.problem.c_str());
    } else if (outcome.refused.empty()) {
      ++ran;
    } else {
      ++refused;
    }
    if (outcome.wrong || outcome.refused.empty()) continue;
    const auto says = [&](const char* part) { return outcome.refused.find(part) != std::string::npos; };
    ++reasons[says("nothing orders their flows") ? "flows that wait apart"
              : says("may overwrite an element") ? "no clocks keep the order at this II"
              : says("is loaded and stored")     ? "an array loaded and stored"
              : says("routes")                   ? "no routes for the places"
                                                 : "no mapping at this II, for other reasons"];
  }
  std::printf("%lld expressions (seed %llu): %lld equal, %lld wrong, %lld refused\n", (long long)cases,
              (unsigned long long)seed, (long long)ran, (long long)wrong, (long long)refused);
  for (const auto& [reason, count] : reasons) std::printf("  %6lld  %s\n", (long long)count, reason.c_str());
  std::printf("{\"figure\": \"store_order\", \"expressions\": %lld, \"wrong\": %lld, \"refused\": %lld}\n",
              (long long)cases, (long long)wrong, (long long)refused);
  return wrong == 0 && ran > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed = 1;
  int64_t cases = 1000;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) cases = 100;
    if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) seed = std::strtoull(argv[++i], nullptr, 10);
    if (std::strcmp(argv[i], "--cases") == 0 && i + 1 < argc) cases = std::strtoll(argv[++i], nullptr, 10);
  }
  try {
    return measure(seed, cases);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store_order: %s\n", error.what());
    return 1;
  }
}
