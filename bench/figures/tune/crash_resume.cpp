// What runs lose when coordinators, workers and Yosys are killed with SIGKILL at random moments: a tuning run
// with its records, and synthesis jobs. Each is compared with the same run undisturbed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "crash_runs.h"
#include "quick_main.h"

namespace tilewright::tune {
namespace {

CrashCount shown(const char* what, const CrashCount& count) {
  fmt::print("{:<13}{:>6} kills{:>6} results{:>4} lost{:>4} repeated{:>4} orphans; {} jobs done, {} begun\n",
             what, count.kills, count.results, count.lost, count.repeated, count.orphans, count.done,
             count.begun);
  std::fflush(stdout);
  return count;
}

int run(bool quick) {
  const int kills = quick ? 2 : 20;
  CrashCount sum;
  int least = kills;
  for (const CrashCount& count :
       {shown("coordinators", kill_coordinators(kills, 1)), shown("workers", kill_workers(kills, 2)),
        shown("yosys", kill_tools(kills, 3))}) {
    sum.kills += count.kills;
    sum.results += count.results;
    sum.lost += count.lost;
    sum.repeated += count.repeated;
    sum.orphans += count.orphans;
    least = count.results == 0 ? 0 : std::min(least, count.kills);
  }
  fmt::print(
      "{{\"figure\": \"crash_resume\", \"kills\": {}, \"results\": {}, \"lost\": {}, \"repeated\": {}, "
      "\"orphans\": {}}}\n",
      sum.kills, sum.results, sum.lost, sum.repeated, sum.orphans);
  return least == kills && sum.lost == 0 && sum.repeated == 0 && sum.orphans == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::tune

int main(int argc, char** argv) {
  return tilewright::quick_main("crash_resume", tilewright::tune::run, argc, argv);
}
