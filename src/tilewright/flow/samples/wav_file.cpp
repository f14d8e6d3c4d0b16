// libsndfile takes what is there of a truncated file; the sizes that its chunks state tell the rest.
#include "tilewright/flow/samples/wav_file.h"

#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace tilewright {
namespace {

struct SoundBytes {
  std::span<const std::byte> bytes;
  sf_count_t at = 0;
};

sf_count_t sound_size(void* data) { return sf_count_t(static_cast<SoundBytes*>(data)->bytes.size()); }

sf_count_t seek_sound(sf_count_t offset, int from, void* data) {
  auto* file = static_cast<SoundBytes*>(data);
  const sf_count_t start = from == SEEK_SET ? 0 : from == SEEK_CUR ? file->at : sound_size(data);
  file->at = std::clamp<sf_count_t>(start + offset, 0, sound_size(data));
  return file->at;
}

sf_count_t read_sound(void* target, sf_count_t count, void* data) {
  auto* file = static_cast<SoundBytes*>(data);
  count = std::clamp<sf_count_t>(count, 0, sound_size(data) - file->at);
  std::memcpy(target, file->bytes.data() + file->at, size_t(count));
  file->at += count;
  return count;
}

sf_count_t write_no_sound(const void*, sf_count_t, void*) { return 0; }
sf_count_t sound_position(void* data) { return static_cast<SoundBytes*>(data)->at; }

struct SoundCloser {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

[[noreturn]] void wav_fail(const std::string& message) {
  throw Error(ErrorKind::kInvalidInput, "not a readable WAV file: " + message);
}

uint32_t size_at(std::span<const std::byte> bytes, size_t at) {
  uint32_t size = 0;
  for (size_t i = 4; i-- > 0;) size = size * 256 + uint32_t(bytes[at + i]);
  return size;
}

// Every chunk has to lie in the file.
void check_wav_chunks(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with("RIFF") || text.size() < 12 || text.substr(8, 4) != "WAVE")
    wav_fail("it does not begin with RIFF and WAVE");
  const size_t end = size_t{8} + size_at(bytes, 4);
  if (end > bytes.size())
    wav_fail(fmt::format("it states {} bytes and has {}, so it is truncated", end, bytes.size()));
  for (size_t at = 12; at + 8 <= end;) {
    const size_t size = size_at(bytes, at + 4);
    if (size > end - at - 8)
      wav_fail(fmt::format("its part at byte {} states {} bytes, {} are there", at, size, end - at - 8));
    at += 8 + size + size % 2;
  }
}

}  // namespace

Sound parse_wav(std::span<const std::byte> bytes) {
  check_wav_chunks(bytes);
  SF_VIRTUAL_IO calls{sound_size, seek_sound, read_sound, write_no_sound, sound_position};
  SoundBytes data{bytes};
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, SoundCloser> file(sf_open_virtual(&calls, SFM_READ, &info, &data));
  if (!file) wav_fail(sf_strerror(nullptr));
  constexpr int kForms[] = {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24,
                            SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,  SF_FORMAT_DOUBLE};
  const int form = info.format & SF_FORMAT_SUBMASK;
  if (std::find(std::begin(kForms), std::end(kForms), form) == std::end(kForms)) {
    throw Error(ErrorKind::kUnsupported, "its sound is compressed",
                "write it as PCM of 8, 16, 24 or 32 bits, or as floats");
  }
  if (info.frames < 1 || info.channels < 1) wav_fail("it holds no sound");
  if (size_t(info.frames) > bytes.size() / size_t(info.channels)) wav_fail("its sizes are damaged");
  Sound sound{info.samplerate, Tensor(ElementType::kF32, Shape{info.frames, info.channels})};
  const sf_count_t got = sf_readf_float(file.get(), sound.values.mutable_data<float>().data(), info.frames);
  if (got != info.frames) wav_fail(fmt::format("{} of its {} values can be read", got, info.frames));
  return sound;
}

}  // namespace tilewright
