// Precedence climbing over one pass of tokens. A wrong statement is reported once and skipped to its end.
#include "tilewright/cgra/graph/expression_parser.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace tilewright::cgra {
namespace {

constexpr size_t kLongestText = size_t{1} << 16;
constexpr int kDeepest = 100;

struct Token {
  enum class Kind : uint8_t { kNumber, kName, kSign, kEnd };  // kEnd: of a statement
  Kind kind = Kind::kEnd;
  std::string text;
  int32_t value = 0;
  int line = 1, column = 1;
};

struct Binary {
  const char* sign;
  int strength;
  Opcode op;
};

constexpr std::array kBinary = {
    Binary{"|", 1, Opcode::kOr},
    Binary{"^", 2, Opcode::kXor},
    Binary{"&", 3, Opcode::kAnd},
    Binary{"==", 4, Opcode::kEqual},
    Binary{"!=", 4, Opcode::kNotEqual},
    Binary{"<", 5, Opcode::kLess},
    Binary{"<=", 5, Opcode::kLessEqual},
    Binary{">", 5, Opcode::kGreater},
    Binary{">=", 5, Opcode::kGreaterEqual},
    Binary{"<<", 6, Opcode::kShiftLeft},
    Binary{">>", 6, Opcode::kShiftRight},
    Binary{"+", 7, Opcode::kAdd},
    Binary{"-", 7, Opcode::kSubtract},
    Binary{"*", 8, Opcode::kMultiply},
    Binary{"/", 8, Opcode::kDivide},
    Binary{"%", 8, Opcode::kRemainder},
};

// What ends the reading of one statement; its text has been reported.
struct BadStatement {};

class Parser {
 public:
  Parser(const std::string& text, const std::string& source, Diagnostics& diagnostics)
      : text_(text), source_(source), diagnostics_(diagnostics) {
    tokenise();
  }

  std::vector<Statement> run() {
    std::vector<Statement> statements;
    while (at_ < tokens_.size()) {
      if (now().kind == Token::Kind::kEnd) {
        ++at_;
        continue;
      }
      try {
        statements.push_back(statement());
        if (now().kind != Token::Kind::kEnd) fail(fmt::format("'{}' is not expected here", now().text));
      } catch (const BadStatement&) {
        while (now().kind != Token::Kind::kEnd) ++at_;
      }
    }
    return statements;
  }

 private:
  using Tree = std::unique_ptr<Expression>;

  const Token& now() const { return tokens_[at_]; }
  bool take(const char* sign) {
    if (now().kind != Token::Kind::kSign || now().text != sign) return false;
    ++at_;
    return true;
  }
  void need(const char* sign) {
    if (!take(sign)) fail(fmt::format("'{}' is expected", sign));
  }
  void report(const Token& token, const std::string& message) {
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("{}:{}:{}", source_, token.line, token.column),
                       "", message, "statements like d = (x - x0) * 2 + y[i]");
  }
  [[noreturn]] void fail(const std::string& message) {
    report(now(), message);
    throw BadStatement{};
  }
  void tokenise();
  size_t number(size_t at, Token& token);
  Statement statement();
  Tree choice(int depth);
  Tree binary(int strength, int depth);
  Tree unary(int depth);
  Tree primary(int depth);
  Tree call(const std::string& name, int depth);
  static Tree operation(Opcode op, std::vector<Tree> parts) {
    auto made = std::make_unique<Expression>();
    made->kind = Expression::Kind::kOperation;
    made->op = op;
    made->parts = std::move(parts);
    return made;
  }
  static std::vector<Tree> pair(Tree a, Tree b) {
    std::vector<Tree> parts;
    parts.push_back(std::move(a));
    parts.push_back(std::move(b));
    return parts;
  }

