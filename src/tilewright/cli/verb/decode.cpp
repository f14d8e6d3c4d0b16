// `decode`: continues a text, token by token, with a bundle of `compile --decode`.
#include "tilewright/flow/run/decode.h"

#include <fmt/format.h>

#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {

void decode(const DecodeOptions& options, std::ostream& out) {
  Deadline deadline;
  const Interruptible interruptible(deadline);
  DecodeRequest request{.bundle = options.bundle,
                        .hardware = options.hardware,
                        .prompt_tokens = options.prompt_tokens,
                        .tokens = options.tokens,
                        .temperature = options.temperature,
                        .top = options.top,
                        .seed = options.seed,
                        .engine = engine_request(options.engine),
                        .verify = options.verify,
                        .folders = shared_folders()};
  if (options.prompt_tokens.empty()) request.prompt = options.prompt;
  request.engine.deadline = &deadline;
  const DecodeReport report = with_progress("decoding with " + options.bundle, [&](ProgressLine& line) {
    request.progress = [&line](int64_t done, int64_t count) {
      line.update([&] { return count_text(done, count, "tokens"); });
    };
    return tilewright::decode(request);
  });
  out << (options.json ? report.answer.json : report.answer.text);
  if (report.disagreement) throw Error(*report.disagreement);
}

}  // namespace tilewright::cli
