// Errors and diagnostics. Every problem with a user's input is an Error with a kind (its number is the exit
// code of the command) and a context chain; readers and checkers collect Diagnostics and report all of them
// in one Error. TILEWRIGHT_CHECK guards our own invariants, in release builds too.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

enum class ErrorKind { kInvalidInput = 1, kUnsupported = 2, kInfeasible = 3, kInternal = 4 };

// "invalid input", "unsupported", "infeasible", "internal error".
const char* error_kind_name(ErrorKind kind);

// One problem, located. Empty fields are left out when printed.
struct Diagnostic {
  ErrorKind kind = ErrorKind::kInvalidInput;
  std::string where;    // e.g. "node 'conv1'" or "model.yaml:12"
  std::string op;       // operator or field concerned
  std::string message;  // what is wrong
  std::string hint;     // what to do
};

// "node 'conv1' (Conv): message; hint".
std::string to_string(const Diagnostic& diagnostic);

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, std::string hint = {});
  // All of `diagnostics`, one per line; the kind is the lowest-numbered one among them.
  explicit Error(std::vector<Diagnostic> diagnostics);

  ErrorKind kind() const { return kind_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // Adds an outer context ("file 'a.onnx'"), printed before the message.
  Error& add_context(const std::string& context);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void render();
  ErrorKind kind_;
  std::vector<Diagnostic> diagnostics_;
  std::string context_;
  std::string text_;
};

// Work that was interrupted from outside: this says nothing about its input, and repeating it may succeed.
class InterruptedError : public Error {
 public:
  explicit InterruptedError(std::string message, std::string hint = {})
      : Error(ErrorKind::kInfeasible, std::move(message), std::move(hint)) {}
};

// A list that readers and checkers fill; the caller decides when to throw.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic) { errors_.push_back(std::move(diagnostic)); }
  void error(ErrorKind kind, std::string where, std::string op, std::string message, std::string hint = {});
  void warn(std::string where, std::string op, std::string message, std::string hint = {});
  bool ok() const { return errors_.empty(); }
  const std::vector<Diagnostic>& errors() const { return errors_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  // Throws an Error with every collected error and `context`, if there is one.
  void raise_if_any(const std::string& context = {}) const;

 private:
  std::vector<Diagnostic> errors_;
  std::vector<Diagnostic> warnings_;
};

// Runs `body` and adds `context` to any Error that leaves it.
template <typename Body>
decltype(auto) with_context(const std::string& context, Body&& body) {
  try {
    return body();
  } catch (Error& error) {
    error.add_context(context);
    throw;
  }
}

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& message);

}  // namespace tilewright

#define TILEWRIGHT_CHECK(condition, message) \
  ((condition) ? void(0) : ::tilewright::check_failed(#condition, __FILE__, __LINE__, message))
