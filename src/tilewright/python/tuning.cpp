// Schedules tuned, overlays explored, what studies teach, and databases of records.
#include "tilewright/flow/tune/tuning.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/flow/explore/exploration_plots.h"
#include "tilewright/flow/explore/explore_question.h"
#include "tilewright/flow/explore/jobs.h"
#include "tilewright/flow/explore/study_tables.h"
#include "tilewright/flow/explore/workers.h"
#include "tilewright/flow/tune/record_files.h"
#include "tilewright/python/bindings.h"

namespace tilewright::python {

namespace py = pybind11;

namespace {

using namespace pybind11::literals;

void report_tuning(Background& background, const NetworkTuneProgress& at, int64_t trials) {
  std::string line = fmt::format("layer {} of {}, {}", at.layer + 1, at.layers, at.name);
  if (at.trials.best) line += fmt::format(": best {:.0f} cycles", at.trials.best_cost);
  const double layer = double(at.trials.trials) / double(trials);
  background.report(std::move(line), (double(at.layer) + layer) / double(at.layers));
}

void bind_tune(py::module_& m) {
  py::class_<FleetRequest>(m, "FleetRequest")
      .def(py::init<>())
      .def_readwrite("executor", &FleetRequest::executor)
      .def_readwrite("jobs", &FleetRequest::jobs)
      .def_readwrite("folder", &FleetRequest::folder)
      .def_readwrite("partition", &FleetRequest::partition)
      .def_readwrite("worker_command", &FleetRequest::worker_command);
  py::class_<NetworkTuneOptions>(m, "TuneOptions")
      .def(py::init<>())
      .def_readwrite("search", &NetworkTuneOptions::search)
      .def_readwrite("trials", &NetworkTuneOptions::trials)
      .def_readwrite("batch", &NetworkTuneOptions::batch)
      .def_readwrite("seed", &NetworkTuneOptions::seed)
      .def_readwrite("threads", &NetworkTuneOptions::threads)
      .def_property(
          "memory", [](const NetworkTuneOptions&) { return py::none(); },
          [](NetworkTuneOptions& o, const std::string& name) { o.memory = find_memory_model(name); })
      .def_readwrite("layers", &NetworkTuneOptions::layers);
  m.def("tune", [](const CompiledBundle& bundle, NetworkTuneOptions options,
                   const std::filesystem::path& records, const FleetRequest& fleet, const Limits& limits,
                   const py::object& progress) {
    CallDeadline deadline(limits);
    Background background(deadline.get(), progress);
    const NetworkTuning tuning = background.run([&] {
      const auto database = open_tuning_records(records);
      const auto workers = make_workers(fleet);
      options.deadline = deadline.get();
      options.records = database.get();
      options.executor = workers.get();
      return tune_network(bundle.prepared->bundle(), options, [&](const NetworkTuneProgress& at) {
        report_tuning(background, at, options.trials);
        return true;
      });
    });
    py::list curves;
    for (const TunedLayer& layer : tuning.layers) curves.append(layer.result.best_so_far());
    return py::dict("bundle"_a = CompiledBundle{std::make_shared<const PreparedBundle>(tuning.bundle), {}},
                    "text"_a = to_string(tuning), "json"_a = tuning_json(tuning),
                    "page"_a = page_of(tuning_page(tuning)), "curves"_a = curves,
                    "ending"_a = ending_name(tuning.ending));
  });
  m.def("serve_jobs",
        [](const std::filesystem::path& folder, const std::vector<std::string>& jobs, int attempt) {
          const py::gil_scoped_release release;
          return serve_jobs({folder, jobs, attempt}, {std::cin, std::cout, std::cerr});
        });
}

py::dict study_of(const ExplorationReport& report) {
  return py::dict("text"_a = to_string(report), "json"_a = to_json(report),
                  "page"_a = page_of(exploration_page(report)), "svg"_a = draw_front(report).document(),
                  "ending"_a = ending_name(report.ending));
}

void bind_explore(py::module_& m) {
  py::class_<ExploreQuestion>(m, "ExploreQuestion")
      .def(py::init<>())
      .def_readwrite("model", &ExploreQuestion::model)
      .def("set_bundle",
           [](ExploreQuestion& q, const CompiledBundle& bundle) {
             q.bundle = std::make_shared<const Bundle>(bundle.prepared->bundle());
           })
      .def_readwrite("device", &ExploreQuestion::device)
      .def_readwrite("memory", &ExploreQuestion::memory)
      .def_readwrite("precision", &ExploreQuestion::precision)
      .def_readwrite("folder", &ExploreQuestion::folder)
      .def_readwrite("trials", &ExploreQuestion::trials)
      .def_readwrite("candidates", &ExploreQuestion::candidates)
      .def_readwrite("seed", &ExploreQuestion::seed)
      .def_readwrite("threads", &ExploreQuestion::threads)
      .def_readwrite("changed_only", &ExploreQuestion::changed_only)
      .def_readwrite("fleet", &ExploreQuestion::fleet);
  m.def("explore", [](ExploreQuestion question, const Limits& limits, const std::string& prefix,
                      const py::object& progress) {
    CallDeadline deadline(limits);
    Background background(deadline.get(), progress);
    question.deadline = deadline.get();
    question.folders = folders(prefix);
    question.origin = page_origin();
    ExplorationWatcher watcher;
    watcher.progress = [&](int bits, const tune::ExplorationProgress& at) {
      std::string line = fmt::format("w{0}a{0}: {1} tuned, {2} left", bits, at.evaluated, at.alive);
      if (at.best_s > 0) line += fmt::format(", best {:.3f} ms", 1e3 * at.best_s);
      std::optional<double> share;
      if (deadline.get()->limited()) share = deadline.get()->seconds() / deadline.get()->limit();
      background.report(std::move(line), share);
      return true;
    };
    return study_of(background.run([&] { return answer_explore(question, watcher); }));
  });
  m.def("study", [](const std::filesystem::path& folder) { return study_of(read_exploration(folder)); });
  m.def("importance",
        [](const std::filesystem::path& data, const std::vector<std::string>& targets, uint64_t seed) {
          return in_background([&] {
            const tune::SampleTable table = read_sample_table(data);
            const ImportanceReport report =
                study_importance(table, targets.empty() ? learnable_targets(table) : targets, seed);
            return std::tuple(to_string(table, report), to_json(table, report),
                              page_of(importance_page(table, report, "Importance of design choices")));
          });
        });
  m.def("rules", [](const std::string& device, const std::string& prefix) {
    return pair_of(in_background([&] { return implementation_rules(device, folders(prefix)); }));
  });
}

// Calls that add files to a database tell what each added.
template <typename Add>
py::tuple files_added(const Add& add) {
  std::vector<std::pair<std::string, int64_t>> added;
  const int64_t records = in_background(
      [&] { return add([&](const std::string& file, int64_t count) { added.emplace_back(file, count); }); });
  return py::make_tuple(records, added);
}

void bind_records(py::module_& m) {
  m.def("best_records",
        [](const std::vector<std::string>& files, const std::string& workload, const std::string& hardware,
           const std::string& memory, const std::string& prefix) {
          return pair_of(in_background([&] {
            return best_records({files, workload, hardware, memory, folders(prefix)});
          }));
        });
  m.def("export_records",
        [](const std::filesystem::path& database, bool best_only, const std::filesystem::path& output) {
          return in_background([&] { return export_record_file(database, best_only, output); });
        });
  m.def("import_records", [](const std::filesystem::path& database, const std::vector<std::string>& files) {
    return files_added(
        [&](const FileAdded& added) { return import_record_texts(database, files, std::cin, added); });
  });
  m.def("merge_records", [](const std::filesystem::path& database, const std::vector<std::string>& files) {
    return files_added([&](const FileAdded& added) { return merge_record_files(database, files, added); });
  });
  m.def("record_statistics", [](const std::string& database) {
    return pair_of(in_background([&] { return record_statistics(database); }));
  });
  m.def("recover_records", [](const std::filesystem::path& damaged, const std::filesystem::path& output) {
    return in_background([&] { return save_intact_records(damaged, output); });
  });
}

}  // namespace

void bind_tuning(py::module_& m) {
  bind_tune(m);
  bind_explore(m);
  bind_records(m);
}

}  // namespace tilewright::python
