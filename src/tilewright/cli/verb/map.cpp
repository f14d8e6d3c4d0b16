// `map`: the question that the options ask, with a line of progress; writes the files and prints the report.
#include <fmt/format.h>

#include <iostream>
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/map/map_question.h"

namespace tilewright::cli {
namespace {

MapQuestion map_question_of(const MapOptions& options) {
  MapQuestion question{.model = model_file(options.model),
                       .workload = options.workload,
                       .hardware = options.hardware,
                       .mapping = options.mapping,
                       .dataflow = options.dataflow,
                       .batch = options.batch,
                       .equal_area = options.equal_area,
                       .imperfect = options.imperfect,
                       .objective = options.objective,
                       .rules = options.rules,
                       .max_cycles = options.max_cycles,
                       .time_s = options.limits.time_s,
                       .threads = options.threads,
                       .pareto_buffer = options.pareto_buffer,
                       .pareto = options.pareto,
                       .unions = options.unions,
                       .fuse = options.fuse,
                       .simulate = options.simulate,
                       .baseline = options.baseline,
                       .cache = options.cache,
                       .tool_version = TILEWRIGHT_VERSION,
                       .folders = shared_folders()};
  question.timeloop.assign(options.timeloop.begin(), options.timeloop.end());
  question.note = [](const Diagnostic& note) { std::cerr << "note: " << to_string(note) << "\n"; };
  return question;
}

std::string mapping_progress(const NetworkProgress& at) {
  std::string text = fmt::format("{} of {}: {}", at.number, at.count, at.layer);
  if (at.best > 0)
    text += fmt::format(", best {:.4g}, gap {:.1f} %", at.best, 100 * (1 - at.bound / at.best));
  return text;
}

MapAnswer answer_with_progress(MapQuestion question) {
  ProgressLine line("mapping");
  question.progress = [&line](const NetworkProgress& at) {
    line.update([&] { return mapping_progress(at); });
  };
  return answer_map(question);
}

void write_files(const MapOptions& options, const MapAnswer& answer) {
  if (!options.csv.empty()) write_text_file(options.csv, map_csv(answer));
  if (!options.plot.empty()) write_text_file(options.plot, map_svg(answer));
  if (!options.output.empty()) write_text_file(options.output, map_mappings(answer));
  write_page(options.page, [&] { return map_page(answer); });
}

}  // namespace

void map(const MapOptions& options, std::ostream& out) {
  const CommandLimits limits(options.limits);
  MapQuestion question = map_question_of(options);
  question.deadline = &limits.deadline();
  const MapAnswer answer = answer_with_progress(std::move(question));
  write_files(options, answer);
  if (options.json) {
    out << map_json(answer);
  } else {
    out << map_text(answer, options.show_mappings) << limits.note();
    const int asked = answer.cache_hits + answer.cache_misses;
    if (asked > 0)
      out << fmt::format("note: {} of {} mappings came from the cache\n", answer.cache_hits, asked);
  }
  for (const std::string& warning : answer.cache_warnings) std::cerr << "warning: " << warning << "\n";
  // The results have been printed; the exit code says that layers are missing.
  if (const std::optional<Error> missing = missing_layers(answer)) throw Error(*missing);
}

}  // namespace tilewright::cli
