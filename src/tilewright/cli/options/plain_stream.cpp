// Text is held until a flush, or until 64 KiB have come; it is then cut after a line feed, so that no UTF-8
// character is split between two pieces.
#include "tilewright/cli/options/plain_stream.h"

#include "tilewright/base/plain_text.h"

namespace tilewright::cli {

PlainStream::PlainStream(std::ostream& stream) : stream_(stream), target_(stream.rdbuf(this)) {}

PlainStream::~PlainStream() {
  sync();
  stream_.rdbuf(target_);
}

PlainStream::int_type PlainStream::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  const char c = traits_type::to_char_type(character);
  return xsputn(&c, 1) == 1 ? character : traits_type::eof();
}

std::streamsize PlainStream::xsputn(const char* text, std::streamsize size) {
  constexpr size_t kEnough = size_t{1} << 16;
  waiting_.append(text, size_t(size));
  if (waiting_.size() < kEnough) return size;
  const size_t end = waiting_.rfind('\n') + 1;  // whole characters
  const std::string plain = plain_text(waiting_.substr(0, end), ControlCharacters::kLinesAndTabs);
  waiting_.erase(0, end);
  return target_->sputn(plain.data(), std::streamsize(plain.size())) == std::streamsize(plain.size()) ? size
                                                                                                      : 0;
}

int PlainStream::sync() {
  const std::string plain = plain_text(waiting_, ControlCharacters::kLinesAndTabs);
  waiting_.clear();
  const bool written =
      target_->sputn(plain.data(), std::streamsize(plain.size())) == std::streamsize(plain.size());
  return written && target_->pubsync() == 0 ? 0 : -1;
}

}  // namespace tilewright::cli
