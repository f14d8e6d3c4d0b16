#include "text.h"

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"

namespace byte_lm {

Chapters read_chapters(const std::string& file) {
  constexpr size_t kHeldOut = 40, kFirst = 20, kCalibration = 160;
  const std::vector<std::byte> bytes = tilewright::read_file(file);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.erase(0, text.find_first_not_of('\n'));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text += "\n\n";
  Chapters chapters;
  size_t count = 0;
  for (size_t start = 0; start < text.size(); ++count) {
    const size_t title = text.find("\n\n", start);
    const size_t end = title == std::string::npos ? title : text.find("\n\n", title + 2);
    if (end == std::string::npos)
      throw tilewright::Error(tilewright::ErrorKind::kInvalidInput, file + ": ends with a title",
                              "give it titles and chapters in turn, with an empty line behind each");
    const auto first = text.begin() + int64_t(start), last = text.begin() + int64_t(end) + 2;
    const auto add_to = [&](std::vector<uint8_t>& part) { part.insert(part.end(), first, last); };
    add_to(count % kHeldOut == kFirst ? chapters.held_out : chapters.training);
    if (count % kCalibration == 0) add_to(chapters.calibration);
    start = end + 2;
  }
  if (chapters.held_out.empty())
    throw tilewright::Error(tilewright::ErrorKind::kInvalidInput,
                            file + ": " + std::to_string(count) + " chapters", "give it at least 21");
  return chapters;
}

}  // namespace byte_lm
