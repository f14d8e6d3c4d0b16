// Rate of the fast evaluator on one thread: distinct random valid mappings of ten layers on arch-unified
// (DRAM, a buffer of 55296 words, 16x16 PEs with 256 words each; the register file keeps everything, the
// buffer anything), made beforehand, evaluated one after the other with validity, counts, energy and cycles.
// --quick: a tenth.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "reference_layers.h"
#include "support/nest/count_walker_testing.h"
#include "support/spatial/random_array_mapping_testing.h"
#include "tilewright/spatial/cost/fast_evaluator.h"

namespace {

using namespace tilewright;

// The layer with sizes that can be walked; kernel and stride keep their proportions.
ReferenceLayer twin_of(const ReferenceLayer& layer) {
  ReferenceLayer twin = layer;
  twin.n = std::min<int64_t>(layer.n, 2);
  twin.m = std::min<int64_t>(layer.m, 6);
  twin.c = std::min<int64_t>(layer.c, 4);
  twin.pq = layer.pq == 1 ? 1 : layer.pq % 2 == 0 ? 6 : 5;
  twin.rs = std::min<int64_t>(layer.rs, layer.stride > 1 ? 6 : 3);
  return twin;
}

// Time that this thread computed: other work on the machine does not count.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

double seconds_of(const std::vector<FlatMapping>& mappings, const FastEvaluator& evaluator, double& sum) {
  const double begin = now();
  for (const FlatMapping& mapping : mappings) sum += evaluator.evaluate(mapping).energy;
  return now() - begin;
}

// Blocks are filled a chunk at a time, as a search would just before it evaluates them; only the evaluation
// counts.
double seconds_of_blocks(const std::vector<FlatMapping>& mappings, const FastEvaluator& evaluator,
                         double& sum) {
  constexpr size_t kChunk = 128;
  static FlatBlock blocks[kChunk];
  static FastBlockCost costs[kChunk];
  double seconds = 0;
  for (size_t begin = 0; begin < mappings.size(); begin += kChunk * kBlockMappings) {
    size_t used = 0;
    for (size_t at = begin; used < kChunk && at < mappings.size(); at += kBlockMappings) {
      const size_t count = std::min<size_t>(kBlockMappings, mappings.size() - at);
      FastEvaluator::fill_block(std::span(mappings).subspan(at, count), blocks[used++]);
    }
    const double start = now();
    evaluator.evaluate_blocks(std::span(blocks).first(used), std::span(costs).first(used));
    seconds += now() - start;
    for (size_t i = 0; i < used; ++i) {
      for (const double energy : costs[i].energy) sum += energy;
    }
  }
  return seconds;
}

// One mapping again and again, the buffer keeping one space or not.
double toggle_rate(FlatMapping mapping, const FastEvaluator& evaluator, double& sum) {
  constexpr int kRounds = 2000000;
  const double begin = now();
  for (int i = 0; i < kRounds; ++i) {
    mapping.keeps[1] ^= uint8_t(1u << (i % 3));
    sum += evaluator.evaluate(mapping).energy;
  }
  return kRounds / (now() - begin);
}

struct Totals {
  int64_t mappings = 0, walked = 0, recounted = 0, wrong = 0;
  double one = 0, exact = 0, batched = 0, toggles = 0, sum = 0;
};

// Twins against the walk, originals against the closed form.
void check(const ReferenceLayer& layer, const ArrayHardware& hardware, const CostRules& rules, int64_t cases,
           Random& random, Totals& totals) {
  for (const bool walk : {true, false}) {
    const Workload workload = workload_of(walk ? twin_of(layer) : layer);
    const auto evaluator = FastEvaluator::make(workload, hardware, rules);
    for (int64_t done = 0; done < cases;) {
      const Mapping mapping = random_array_mapping(workload, hardware, 0.5, true, random);
      const auto flat = evaluator->flatten(mapping);
      const FastCost cost = evaluator->evaluate(*flat);
      if (!cost.valid) continue;
      ++done;
      const std::vector<CountingNetwork> networks = counting_networks(hardware);
      const AccessCounts counts = walk ? walk_accesses(workload, mapping, networks, rules.accounting)
                                       : count_accesses(workload, mapping, networks, rules.accounting);
      const Cost expected = cost_of_counts(workload, hardware, counts, rules);
      if (cost.energy != expected.energy || cost.cycles != expected.cycles) ++totals.wrong;
      ++(walk ? totals.walked : totals.recounted);
    }
  }
}

void measure(const ReferenceLayer& layer, const ArrayHardware& hardware, int64_t count, Random& random,
             Totals& totals) {
  const Workload workload = workload_of(layer);
  const FastEvaluator timeloop = std::move(*FastEvaluator::make(workload, hardware, kTimeloopRules));
  const FastEvaluator exact = std::move(*FastEvaluator::make(workload, hardware, kPhysicalRules));
  std::vector<FlatMapping> mappings;
  const auto before = [](const FlatMapping& a, const FlatMapping& b) {
    return std::memcmp(&a, &b, sizeof a) < 0;
  };
  static_assert(std::has_unique_object_representations_v<FlatMapping>);
  while (int64_t(mappings.size()) < count) {
    while (int64_t(mappings.size()) < count + count / 20) {
      const Mapping mapping = random_array_mapping(workload, hardware, 0.5, true, random);
      const FlatMapping flat = *timeloop.flatten(mapping);
      if (timeloop.evaluate(flat).valid) mappings.push_back(flat);
    }
    std::sort(mappings.begin(), mappings.end(), before);
    mappings.erase(std::unique(mappings.begin(), mappings.end()), mappings.end());
  }
  // Sorted neighbours would resemble each other; evaluation order is random.
  for (size_t i = mappings.size(); i > 1; --i) {
    std::swap(mappings[i - 1], mappings[size_t(random.between(0, int64_t(i) - 1))]);
  }
  mappings.resize(size_t(count));
  double one = 1e9, other = 1e9, batched = 1e9;
  for (int pass = 0; pass < 3; ++pass) {
    one = std::min(one, seconds_of(mappings, timeloop, totals.sum));
    other = std::min(other, seconds_of(mappings, exact, totals.sum));
    batched = std::min(batched, seconds_of_blocks(mappings, timeloop, totals.sum));
  }
  const double toggles = toggle_rate(mappings[0], timeloop, totals.sum);
  std::printf(
      "%-16s %8lld mappings: %6.2f M/s, exact accounting %6.2f M/s, eight at a time %6.2f M/s; one keep bit "
      "toggled %6.2f M/s\n",
      layer.name, (long long)count, double(count) / one * 1e-6, double(count) / other * 1e-6,
      double(count) / batched * 1e-6, toggles * 1e-6);
  totals.mappings += count;
  totals.one += one;
  totals.exact += other;
  totals.batched += batched;
  totals.toggles += 1 / toggles;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int64_t each = quick ? 10400 : 104000, checks = quick ? 10 : 100;
  const ArrayHardware hardware = read_array_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/arch-unified.yaml");
  const uint64_t seed = 1;
  Random random(seed);
  std::printf("seed %llu; block kernel %s%s\n", (unsigned long long)seed,
              has_fast_kernels(FastKernelSet::kAvx512) ? "AVX-512"
              : has_fast_kernels(FastKernelSet::kAvx2) ? "AVX2"
                                                       : "portable",
              quick ? "; a tenth of the mappings" : "");
  Totals totals;
  for (const ReferenceLayer& layer : kReferenceLayers) {
    for (const CostRules& rules : {kTimeloopRules, kPhysicalRules}) {
      check(layer, hardware, rules, checks / 2, random, totals);
    }
    measure(layer, hardware, each, random, totals);
  }
  std::printf(
      "checked: %lld mappings of small twins of all ten layers (none can be walked itself) against the walk, "
      "%lld of the layers against the closed form; %lld wrong\n",
      (long long)totals.walked, (long long)totals.recounted, (long long)totals.wrong);
  const double layers = double(std::size(kReferenceLayers));
  std::printf(
      "{\"figure\": \"mapper_rate\", \"mappings\": %lld, \"mappings_per_s_thread\": %.0f, "
      "\"exact_mappings_per_s_thread\": %.0f, \"batched_per_s_thread\": %.0f, \"toggles_per_s_thread\": "
      "%.0f, "
      "\"walked\": %lld, \"wrong\": %lld}\n",
      (long long)totals.mappings, double(totals.mappings) / totals.one,
      double(totals.mappings) / totals.exact, double(totals.mappings) / totals.batched,
      layers / totals.toggles, (long long)totals.walked, (long long)totals.wrong);
  const bool enough = totals.walked >= checks * int64_t(std::size(kReferenceLayers)) && totals.mappings > 0;
  return enough && totals.wrong == 0 && totals.sum > 0 ? 0 : 1;
}
