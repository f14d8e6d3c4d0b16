// Runs that are killed again and again at random moments, and what they lose by it: compared with the same
// run undisturbed. Shared by the slow tests and the figure crash_resume.
#pragma once

#include <cstdint>

namespace tilewright::tune {

struct CrashCount {
  int kills = 0;     // SIGKILLs sent
  int results = 0;   // of all runs: records, or replies
  int lost = 0;      // results that are missing or other than undisturbed
  int repeated = 0;  // measurements of what was measured and in its place already
  int begun = 0;     // jobs begun; more than were done, since killed ones are begun again
  int done = 0;      // jobs done
  int orphans = 0;   // processes that were still there 10 s after the kill
};

// A tuning run on two workers with its records, in a process of its own that is killed at random moments and
// started again. Undisturbed is: measured in one process, without workers.
CrashCount kill_coordinators(int kills, uint64_t seed);
// The same run, undisturbed but for its workers.
CrashCount kill_workers(int kills, uint64_t seed);
// Synthesis jobs on two workers; the Yosys that a worker runs is killed.
CrashCount kill_tools(int kills, uint64_t seed);

}  // namespace tilewright::tune
