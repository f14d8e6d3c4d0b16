// One pass over UTF-8 characters; what does not form one is escaped byte by byte. The second block of control
// characters, 128 to 159, has two bytes in UTF-8 and is escaped by its code point.
#include "tilewright/base/plain_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright {
namespace {

// Bytes of the UTF-8 character at the front; 0: none.
size_t character_length(std::string_view text) {
  const auto first = uint8_t(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  const bool whole = std::all_of(text.begin() + 1, text.begin() + std::ptrdiff_t(std::max<size_t>(length, 1)),
                                 [](char c) { return (uint8_t(c) & 0xC0) == 0x80; });
  return whole ? length : 0;
}

}  // namespace

std::string plain_text(std::string_view text, ControlCharacters kept) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    const auto first = uint8_t(text[0]);
    const bool stays = kept == ControlCharacters::kLinesAndTabs && (first == '\n' || first == '\t');
    // In UTF-8 the second byte of the characters 128 to 159 is their number.
    const bool control = length == 0 || first < 0x20 || first == 0x7F ||
                         (first == 0xC2 && length == 2 && uint8_t(text[1]) < 0xA0);
    if (control && !stays) {
      plain += fmt::format("\\u{:04x}", length == 2 ? uint8_t(text[1]) : first);
    } else {
      plain.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return plain;
}

}  // namespace tilewright
