// The command line of `records` and its verbs.
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/verb_options.h"

namespace tilewright::cli {
namespace {

Verb* add_action(CLI::App& records, const std::string& name, const std::string& description,
                 const std::string& example, RecordsOptions& options, std::ostream& out,
                 void (*action)(const RecordsOptions&, std::ostream&)) {
  Verb* verb = add_verb(records, name, description, example);
  add_json(verb, options.json);
  verb->callback([&options, &out, action] { action(options, out); });
  return verb;
}

}  // namespace

CLI::App* add_records(CLI::App& app, RecordsOptions& options, std::ostream& out) {
  Verb* records =
      add_verb(app, "records", "Measured trials: show the best, export, import, merge, statistics, recover",
               "records best tune.db");
  records->require_subcommand(1);

  Verb* verb = add_action(*records, "best", "The best schedule known for each layer and machine",
                          "records best tune.db --hardware overlay-16x16", options, out, records_best);
  reads(verb->add_option("files", options.files,
                         "Databases of records, or records as text (.jsonl, .jsonl.gz)"))
      ->required();
  verb->add_option("--workload", options.workload, "Only layers whose text contains this");
  reads(verb->add_option("--hardware", options.hardware,
                         "Only of this overlay: a preset's name or a YAML file"));
  reads(verb->add_option(
      "--memory", options.memory,
      "Memory of that overlay: ideal, fixed[:LATENCY[:INTERVAL]], ddr, or a YAML file (default: fixed)"));

  verb->refuse({"--memory"}, "without --hardware", [&options] { return options.hardware.empty(); });

  verb = add_action(*records, "export", "Write records as text: one JSON object per line",
                    "records export tune.db --best -o best.jsonl.gz", options, out, records_export);
  reads(verb->add_option("database", options.database, "Database of records"))->required();
  writes(verb->add_option("-o,--output", options.output,
                          "File to write, compressed if it ends in .gz (default: -, standard output)"));
  verb->add_flag("--best", options.best, "Only the best record of each layer and machine");

  verb =
      add_action(*records, "import", "Add records from text files to a database, which is created if needed",
                 "records import tune.db measured.jsonl", options, out, records_import);
  reads(verb->add_option("database", options.database, "Database of records"))->required();
  reads(verb->add_option("files", options.files, "Text files (.jsonl, .jsonl.gz; - reads standard input)"))
      ->required();

  verb = add_action(*records, "merge",
                    "Add the records of other databases to a database, which is created if needed",
                    "records merge all.db monday.db tuesday.db", options, out, records_merge);
  reads(verb->add_option("database", options.database, "Database of records to add to"))->required();
  reads(verb->add_option("files", options.files, "Databases to add"))->required();

  verb = add_action(*records, "stats", "How many records a database holds, of what, and how long they took",
                    "records stats tune.db", options, out, records_stats);
  reads(verb->add_option("files", options.files, "Databases of records"))->required();

  verb = add_action(*records, "recover", "Save every intact record of a damaged database into a new one",
                    "records recover damaged.db -o saved.db", options, out, records_recover);
  reads(verb->add_option("database", options.database, "Damaged database"))->required();
  writes(verb->add_option("-o,--output", options.output, "Database to create"))->required();
  return records;
}

}  // namespace tilewright::cli
