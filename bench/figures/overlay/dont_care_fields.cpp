// Random programs (--cases, 2,000) with random values in every field that means nothing: functional
// simulator, plain interpreter, cycle simulator and RTL in Verilator leave the same bytes, cycles and
// counters as without; and loop nests (300) as the public runtime emits them run on all of them. Shared out
// over six parameter sets of tests/overlay/rtl_equality;
// --quick: a tenth, on two.
#include <algorithm>

#include "case_options.h"
#include "engine_comparison.h"
#include "parameter_sets.h"
#include "tilewright/base/parallel.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

constexpr int kSets[] = {0, 1, 4, 6, 10, 18};  // the second and the fifth are plain

int run(const CaseOptions& options) {
  const int64_t sets = options.quick ? 2 : int64_t(std::size(kSets)), nests = options.quick ? 30 : 300;
  const int64_t plain_sets = options.quick ? 1 : 2;
  ComparisonSummary fields[std::size(kSets)], calls[std::size(kSets)];
  parallel_for(2, sets, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const OverlayHardware hardware = parameter_sets()[size_t(kSets[s])];
      EngineComparison comparison(hardware, equality_options(TILEWRIGHT_RTL_CACHE));
      for (int64_t i = s; i < options.cases; i += sets) {
        comparison.compare_dont_cares(options.seed + uint64_t(i), fields[s]);
      }
      if (hardware.isa != IsaVersion::kVta) continue;
      for (int64_t i = s == 1 ? 0 : 1; i < nests; i += plain_sets) {
        comparison.compare_public(options.seed + uint64_t(i), calls[s]);
      }
    }
  });
  ComparisonSummary all, public_runtime;
  for (const ComparisonSummary& part : fields) all.add(part);
  for (const ComparisonSummary& part : calls) public_runtime.add(part);
  std::printf("fields without meaning: %lld programs, %lld differ, %lld refused\n%s", (long long)all.programs,
              (long long)all.differences, (long long)all.refused, all.first_problems.c_str());
  std::printf("public runtime: %lld programs, %lld differ, %lld refused\n%s",
              (long long)public_runtime.programs, (long long)public_runtime.differences,
              (long long)public_runtime.refused, public_runtime.first_problems.c_str());
  const bool enough = all.programs == options.cases && public_runtime.programs == nests;
  if (!enough) std::printf("programs are missing\n");
  std::printf(
      "{\"figure\": \"dont_care_fields\", \"programs\": %lld, \"differences\": %lld, \"refused\": %lld, "
      "\"public_sequences\": %lld, \"seed\": %llu}\n",
      (long long)all.programs, (long long)(all.differences + public_runtime.differences),
      (long long)(all.refused + public_runtime.refused), (long long)public_runtime.programs,
      (unsigned long long)options.seed);
  return enough && all.differences + all.refused + public_runtime.differences + public_runtime.refused == 0
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) { return case_main("dont_care_fields", 2000, run, argc, argv); }
