// `exec`: a raw program on the engine that the options name.
#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/run/raw_run.h"

namespace tilewright::cli {

void exec(const ExecOptions& options, std::ostream& out) {
  const Answer answer = run_raw_program({.program = options.program,
                                         .engine = engine_request(options.engine),
                                         .check = options.check,
                                         .allow_outside = options.allow_outside,
                                         .time_s = options.time_s,
                                         .folders = shared_folders()});
  out << (options.json ? answer.json : answer.text);
}

}  // namespace tilewright::cli
