// The one place where text reaches the terminal: what the command prints passes plain_text.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace tilewright::cli {

// Stands before the buffer of a stream (standard output, standard error) as long as it lives. Lines and tabs
// stay.
class PlainStream final : private std::streambuf {
 public:
  explicit PlainStream(std::ostream& stream);
  PlainStream(const PlainStream&) = delete;
  PlainStream& operator=(const PlainStream&) = delete;
  ~PlainStream() override;

 private:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf* const target_;
  std::string waiting_;
};

}  // namespace tilewright::cli
