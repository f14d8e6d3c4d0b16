// With --json the answer is collected before it is printed, so that an error that follows it becomes a member
// of the same document.
#include "tilewright/cli/options/conclusion.h"

#include <fmt/format.h>

#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/command_limits.h"

namespace tilewright::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Failure {
  int code;
  std::string kind, text;
  std::vector<Diagnostic> diagnostics;
};

Failure failure_of(ErrorKind kind, const std::string& text, std::vector<Diagnostic> diagnostics = {}) {
  if (diagnostics.empty()) diagnostics = {{.kind = kind, .message = text}};
  return {int(kind), error_kind_name(kind), text, std::move(diagnostics)};
}

std::optional<Failure> failure_in(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return failure_of(error.kind(), error.what(), error.diagnostics());
  } catch (const Expired&) {
    return failure_of(ErrorKind::kInfeasible, was_interrupted()
                                                  ? "interrupted before there was a result"
                                                  : "the time or memory limit was reached before there was a "
                                                    "result; allow more with --time or --memory-limit");
  } catch (const std::bad_alloc&) {
    return failure_of(ErrorKind::kInvalidInput,
                      "out of memory; make the input smaller, or allow more with "
                      "--memory-limit where the verb has it");
  } catch (const std::exception& error) {
    return failure_of(ErrorKind::kInternal,
                      fmt::format("internal error: {}; please report this as a bug", error.what()));
  }
}

Json error_json(const Failure& failure) {
  Json diagnostics = Json::array();
  for (const Diagnostic& d : failure.diagnostics) {
    diagnostics.push_back({{"kind", error_kind_name(d.kind)},
                           {"where", d.where},
                           {"op", d.op},
                           {"message", d.message},
                           {"hint", d.hint}});
  }
  return {{"code", failure.code},
          {"kind", failure.kind},
          {"message", failure.text},
          {"diagnostics", std::move(diagnostics)}};
}

// A list becomes the member "items". What is no JSON has been asked for in another form, and stays as it is.
std::string document(const DocumentHead& head, const std::string& answer,
                     const std::optional<Failure>& failure) {
  Json json = {{"command", head.command}, {"version", head.version}, {"schema", kAnswerSchema}};
  if (!answer.empty()) {
    Json members = Json::parse(answer, nullptr, false);
    if (members.is_discarded()) return answer;
    if (members.is_array()) members = {{"items", std::move(members)}};
    for (const auto& [name, value] : members.items()) json[name] = value;
  }
  if (failure) json["error"] = error_json(*failure);
  return json_text(json, 2) + "\n";
}

std::optional<Failure> flushed() {
  std::cout.flush();
  if (std::cout) return {};
  return failure_of(ErrorKind::kInvalidInput, "cannot write to standard output");
}

Json string_schema(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json diagnostic_schema() {
  Json properties = {{"kind", {{"enum", Json::array()}}}};
  for (const ErrorKind kind :
       {ErrorKind::kInvalidInput, ErrorKind::kUnsupported, ErrorKind::kInfeasible, ErrorKind::kInternal})
    properties["kind"]["enum"].push_back(error_kind_name(kind));
  properties["where"] = string_schema("a node, or a file with a line");
  properties["op"] = string_schema("the operator or field concerned");
  properties["message"] = string_schema("what is wrong");
  properties["hint"] = string_schema("what to do");
  return {{"type", "object"},
          {"properties", properties},
          {"required", {"kind", "where", "op", "message", "hint"}},
          {"additionalProperties", false}};
}

}  // namespace

nlohmann::ordered_json answer_schema() {
  const Json error = {
      {"type", "object"},
      {"properties",
       {{"code", {{"type", "integer"}, {"description", "the exit code"}}},
        {"kind", string_schema("of the first diagnostic, or interrupted")},
        {"message", string_schema("all diagnostics, as standard error has them")},
        {"diagnostics", {{"type", "array"}, {"items", diagnostic_schema()}, {"minItems", 1}}}}},
      {"required", {"code", "kind", "message", "diagnostics"}},
      {"additionalProperties", false}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"$id", std::string("tilewright:") + kAnswerSchema},
          {"title", "Tilewright: the answer of a verb with --json"},
          {"type", "object"},
          {"properties",
           {{"command", string_schema("the verb")},
            {"version", string_schema("of the command")},
            {"schema", {{"const", kAnswerSchema}}},
            {"error", error}}},
          {"required", {"command", "version", "schema"}}};
}

bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int conclude(bool json, const std::function<int(std::ostream&)>& work,
             const std::function<DocumentHead()>& head) {
  std::ostringstream answer;
  int code = 0;
  std::optional<Failure> failure = failure_in([&] { code = work(json ? answer : std::cout); });
  if (was_interrupted()) {
    code = kInterruptedExit;
    if (failure) failure->code = code, failure->kind = "interrupted";
  }
  // --help prints text and runs nothing.
  if (json && (failure || !answer.str().empty())) std::cout << document(head(), answer.str(), failure);
  if (std::optional<Failure> unwritten = flushed(); unwritten && !failure) failure = std::move(unwritten);
  if (!failure) return code;
  std::cerr << "tilewright: " << failure->text << "\n";
  return failure->code;
}

}  // namespace tilewright::cli
