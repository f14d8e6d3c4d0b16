// The table of verbs. The order here is the order of --help.
#include "tilewright/cli/options/all_verbs.h"

#include <string>

#include "tilewright/cli/options/help_format.h"
#include "tilewright/cli/options/verb_options.h"

namespace tilewright::cli {

void add_verbs(CLI::App& app, AllOptions& all, std::ostream& out, int& exit_code) {
  app.require_subcommand(1);
  const auto format = std::make_shared<HelpFormat>();
  format->label("SUBCOMMAND", "VERB");
  format->label("Positionals", "Arguments");
  app.formatter(format);
  app.option_defaults()->always_capture_default();
  app.footer("'tilewright VERB --help' explains a verb and shows an example.");
  std::string group;
  const auto add = [&](auto add_verb, auto& options) { add_verb(app, options, out)->group(group); };

  group = "Begin here";
  add(add_demo, all.demo);
  group = "Prepare a model";
  add(add_inspect, all.inspect);
  add(add_optimize, all.optimize);
  add(add_quantize, all.quantize);
  group = "Compile a model for an overlay and run it";
  add(add_compile, all.compile);
  add(add_run, all.run);
  add(add_decode, all.decode);
  add(add_compare, all.compare);
  add(add_report, all.report);
  add(add_explain, all.explain);
  add(add_tune, all.tune);
  add(add_exec, all.exec);
  group = "Generate an FPGA design for one model";
  add(add_generate, all.generate);
  add(add_synth, all.synth);
  group = "Map layers and loops onto arrays";
  add(add_map, all.map);
  add(add_place, all.place);
  group = "Choose hardware and keep what was measured";
  add(add_explore, all.explore);
  add(add_study, all.study);
  add(add_records, all.records);
  group = "This installation";
  add(add_schema, all.schema);
  add(add_doctor, all.doctor);
  add_worker(app, all.worker, exit_code);
}

}  // namespace tilewright::cli
