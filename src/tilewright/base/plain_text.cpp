// One pass over UTF-8 characters; what does not form one is escaped byte by byte. The second block of control
// characters, 128 to 159, has two bytes in UTF-8 and is escaped by its code point.
#include "tilewright/base/plain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tilewright {
size_t utf8_length(std::string_view text) {
  const auto lead = uint8_t(text[0]);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  uint32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
  for (size_t k = 1; k < length; ++k) {
    const auto next = uint8_t(text[k]);
    if ((next & 0xC0) != 0x80) return 0;
    code = code << 6 | (next & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kSmallest[length] || code > 0x10FFFF || surrogate ? 0 : length;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string plain_text(std::string_view text, ControlCharacters kept) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
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

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  }
  return text;
}

}  // namespace tilewright
