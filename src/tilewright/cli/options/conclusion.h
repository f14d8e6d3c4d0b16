// How a command ends: its answer goes to standard output, its problems go to standard error, and both are one
// JSON document on standard output where --json is given.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tilewright::cli {

// The exit code of a command that Ctrl-C ended, with what it had found by then (docs/reference/command.md).
inline constexpr int kInterruptedExit = 130;

// The name of the schema of all JSON documents that the command prints.
inline constexpr const char* kAnswerSchema = "answer";
// That schema (draft 2020-12): the first members and the error, beside which every verb has its own.
nlohmann::ordered_json answer_schema();

// Whether the words of a command line ask for JSON.
bool asks_for_json(int argc, char** argv);

// The first members of every JSON document that the command prints.
struct DocumentHead {
  std::string command;  // "study show"
  std::string version;
};

// Runs `work`, which writes its answer to the stream that it gets and returns the exit code, and prints how
// it ended. The exit code of errors is their kind; kInterruptedExit after Ctrl-C. `head` is asked afterwards.
int conclude(bool json, const std::function<int(std::ostream&)>& work,
             const std::function<DocumentHead()>& head);

}  // namespace tilewright::cli
