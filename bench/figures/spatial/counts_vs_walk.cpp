// Closed-form access counts against the walk of the loops, on 120,000 random small cases; --quick: 12,000.
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "support/nest/count_cases_testing.h"
#include "support/nest/count_walker_testing.h"
#include "tilewright/base/parallel.h"

namespace {

using namespace tilewright;

struct Tally {
  int64_t cases = 0, mismatches = 0;
  std::map<std::string, int64_t> categories;
  std::string first_problem;
};

void note(const CountCase& c, Tally& tally) {
  const auto count = [&](bool holds, const std::string& name) { tally.categories[name] += holds ? 1 : 0; };
  count(true, std::string("workload ") + count_case_kind_name(c.kind));
  count(true, fmt::format("{} levels", c.mapping.level_count()));
  count(true, c.accounting == Accounting::kExact ? "exact rules" : "Timeloop's rules");
  int spatial_levels = 0, bypassed = 0, moved_orders = 0;
  bool twice = false, multicast = true, reduction = true;
  for (size_t l = 0; l < c.mapping.levels.size(); ++l) {
    const MappingLevel& level = c.mapping.levels[l];
    spatial_levels += level.spatial.empty() ? 0 : 1;
    bypassed += (level.keeps & 7u) != 7u ? 1 : 0;
    int previous = -1;
    uint64_t seen = 0;
    for (const TemporalLoop& loop : level.temporal) {
      moved_orders += loop.dimension < previous ? 1 : 0;
      twice = twice || (seen >> loop.dimension & 1u) != 0;
      seen |= uint64_t{1} << loop.dimension;
      previous = loop.dimension;
    }
    multicast = multicast && c.networks[l].multicast;
    reduction = reduction && c.networks[l].reduction;
  }
  bool remainder = false;
  for (const Dimension& dimension : c.workload.dimensions) {
    int64_t product = 1;
    for (const MappingLevel& level : c.mapping.levels) {
      product *= level_factor(level, c.workload.find_dimension(dimension.name).value());
    }
    remainder = remainder || product != dimension.size;
  }
  count(remainder, "factors that do not divide");
  count(bypassed > 0, "bypass");
  count(spatial_levels == 1, "one spatial level");
  count(spatial_levels > 1, "nested spatial levels");
  count(moved_orders > 0, "loops out of the order of the dimensions");
  count(twice, "two loops of one dimension in one level");
  count(!multicast, "a network without multicast");
  count(!reduction, "a network without reduction");
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int64_t cases = quick ? 12000 : 120000;
  std::printf("%lld random cases%s, seeds 0..%lld\n", (long long)cases, quick ? " (a tenth)" : "",
              (long long)cases - 1);
  Tally total;
  std::mutex mutex;
  // Small slices, so that threads finish together; the tally does not depend on their order.
  const int64_t slice = 200, slices = cases / slice;
  parallel_for(int(std::thread::hardware_concurrency()), slices, [&](int64_t begin, int64_t end) {
    Tally tally;
    for (int64_t seed = begin * slice; seed < end * slice; ++seed) {
      const CountCase c = random_count_case(uint64_t(seed), seed % 10 == 0 ? 1500 : 300);
      const AccessCounts closed = count_accesses(c.workload, c.mapping, c.networks, c.accounting);
      const AccessCounts walked = walk_accesses(c.workload, c.mapping, c.networks, c.accounting);
      note(c, tally);
      ++tally.cases;
      if (closed == walked) continue;
      if (tally.mismatches++ == 0) {
        tally.first_problem = fmt::format("seed {}\n{}closed form: {}walk: {}", seed, describe(c),
                                          describe(closed), describe(walked));
      }
    }
    const std::lock_guard lock(mutex);
    total.cases += tally.cases;
    total.mismatches += tally.mismatches;
    for (const auto& entry : tally.categories) total.categories[entry.first] += entry.second;
    if (!tally.first_problem.empty()) total.first_problem = tally.first_problem;
  });
  bool enough = total.cases == cases;
  for (const auto& entry : total.categories) {
    std::printf("  %-45s %7lld\n", entry.first.c_str(), (long long)entry.second);
    enough = enough && entry.second >= cases / 100;
  }
  if (!enough) std::printf("a category has too few cases\n");
  if (total.mismatches > 0) std::printf("%s", total.first_problem.c_str());
  std::printf("{\"figure\": \"counts_vs_walk\", \"cases\": %lld, \"mismatches\": %lld}\n",
              (long long)total.cases, (long long)total.mismatches);
  return enough && total.mismatches == 0 ? 0 : 1;
}
