// Stacked outputs are allocated before the threads start, so that each writes into its own part; packed
// elements of several inputs share bytes and are put together when all threads are done.
#include "tilewright/flow/target/sample_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/base/parallel.h"
#include "tilewright/quantize/report.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

// What ends because the deadline is over has no result, which is no error.
void until_the_end(const Deadline* deadline, const std::function<void()>& work) {
  try {
    work();
  } catch (const Expired&) {
    if (deadline == nullptr) throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInfeasible || deadline == nullptr || !deadline->expired()) throw;
  }
}

// Cuts the results where the deadline ended the run.
void keep_first(SampleRuns& results, int64_t count, const Deadline& deadline) {
  if (count == results.count) return;
  if (count == 0) throw InterruptedError("the run was ended before its first input was done");
  results.ending = deadline.ending();
  for (Tensor& output : results.outputs) {
    Shape shape = output.shape();
    shape[0] = shape[0] / results.count * count;
    output = elements_from(output, 0, shape);
  }
  results.classes.resize(results.classes.size() / size_t(results.count) * size_t(count));
  results.count = count;
}

}  // namespace

SampleWatch watch_of(const RunRequest& request) { return {request.engine.deadline, request.progress}; }

SampleRuns run_samples(const Graph& graph, int64_t count, int threads,
                       const std::function<SampleWorker()>& make_worker, const SampleWatch& watch) {
  const Deadline* const deadline = watch.deadline;
  SampleRuns results;
  results.count = count;
  for (ValueId v : graph.outputs) {
    Shape shape = graph.value(v).shape;
    if (shape.rank() == 0) shape = Shape{1};
    shape[0] *= count;
    results.outputs.emplace_back(graph.value(v).type, shape);
  }
  const Shape& scores = graph.value(graph.outputs[0]).shape;
  const int64_t per_run = scores.rank() == 0 ? 1 : scores[0];
  if (scores.element_count() > 0) results.classes.resize(size_t(count * per_run));
  std::vector<std::vector<Tensor>> packed(results.outputs.size());
  for (size_t o = 0; o < packed.size(); ++o) {
    if (bit_width(results.outputs[o].type()) < 8) packed[o].resize(size_t(count));
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<uint8_t> done(size_t(count), 0);
  std::atomic<int64_t> next = 0, ready = 0;
  const auto lane = [&] {
    const SampleWorker worker = make_worker();
    for (int64_t i = next++; i < count && !(deadline && deadline->over()); i = next++) {
      const std::vector<Tensor> outputs = worker(i);
      for (size_t o = 0; o < outputs.size(); ++o) {
        if (packed[o].empty()) {
          set_elements(results.outputs[o], i * outputs[o].size(), outputs[o]);
        } else {
          packed[o][size_t(i)] = outputs[o];
        }
      }
      const std::vector<int64_t> classes = classes_in(outputs[0], per_run);
      std::copy(classes.begin(), classes.end(), results.classes.begin() + std::ptrdiff_t(i * per_run));
      done[size_t(i)] = 1;
      if (watch.progress) watch.progress(++ready, count);
    }
  };
  parallel_for(threads, std::min<int64_t>(threads, count),
               [&](int64_t, int64_t) { until_the_end(deadline, lane); });
  for (size_t o = 0; o < packed.size(); ++o) {
    for (size_t i = 0; i < packed[o].size(); ++i) {
      if (done[i]) set_elements(results.outputs[o], int64_t(i) * packed[o][i].size(), packed[o][i]);
    }
  }
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (deadline != nullptr)
    keep_first(results, std::find(done.begin(), done.end(), 0) - done.begin(), *deadline);
  return results;
}

RunReport sample_report(const RunRequest& request, const Graph& graph, const InputSamples& samples,
                        SampleRuns runs, const SampleFacts& more) {
  RunReport report;
  nlohmann::json facts = {{"inputs", runs.count}, {"seconds", runs.seconds}};
  for (const auto& [name, value] : more.facts) facts[name] = nlohmann::json::parse(value);
  if (!samples.text().empty()) facts["preprocessing"] = nlohmann::json::parse(samples.json());
  report.summary =
      samples.text() +
      fmt::format("{} inputs in {:.2f} s on the {} engine\n", runs.count, runs.seconds, more.engine) +
      more.lines;
  if (request.verify) {
    const int64_t outputs = runs.count * int64_t(runs.outputs.size());
    facts["mismatches"] = runs.mismatches;
    report.verdict =
        runs.mismatches == 0
            ? fmt::format("all {} outputs are bit-identical to the integer reference\n", outputs)
            : fmt::format("{} of {} outputs differ from the integer reference\n", runs.mismatches, outputs);
  }
  if (runs.mismatches != 0) {
    report.disagreement = Error(ErrorKind::kInternal, "the engine and the integer reference disagree");
  }
  if (runs.ending != Ending::kNone) {
    facts["ending"] = ending_name(runs.ending);
    report.ending = runs.ending;
  }
  report.facts = json_text(facts);
  for (size_t o = 0; o < runs.outputs.size(); ++o) {
    report.outputs.emplace_back(graph.value(graph.outputs[o]).name, std::move(runs.outputs[o]));
  }
  report.classes = std::move(runs.classes);
  return report;
}

InputSamples input_samples(const RunRequest& request, const Graph& graph) {
  return InputSamples::read(request.input, graph, kInputOption, request.threads);
}

}  // namespace tilewright
