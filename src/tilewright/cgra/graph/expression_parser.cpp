// The text is cut into statements first. A wrong one is reported once, at its first problem.
#include "tilewright/cgra/graph/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "tilewright/base/expression/expression_parser.h"
#include "tilewright/base/words/nearest_word.h"

namespace tilewright::cgra {
namespace {

constexpr size_t kLongestText = size_t{1} << 16;

using ExpressionTree = std::unique_ptr<Expression>;

struct Binary {
  std::string_view sign;
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

constexpr std::array<std::pair<std::string_view, Opcode>, 4> kFunctions = {{{"min", Opcode::kMinimum},
                                                                            {"max", Opcode::kMaximum},
                                                                            {"abs", Opcode::kAbsolute},
                                                                            {"select", Opcode::kSelect}}};

template <typename... Parts>
ExpressionTree operation(Opcode op, Parts... parts) {
  auto made = std::make_unique<Expression>();
  made->kind = Expression::Kind::kOperation;
  made->op = op;
  (made->parts.push_back(std::move(parts)), ...);
  return made;
}

class StatementParser : ExpressionParser<ExpressionTree, Binary> {
 public:
  explicit StatementParser(std::string_view text) : ExpressionParser(text, kBinary, "-~") {}

  Statement run() {
    Statement made;
    if (!is_name(text_.token())) text_.fail("a name to assign to is expected");
    made.target = text_.take();
    if (text_.take("[")) {
      made.index = expression();
      text_.expect("]");
    }
    made.initial = !made.index && text_.take(":=");
    if (!made.initial) text_.expect("=");
    made.value = expression();
    text_.expect_end();
    return made;
  }

 private:
  // With a choice, which binds least and to the right.
  ExpressionTree expression() override {
    ExpressionTree condition = operators_from(0);
    if (!text_.take("?")) return condition;
    const Level level(*this);
    ExpressionTree chosen = expression();
    text_.expect(":");
    return operation(Opcode::kSelect, std::move(condition), std::move(chosen), expression());
  }

  ExpressionTree apply(const Binary& binary, ExpressionTree left, ExpressionTree right) override {
    return operation(binary.op, std::move(left), std::move(right));
  }
  ExpressionTree apply_sign(char sign, ExpressionTree operand) override {
    return operation(sign == '-' ? Opcode::kNegate : Opcode::kNot, std::move(operand));
  }

  ExpressionTree name(std::string_view name) override {
    if (text_.take("(")) return call(name);
    auto made = std::make_unique<Expression>();
    made->name = name;
    made->kind = Expression::Kind::kName;
    if (!text_.take("[")) return made;
    made->kind = Expression::Kind::kElement;
    made->parts.push_back(expression());
    text_.expect("]");
    return made;
  }

  ExpressionTree call(std::string_view name) {
    const auto found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                    [&](const auto& function) { return function.first == name; });
    if (found == kFunctions.end()) {
      std::vector<std::string> known;
      for (const auto& function : kFunctions) known.emplace_back(function.first);
      text_.fail_at(name, fmt::format("'{}' is not a function", name),
                    words_hint(std::string(name), known, "functions"));
    }
    const Opcode op = found->second;
    ExpressionTree made = operation(op);
    do {
      made->parts.push_back(expression());
    } while (text_.take(","));
    text_.expect(")");
    const int count = int(made->parts.size());
    const int least = op == Opcode::kSelect ? 3 : opcode_facts(op).least_operands;
    const int most = op == Opcode::kAbsolute ? 1 : 3;
    if (count < least || count > most) {
      text_.fail_at(name, fmt::format("{} takes {} operands, not {}", name,
                                      least == most ? std::to_string(least) : "2 or 3", count));
    }
    return made;
  }

  // Decimal or 0x; values up to 2^32-1 wrap, as literals of 32-bit words do.
  std::optional<ExpressionTree> number() override {
    const std::string_view token = text_.token();
    if (token.empty() || !is_digit(token[0])) return std::nullopt;
    const bool hexadecimal = token.starts_with("0x");
    const std::string_view digits = token.substr(hexadecimal ? 2 : 0);
    uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      text_.fail(fmt::format("'{}' is not a 32-bit number", token));
    }
    text_.take();
    auto made = std::make_unique<Expression>();
    made->value = int32_t(value);
    return made;
  }
};

// One statement of the text.
struct Piece {
  std::string_view text;
  int line, column;
};

// Cut at ';' and at line ends, without comments and what is blank.
std::vector<Piece> cut_statements(std::string_view text) {
  std::vector<Piece> pieces;
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const std::string_view code = whole.substr(0, whole.find('#'));
    for (size_t at = 0; at < code.size();) {
      const std::string_view piece = code.substr(at, code.find(';', at) - at);
      const size_t blanks = std::min(piece.find_first_not_of(" \t\r"), piece.size());
      if (blanks < piece.size()) pieces.push_back({piece.substr(blanks), line, int(at + blanks) + 1});
      at += piece.size() + 1;
    }
  }
  return pieces;
}

}  // namespace

std::vector<Statement> parse_statements(const std::string& text, const std::string& source_name,
                                        Diagnostics& diagnostics) {
  if (text.size() > kLongestText) {
    diagnostics.error(ErrorKind::kInvalidInput, source_name, "",
                      fmt::format("{} characters, at most {} are read", text.size(), kLongestText));
    return {};
  }
  std::vector<Statement> statements;
  for (const Piece& piece : cut_statements(text)) {
    const auto place = [&](size_t at) {
      return fmt::format("{}:{}:{}", source_name, piece.line, size_t(piece.column) + at);
    };
    try {
      statements.push_back(StatementParser(piece.text).run());
      statements.back().where = place(0);
    } catch (const ExpressionProblem& problem) {
      diagnostics.error(ErrorKind::kInvalidInput, place(problem.at), "", problem.message,
                        problem.hint.empty() ? "statements like d = (x - x0) * 2 + y[i]" : problem.hint);
    }
  }
  return statements;
}

}  // namespace tilewright::cgra
