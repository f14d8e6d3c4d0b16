// Statements like `d = (x - x0) * (x - x0) + y[i]`, as trees. Used by expression.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/cgra/graph/opcode.h"

namespace tilewright::cgra {

struct Expression {
  enum class Kind : uint8_t { kNumber, kName, kElement, kOperation };
  Kind kind = Kind::kNumber;
  int32_t value = 0;                               // kNumber
  std::string name;                                // kName; kElement: the array
  Opcode op = Opcode::kAdd;                        // kOperation
  std::vector<std::unique_ptr<Expression>> parts;  // kOperation: operands; kElement: the index
};

struct Statement {
  std::string target;
  std::unique_ptr<Expression> index;  // target[index]; null: a name
  bool initial = false;               // `name := number`: what the first thread reads
  std::unique_ptr<Expression> value;
  std::string where;  // "text:line:column"
};

// Statements separated by ';' or line ends, '#' begins a comment. By falling precedence: - ~ (unary);
// * / %; + -; << >>; < <= > >=; == !=; &; ^; |; c ? a : b. Functions min, max, abs, select. All problems go
// to `diagnostics`; what could not be read is left out.
std::vector<Statement> parse_statements(const std::string& text, const std::string& source_name,
                                        Diagnostics& diagnostics);

}  // namespace tilewright::cgra
