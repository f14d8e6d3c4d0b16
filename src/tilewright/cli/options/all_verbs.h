// The command as a whole: its verbs by the task that they are for.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>

#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {

// What the command line sets.
struct AllOptions {
  DemoOptions demo;
  InspectOptions inspect;
  OptimizeOptions optimize;
  QuantizeVerbOptions quantize;
  CompileOptions compile;
  RunOptions run;
  DecodeOptions decode;
  CompareOptions compare;
  ReportOptions report;
  ExplainVerbOptions explain;
  TuneOptions tune;
  ExecOptions exec;
  GenerateOptions generate;
  SynthOptions synth;
  MapOptions map;
  PlaceVerbs place;
  ExploreOptions explore;
  StudyVerbs study;
  RecordsOptions records;
  SchemaOptions schema;
  DoctorOptions doctor;
  WorkerVerbOptions worker;
};

// Adds every verb to `app`. A verb that the command line names runs while `app` parses it: it writes its
// answer to `out`, and its exit code, if it has one of its own, to `exit_code`.
void add_verbs(CLI::App& app, AllOptions& all, std::ostream& out, int& exit_code);

}  // namespace tilewright::cli
