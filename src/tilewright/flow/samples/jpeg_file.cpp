// The TurboJPEG interface decodes in memory; with STOPONWARNING it refuses what it would otherwise repair.
#include "tilewright/flow/samples/jpeg_file.h"

#include <fmt/format.h>
#include <turbojpeg.h>

#include <memory>

#include "tilewright/flow/samples/png_file.h"

namespace tilewright {
namespace {

struct JpegCloser {
  void operator()(void* decoder) const { tjDestroy(decoder); }
};

[[noreturn]] void jpeg_fail(const std::string& message) {
  throw Error(ErrorKind::kInvalidInput, "not a readable JPEG picture: " + message);
}

}  // namespace

Tensor parse_jpeg(std::span<const std::byte> bytes) {
  const std::unique_ptr<void, JpegCloser> decoder(tjInitDecompress());
  if (!decoder) jpeg_fail("there is no memory for it");
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling, &colours) != 0)
    jpeg_fail(tjGetErrorStr2(decoder.get()));
  if (colours == TJCS_CMYK || colours == TJCS_YCCK)
    throw Error(ErrorKind::kUnsupported, "its colours are CMYK", "save it in RGB or in greys");
  if (int64_t{height} * width > kMostPixels)
    jpeg_fail(fmt::format("it has {} x {} pixels, over {}", height, width, kMostPixels));
  const bool grey = colours == TJCS_GRAY;
  Tensor picture(ElementType::kU8, Shape{height, width, grey ? 1 : 3});
  constexpr int kStrict = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  if (tjDecompress2(decoder.get(), data, bytes.size(), picture.mutable_data<uint8_t>().data(), width, 0,
                    height, grey ? TJPF_GRAY : TJPF_RGB, kStrict) != 0)
    jpeg_fail(tjGetErrorStr2(decoder.get()));
  return picture;
}

}  // namespace tilewright
