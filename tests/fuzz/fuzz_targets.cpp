#include "fuzz/fuzz_targets.h"

#include <fmt/format.h>

#include "fuzz/mutation.h"
#include "fuzz/sandbox.h"

namespace tilewright {

Bytes damage_anything(const Bytes& original, size_t index, Random& random) {
  return mutate(original, {}, MutationKind(index % kMutationKinds), random);
}

FuzzTotals fuzz(const FuzzTarget& target, int count, uint64_t seed) {
  const SandboxResult result = run_in_sandbox(size_t(count), [&](size_t index) {
    // Every mutation has its own stream, so that one can be repeated alone.
    Random random(seed + index * 0x9E3779B97F4A7C15u);
    target.read(target.damage(target.original, index, random));
  });
  FuzzTotals totals{count, result.count(Outcome::kCrashed), result.count(Outcome::kHung),
                    result.count(Outcome::kWrongKind), result.count(Outcome::kAccepted)};
  for (size_t i = 0; i < result.outcomes.size(); ++i) {
    const Outcome outcome = result.outcomes[i];
    if (outcome == Outcome::kAccepted || outcome == Outcome::kRejected) continue;
    fmt::print("{}: {} with seed {}, mutation {}: {}\n", target.name,
               outcome == Outcome::kHung      ? "hang"
               : outcome == Outcome::kCrashed ? "crash"
                                              : "wrong kind of error",
               seed, i, result.messages[i]);
  }
  return totals;
}

}  // namespace tilewright
