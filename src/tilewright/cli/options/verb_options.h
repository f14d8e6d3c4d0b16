// How verbs declare their options.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {

// A verb with what no single option knows: no output is an input, and no option is without effect.
class Verb : public CLI::App {
 public:
  Verb(std::string description, const std::string& name, CLI::App* parent);

  // The options `names` have no effect where `idle()` holds once the command line is read; `why` tells it:
  // "without --method rl", "with --table". They are refused there.
  void refuse(const std::vector<std::string>& names, const std::string& why, std::function<bool()> idle);
  // Errors (invalid input): every option that was given and has no effect.
  void check_effects() const;

 private:
  struct Rule {
    std::vector<std::string> names;
    std::string why;
    std::function<bool()> idle;
  };
  std::vector<Rule> rules_;
};

// A verb's sub-command with its description and one worked example, shown by --help.
Verb* add_verb(CLI::App& app, const std::string& name, const std::string& description,
               const std::string& example);

// One function per verb, with its options; it returns the sub-command.
CLI::App* add_inspect(CLI::App& app, InspectOptions& options, std::ostream& out);
CLI::App* add_optimize(CLI::App& app, OptimizeOptions& options, std::ostream& out);
CLI::App* add_quantize(CLI::App& app, QuantizeVerbOptions& options, std::ostream& out);
CLI::App* add_compile(CLI::App& app, CompileOptions& options, std::ostream& out);
CLI::App* add_run(CLI::App& app, RunOptions& options, std::ostream& out);
CLI::App* add_decode(CLI::App& app, DecodeOptions& options, std::ostream& out);
CLI::App* add_compare(CLI::App& app, CompareOptions& options, std::ostream& out);
CLI::App* add_report(CLI::App& app, ReportOptions& options, std::ostream& out);
CLI::App* add_explain(CLI::App& app, ExplainVerbOptions& options, std::ostream& out);
CLI::App* add_tune(CLI::App& app, TuneOptions& options, std::ostream& out);
CLI::App* add_exec(CLI::App& app, ExecOptions& options, std::ostream& out);
CLI::App* add_generate(CLI::App& app, GenerateOptions& options, std::ostream& out);
CLI::App* add_synth(CLI::App& app, SynthOptions& options, std::ostream& out);
CLI::App* add_map(CLI::App& app, MapOptions& options, std::ostream& out);
CLI::App* add_place(CLI::App& app, PlaceVerbs& verbs, std::ostream& out);
CLI::App* add_explore(CLI::App& app, ExploreOptions& options, std::ostream& out);
CLI::App* add_study(CLI::App& app, StudyVerbs& verbs, std::ostream& out);
CLI::App* add_records(CLI::App& app, RecordsOptions& options, std::ostream& out);
CLI::App* add_schema(CLI::App& app, SchemaOptions& options, std::ostream& out);
CLI::App* add_demo(CLI::App& app, DemoOptions& options, std::ostream& out);
CLI::App* add_doctor(CLI::App& app, DoctorOptions& options, std::ostream& out);
CLI::App* add_worker(CLI::App& app, WorkerVerbOptions& options, int& exit_code);

}  // namespace tilewright::cli
