// Column widths count characters of UTF-8, not bytes, so that names in other scripts stay aligned.
#include "tilewright/report/text_table.h"

#include <algorithm>

#include "tilewright/base/plain_text.h"

namespace tilewright {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

size_t width_of(const std::string& text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headers) : headers_(std::move(headers)) {
  for (std::string& header : headers_) {
    right_.push_back(header.starts_with('>'));
    if (right_.back()) header.erase(0, 1);
  }
}

void TextTable::row(std::vector<std::string> cells) {
  cells.resize(headers_.size());
  for (std::string& cell : cells) cell = plain_text(cell);
  rows_.push_back(std::move(cells));
}

void TextTable::rule() { rows_.emplace_back(); }

std::string TextTable::to_string() const {
  std::vector<size_t> widths(headers_.size(), 0);
  for (const auto& cells : rows_) {
    for (size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], width_of(cells[c]));
  }
  size_t total = 0;
  for (size_t c = 0; c < headers_.size(); ++c) {
    if (widths[c] == 0) continue;
    widths[c] = std::max(widths[c], width_of(headers_[c]));
    total += widths[c] + (total == 0 ? 0 : 2);
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    bool first = true;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (widths[c] == 0) continue;
      if (!first) text += "  ";
      first = false;
      const std::string fill(widths[c] - width_of(cells[c]), ' ');
      text += right_[c] ? fill + cells[c] : cells[c] + fill;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(headers_);
  for (const auto& cells : rows_) text += cells.empty() ? std::string(total, '-') + "\n" : line(cells);
  return text;
}

std::string shortened_middle(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  size_t head = width / 2 - 1, tail = text.size() - (width / 2 - 1);
  while (head > 0 && continues_character(text[head])) --head;
  while (tail < text.size() && continues_character(text[tail])) ++tail;
  return text.substr(0, head) + ".." + text.substr(tail);
}

}  // namespace tilewright
