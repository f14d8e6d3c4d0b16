// Rendering of errors: context chain first, then one line per diagnostic.
#include "tilewright/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tilewright {

const char* error_kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidInput:
      return "invalid input";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kInfeasible:
      return "infeasible";
    case ErrorKind::kInternal:
      return "internal error";
  }
  return "internal error";
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.where;
  if (!diagnostic.op.empty()) text += text.empty() ? diagnostic.op : fmt::format(" ({})", diagnostic.op);
  if (!text.empty()) text += ": ";
  text += diagnostic.message;
  if (!diagnostic.hint.empty()) text += "; " + diagnostic.hint;
  return text;
}

Error::Error(ErrorKind kind, std::string message, std::string hint)
    : kind_(kind), diagnostics_{{kind, "", "", std::move(message), std::move(hint)}} {
  render();
}

Error::Error(std::vector<Diagnostic> diagnostics)
    : kind_(ErrorKind::kInternal), diagnostics_(std::move(diagnostics)) {
  for (const Diagnostic& d : diagnostics_) kind_ = std::min(kind_, d.kind);
  render();
}

Error& Error::add_context(const std::string& context) {
  context_ = context_.empty() ? context : context + ": " + context_;
  render();
  return *this;
}

void Error::render() {
  text_ = context_;
  if (diagnostics_.size() == 1) {
    if (!text_.empty()) text_ += ": ";
    text_ += to_string(diagnostics_[0]);
    return;
  }
  text_ += fmt::format("{}{} problems", text_.empty() ? "" : ": ", diagnostics_.size());
  for (const Diagnostic& d : diagnostics_) text_ += "\n  " + to_string(d);
}

void Diagnostics::error(ErrorKind kind, std::string where, std::string op, std::string message,
                        std::string hint) {
  errors_.push_back({kind, std::move(where), std::move(op), std::move(message), std::move(hint)});
}

void Diagnostics::warn(std::string where, std::string op, std::string message, std::string hint) {
  warnings_.push_back(
      {ErrorKind::kInvalidInput, std::move(where), std::move(op), std::move(message), std::move(hint)});
}

void Diagnostics::raise_if_any(const std::string& context) const {
  if (ok()) return;
  Error error(errors_);
  if (!context.empty()) error.add_context(context);
  throw error;
}

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw Error(ErrorKind::kInternal, fmt::format("{} ({}:{}: {})", message, file, line, condition),
              "please report this as a bug of Tilewright");
}

}  // namespace tilewright