  const std::string& text_;
  const std::string& source_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

// Decimal or 0x; values up to 2^32-1 wrap, as literals of 32-bit words do.
size_t Parser::number(size_t at, Token& token) {
  const bool hexadecimal = text_.compare(at, 2, "0x") == 0;
  const size_t begin = at + (hexadecimal ? 2 : 0);
  uint64_t value = 0;
  bool sound = true;
  for (at = begin; at < text_.size() && (digit(text_[at]) || letter(text_[at])); ++at) {
    const char c = text_[at];
    const int base = hexadecimal ? 16 : 10;
    const int digit_value = digit(c)                             ? c - '0'
                            : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                                 : 99;
    sound = sound && digit_value < base;
    value = std::min<uint64_t>(value * uint64_t(base) + uint64_t(digit_value), uint64_t{1} << 40);
  }
  if (!sound || at == begin || value > std::numeric_limits<uint32_t>::max())
    report(token, fmt::format("'{}' is no 32-bit number", token.text));
  token.kind = Token::Kind::kNumber;
  token.value = int32_t(uint32_t(value));
  return at;
}

void Parser::tokenise() {
  int line = 1;
  size_t line_start = 0;
  for (size_t at = 0; at < text_.size();) {
    const char c = text_[at];
    Token token{.line = line, .column = int(at - line_start) + 1};
    if (c == '#') {
      while (at < text_.size() && text_[at] != '\n') ++at;
    } else if (c == ';' || c == '\n') {
      tokens_.push_back(token);
      ++at;
      if (c == '\n') ++line, line_start = at;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (digit(c)) {
      size_t end = at;
      while (end < text_.size() && (digit(text_[end]) || letter(text_[end]))) ++end;
      token.text = text_.substr(at, end - at);
      at = number(at, token);
      tokens_.push_back(token);
    } else if (letter(c)) {
      token.kind = Token::Kind::kName;
      while (at < text_.size() && (letter(text_[at]) || digit(text_[at]))) token.text += text_[at++];
      tokens_.push_back(token);
    } else {
      token.kind = Token::Kind::kSign;
      token.text = std::string(1, c);
      for (const char* two : {"==", "!=", "<=", ">=", "<<", ">>", ":="}) {
        if (text_.compare(at, 2, two) == 0) token.text = two;
      }
      at += token.text.size();
      tokens_.push_back(token);
    }
  }
  tokens_.push_back({.line = line, .column = int(text_.size() - line_start) + 1});
}

Statement Parser::statement() {
  Statement made;
  made.where = fmt::format("{}:{}:{}", source_, now().line, now().column);
  if (now().kind != Token::Kind::kName) fail("a name to assign to is expected");
  made.target = tokens_[at_++].text;
  if (take("[")) {
    made.index = choice(0);
    need("]");
  }
  made.initial = !made.index && take(":=");
  if (!made.initial) need("=");
  made.value = choice(0);
  return made;
}

Parser::Tree Parser::choice(int depth) {
  if (depth > kDeepest) fail(fmt::format("nested deeper than {}", kDeepest));
  Tree condition = binary(1, depth);
  if (!take("?")) return condition;
  std::vector<Tree> parts = pair(std::move(condition), choice(depth + 1));
  need(":");
  parts.push_back(choice(depth + 1));
  return operation(Opcode::kSelect, std::move(parts));
}

Parser::Tree Parser::binary(int strength, int depth) {
  Tree left = unary(depth);
  while (true) {
    const Binary* found = nullptr;
    for (const Binary& entry : kBinary) {
      if (now().kind == Token::Kind::kSign && now().text == entry.sign && entry.strength >= strength)
        found = &entry;
    }
    if (!found) return left;
    ++at_;
    left = operation(found->op, pair(std::move(left), binary(found->strength + 1, depth + 1)));
  }
}

Parser::Tree Parser::unary(int depth) {
  if (depth > kDeepest) fail(fmt::format("nested deeper than {}", kDeepest));
  const bool negate = now().kind == Token::Kind::kSign && now().text == "-";
  if (!negate && !(now().kind == Token::Kind::kSign && now().text == "~")) return primary(depth);
  ++at_;
  std::vector<Tree> parts;
  parts.push_back(unary(depth + 1));
  return operation(negate ? Opcode::kNegate : Opcode::kNot, std::move(parts));
}

Parser::Tree Parser::call(const std::string& name, int depth) {
  constexpr std::array<std::pair<const char*, Opcode>, 4> kFunctions = {{{"min", Opcode::kMinimum},
                                                                         {"max", Opcode::kMaximum},
                                                                         {"abs", Opcode::kAbsolute},
                                                                         {"select", Opcode::kSelect}}};
  std::optional<Opcode> op;
  for (const auto& [known, code] : kFunctions) {
    if (name == known) op = code;
  }
  if (!op) fail(fmt::format("'{}' is no function (min, max, abs, select)", name));
  std::vector<Tree> parts;
  do {
    parts.push_back(choice(depth + 1));
  } while (take(","));
  need(")");
  const int count = int(parts.size());
  const int least = *op == Opcode::kSelect ? 3 : opcode_facts(*op).least_operands;
  const int most = *op == Opcode::kAbsolute ? 1 : 3;
  if (count < least || count > most) {
    fail(fmt::format("{} takes {} operands, not {}", name, least == most ? std::to_string(least) : "2 or 3",
                     count));
  }
  return operation(*op, std::move(parts));
}

Parser::Tree Parser::primary(int depth) {
  auto made = std::make_unique<Expression>();
  if (now().kind == Token::Kind::kNumber) {
    made->value = tokens_[at_++].value;
    return made;
  }
  if (take("(")) {
    Tree inner = choice(depth + 1);
    need(")");
    return inner;
  }
  if (now().kind != Token::Kind::kName) fail("a number, a name or '(' is expected");
  made->name = tokens_[at_++].text;
  if (take("(")) return call(made->name, depth);
  made->kind = Expression::Kind::kName;
  if (!take("[")) return made;
  made->kind = Expression::Kind::kElement;
  made->parts.push_back(choice(depth + 1));
  need("]");
  return made;
}

}  // namespace

std::vector<Statement> parse_statements(const std::string& text, const std::string& source_name,
                                        Diagnostics& diagnostics) {
  if (text.size() > kLongestText) {
    diagnostics.error(ErrorKind::kInvalidInput, source_name, "",
                      fmt::format("{} characters, at most {} are read", text.size(), kLongestText));
    return {};
  }
  return Parser(text, source_name, diagnostics).run();
}

}  // namespace tilewright::cgra
