// `exec`: a raw program on the engine that the options name.
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/run/raw_run.h"

namespace tilewright::cli {

void exec(const ExecOptions& options, std::ostream& out) {
  Deadline deadline(options.time_s);
  const Interruptible interruptible(deadline);
  EngineRequest engine = engine_request(options.engine);
  engine.deadline = &deadline;
  const Answer answer = with_progress("executing " + options.program, [&] {
    return run_raw_program({.program = options.program,
                            .engine = engine,
                            .check = options.check,
                            .allow_outside = options.allow_outside,
                            .folders = shared_folders()});
  });
  out << (options.json ? answer.json : answer.text);
}

}  // namespace tilewright::cli
