// Aligned text tables.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

class TextTable {
 public:
  // A header that begins with '>' stands over right-aligned cells; the mark is not printed.
  explicit TextTable(std::vector<std::string> headers);
  // Missing cells are empty.
  void row(std::vector<std::string> cells);
  // A line above the next row.
  void rule();
  // Columns as wide as their widest cell, two blanks between them, none at the ends of lines. Columns whose
  // cells are all empty are left out.
  std::string to_string() const;

 private:
  std::vector<std::string> headers_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

// `text` cut in the middle to `width` characters.
std::string shortened_middle(const std::string& text, size_t width);

}  // namespace tilewright
