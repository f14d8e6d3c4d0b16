// `place`: writes the files that are asked for and prints the report; without a mapping that is the exit
// code.
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/flow/place/place_question.h"

namespace tilewright::cli {
namespace {

PlaceQuestion place_question_of(const PlaceVerbOptions& options) {
  return {.graph = options.graph,
          .expression = options.expression,
          .fabric = options.fabric,
          .ii = options.ii,
          .method = options.method,
          .objective = options.objective,
          .policy = options.policy,
          .samples = options.samples,
          .beam = options.beam,
          .delay = options.delay,
          .starters = options.starters,
          .fixed = options.fixed,
          .routed = options.routed,
          .places_only = options.places_only,
          .evaluations = options.evaluations,
          .seed = options.seed,
          .threads = options.threads,
          .proof_folder = options.proof_folder,
          .folders = shared_folders()};
}

std::string request_name(const PlaceVerbOptions& options) {
  return options.graph.empty() ? "the expression" : options.graph;
}

// The verbs of `place` stand where a graph may stand.
void check_graph_word(const std::string& word) {
  std::error_code failed;
  const std::string verb = nearest_word(word, {"train", "bench"});
  if (verb.empty() || std::filesystem::exists(word, failed)) return;
  throw Error(ErrorKind::kInvalidInput, "there is no graph '" + word + "' and no verb 'place " + word + "'",
              did_you_mean(word, {"train", "bench"}) + "or name the file of a graph");
}

}  // namespace

void place(const PlaceVerbOptions& options, std::ostream& out) {
  check_graph_word(options.graph);
  const CommandLimits limits(options.limits);
  PlaceRequest request = place_request(place_question_of(options));
  request.options.limits.deadline = &limits.deadline();
  const PlaceReport report =
      with_progress("placing " + request_name(options), [&] { return tilewright::place(request); });
  if (report.best >= 0) {
    const auto program = mapped_program(request, report.points[size_t(report.best)]);
    if (!options.output.empty()) write_text_file(options.output, print_mapped_program(program));
    if (!options.svg.empty()) write_text_file(options.svg, place_picture(program));
    if (!options.configuration.empty())
      write_text_file(options.configuration, print_configuration(device_configuration(program)));
  }
  write_page(options.page, [&] { return place_page(request, report); });
  out << (options.json ? place_json(request, report)
                       : place_text(request, report) + limits.note(report.ending));
  if (report.best < 0) throw missing_mapping(report);
}

}  // namespace tilewright::cli
