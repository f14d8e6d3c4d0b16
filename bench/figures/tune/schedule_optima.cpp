// The optimal schedules of C2 to C11 of ResNet-18 on the public default overlay (memory port 128 bits),
// proven: every valid point of each layer's space is timed by the cycle simulator or excluded by the bound of
// its schedule (docs/design/overlay/schedules.md, docs/design/tune/trials.md). Beside each optimum the
// default schedule and the bound that no schedule of the layer can pass.
//
// With --records the trials go into that database and the run can be cut off: the next one goes on where it
// ended. --optima writes the best record of each layer as lines of JSON (gzip where it ends in .gz):
// models/tune/resnet18_optima.jsonl.gz.
// --all measures every valid point, whatever its bound. --quick: C4, C7 and C10 only.
// usage: schedule_optima [--quick] [--all] [--records FILE.db] [--optima FILE] [--hardware NAME] [--memory M]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cpu_time.h"
#include "resnet18_layers.h"
#include "support/search/exhaustive_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/records/record_text.h"
#include "tilewright/tune/records/recorded_problem.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

struct Arguments {
  bool quick = false, all = false;
  std::string hardware = "vta-default", memory = "fixed";
  std::optional<std::filesystem::path> records, optima;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--quick") {
      a.quick = true;
    } else if (option == "--all") {
      a.all = true;
    } else if (i + 1 == argc) {
      throw Error(ErrorKind::kInvalidInput, "unknown option " + option + ", or its value is missing");
    } else if (option == "--records") {
      a.records = argv[++i];
    } else if (option == "--optima") {
      a.optima = argv[++i];
    } else if (option == "--hardware") {
      a.hardware = argv[++i];
    } else if (option == "--memory") {
      a.memory = argv[++i];
    } else {
      throw Error(ErrorKind::kInvalidInput, "unknown option " + option);
    }
  }
  return a;
}

// A problem whose bounds exclude nothing.
class Unbounded final : public TuningProblem {
 public:
  explicit Unbounded(TuningProblem& inner) : inner_(inner) {}
  const KnobSpace& space() const override { return inner_.space(); }
  ProgramFeatures features(KnobSpace::Point point) const override { return inner_.features(point); }
  double bound(KnobSpace::Point) const override { return 0; }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    return inner_.measure(points);
  }

 private:
  TuningProblem& inner_;
};

struct Totals {
  uint64_t valid = 0, measured = 0, failed = 0, excluded = 0;
  int layers = 0, above_default = 0;
  double log_share = 0, log_gain = 0;
};

class Study {
 public:
  Study(const Arguments& arguments, tune::RecordStore& store)
      : arguments_(arguments),
        store_(store),
        hardware_(find_overlay_hardware(arguments.hardware, TILEWRIGHT_SOURCE_DIR "/hardware")),
        memory_(find_memory_model(arguments.memory)) {
    hardware_.memory_width_bits = 128;
  }

  void run(const ResnetLayer& shape, const OverlayLayer& layer) {
    ScheduleProblem problem(layer, hardware_, memory_, 2);
    tune::RecordedProblem recorded(
        problem, {workload_text(layer), hardware_text(hardware_, memory_), kTimingTool, 0},
        [&](KnobSpace::Point point) { return print_schedule(problem.schedules().schedule(point)); }, store_,
        [] { return int64_t(std::time(nullptr)); });
    Unbounded unbounded(recorded);
    TuningProblem& searched = arguments_.all ? static_cast<TuningProblem&>(unbounded) : recorded;
    const ExhaustiveResult found = exhaustive_search(searched, {.threads = 2, .batch = 256});
    if (!found.best) throw Error(ErrorKind::kInternal, std::string(shape.name) + ": no schedule succeeded");
    const double best = *found.best->cost, bound = problem.layer_bound().cycles();
    const Schedule schedule = default_schedule(layer, hardware_, {.memory = memory_});
    const double before = double(layer_cycles(Tiling(layer, hardware_, schedule), hardware_, memory_));
    std::printf("%-4s %7llu %8llu %8llu %7llu %9.0f %9.0f %6.2f%% %6.2f%% %7.1f  %s\n", shape.name,
                (unsigned long long)found.valid, (unsigned long long)found.excluded,
                (unsigned long long)found.measured, (unsigned long long)found.cached, best, before,
                100 * (before / best - 1), 100 * bound / best, found.seconds,
                problem.space().print(found.best->point).c_str());
    std::fflush(stdout);
    ++totals_.layers;
    totals_.valid += found.valid;
    totals_.measured += found.measured;
    totals_.failed += found.failed;
    totals_.excluded += found.excluded;
    totals_.above_default += best > before ? 1 : 0;
    totals_.log_share += std::log(bound / best);
    totals_.log_gain += std::log(before / best);
    if (arguments_.optima) {
      optima_ += tune::print_record(
          *store_.best(workload_text(layer), hardware_text(hardware_, memory_), kTimingTool));
    }
  }

  const OverlayHardware& hardware() const { return hardware_; }
  const Totals& totals() const { return totals_; }

  void write_optima() const {
    if (!arguments_.optima) return;
    const auto bytes = std::as_bytes(std::span(optima_));
    const bool compress = arguments_.optima->extension() == ".gz";
    write_file(*arguments_.optima, compress ? gzip(bytes) : std::vector(bytes.begin(), bytes.end()));
  }

 private:
  const Arguments& arguments_;
  tune::RecordStore& store_;
  OverlayHardware hardware_;
  MemoryModel memory_;
  Totals totals_;
  std::string optima_;  // a line each
};

// A folder that goes when the run ends.
struct TemporaryFolder {
  TemporaryFolder() : path(std::filesystem::temp_directory_path() / "tilewright-schedule-optima-XXXXXX") {
    std::string text = path.string();
    if (::mkdtemp(text.data()) == nullptr) throw Error(ErrorKind::kInfeasible, "no temporary folder " + text);
    path = text;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

int measure(const Arguments& arguments) {
  const TemporaryFolder folder;
  tune::RecordStore store(arguments.records.value_or(folder.path / "records.db"),
                          tune::RecordStore::Mode::kWrite);
  Study study(arguments, store);
  std::printf("%-4s %7s %8s %8s %7s %9s %9s %7s %7s %7s  %s\n", "", "valid", "excluded", "measured", "known",
              "optimum", "default", "gain", "bound", "s", "schedule");
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  Random random(2);
  int expected = 0;
  for (const ResnetLayer& shape : kResnet18Layers) {
    const Graph graph = resnet18_graph(shape, random);
    if (arguments.quick && shape.kernel != 1) continue;
    ++expected;
    study.run(shape, extract_layer(graph, graph.nodes[0], study.hardware()));
  }
  study.write_optima();
  const Totals& t = study.totals();
  const double layers = t.layers;
  std::printf(
      "{\"figure\": \"schedule_optima\", \"layers\": %d, \"valid_points\": %llu, \"excluded\": %llu, "
      "\"measured\": %llu, \"failed\": %llu, \"layer_bound_share\": %.4f, \"gain_over_default\": %.4f, "
      "\"cpu_seconds\": %.1f, \"seconds\": %.1f}\n",
      t.layers, (unsigned long long)t.valid, (unsigned long long)t.excluded, (unsigned long long)t.measured,
      (unsigned long long)t.failed, std::exp(t.log_share / layers), std::exp(t.log_gain / layers),
      cpu_seconds() - cpu_start,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return t.layers == expected && t.above_default == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(parse(argc, argv));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
