// libzip reads and writes the archive in memory, so that a file is only opened where all files are.
#include "tilewright/flow/samples/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <memory>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

constexpr std::string_view kMemberEnding = ".npy";
// What deflate can make of a byte at most; a member that claims more is damaged.
constexpr uint64_t kMostInflation = 1040;

[[noreturn]] void npz_fail(const std::string& message) {
  throw Error(ErrorKind::kInvalidInput, "not a readable .npz file: " + message,
              "write it with numpy.savez or numpy.savez_compressed");
}

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, ZipCloser>;
using ArchiveBytes = std::unique_ptr<zip_source_t, ZipCloser>;

// An archive over `data`, whose memory stays the caller's; with no data a new one, to be written. The bytes
// are read from `kept` when it is closed.
Archive open_archive(std::span<const std::byte> data, int flags, ArchiveBytes& kept) {
  zip_error_t error;
  zip_error_init(&error);
  const auto fail = [&] {
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    npz_fail(text);
  };
  kept.reset(zip_source_buffer_create(data.data(), data.size(), 0, &error));
  if (!kept) fail();
  zip_source_keep(kept.get());  // an archive that opens frees one reference
  Archive archive(zip_open_from_source(kept.get(), flags, &error));
  if (!archive) {
    zip_source_free(kept.get());
    fail();
  }
  zip_error_fini(&error);
  return archive;
}

std::vector<std::byte> read_member(zip_t* archive, uint64_t index) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
    npz_fail("its list of members is damaged");
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE)
    npz_fail("it is encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    npz_fail(fmt::format("it is compressed by method {}", stat.comp_method));
  if (stat.size / kMostInflation > stat.comp_size) npz_fail("its size is damaged");
  const std::unique_ptr<zip_file_t, ZipCloser> file(zip_fopen_index(archive, index, 0));
  if (!file) npz_fail(zip_strerror(archive));
  std::vector<std::byte> bytes(stat.size);
  size_t done = 0;
  while (done < bytes.size()) {
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
    if (got <= 0) npz_fail(got < 0 ? zip_file_strerror(file.get()) : "it ends too early");
    done += size_t(got);
  }
  std::byte more;  // the end is where the checksum is compared
  if (zip_fread(file.get(), &more, 1) != 0) npz_fail(zip_file_strerror(file.get()));
  return bytes;
}

std::vector<std::byte> written_bytes(zip_source_t* source) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  TILEWRIGHT_CHECK(zip_source_stat(source, &stat) == 0 && zip_source_open(source) == 0,
                   "an archive in memory was not written");
  std::vector<std::byte> bytes(stat.size);
  const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  TILEWRIGHT_CHECK(got == zip_int64_t(bytes.size()), "an archive in memory was cut short");
  return bytes;
}

}  // namespace

NamedArrays parse_npz(std::span<const std::byte> bytes) {
  ArchiveBytes source;
  const Archive archive = open_archive(bytes, ZIP_RDONLY | ZIP_CHECKCONS, source);
  NamedArrays arrays;
  std::set<std::string> seen;
  Diagnostics problems;
  const int64_t members = zip_get_num_entries(archive.get(), 0);
  for (int64_t i = 0; i < members; ++i) {
    const char* text = zip_get_name(archive.get(), uint64_t(i), 0);
    std::string name = text != nullptr ? text : "";
    const std::string where = fmt::format("member '{}'", name);
    const auto refuse = [&](const std::string& message, const std::string& hint) {
      problems.error(ErrorKind::kInvalidInput, where, "", message, hint);
    };
    if (!name.ends_with(kMemberEnding)) {
      refuse("it is no .npy file", "write the archive with numpy.savez");
      continue;
    }
    name.resize(name.size() - kMemberEnding.size());
    if (!seen.insert(name).second) {
      refuse("the archive has it twice", "keep one of them");
      continue;
    }
    try {
      arrays.emplace_back(name, parse_npy(read_member(archive.get(), uint64_t(i))));
    } catch (const Error& error) {
      for (Diagnostic d : error.diagnostics()) {
        d.where = where;
        problems.add(std::move(d));
      }
    }
  }
  problems.raise_if_any();
  if (arrays.empty()) npz_fail("it has no members");
  return arrays;
}

std::vector<std::byte> format_npz(const NamedArrays& arrays) {
  std::vector<std::vector<std::byte>> members;
  for (const auto& array : arrays) members.push_back(format_npy(array.second));
  ArchiveBytes target;
  Archive archive = open_archive({}, ZIP_CREATE | ZIP_TRUNCATE, target);
  constexpr uint16_t kMidnight = 0,
                     kFirstDay = (1 << 5) | 1;  // 1980-01-01, the first date that a zip can say
  for (size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t* const member = zip_source_buffer(archive.get(), members[i].data(), members[i].size(), 0);
    const std::string name = arrays[i].first + std::string(kMemberEnding);
    const zip_int64_t index =
        zip_file_add(archive.get(), name.c_str(), member, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
    TILEWRIGHT_CHECK(member != nullptr && index >= 0, "an array was not added to an archive");
    zip_set_file_compression(archive.get(), uint64_t(index), ZIP_CM_STORE, 0);
    zip_file_set_dostime(archive.get(), uint64_t(index), kMidnight, kFirstDay, 0);
  }
  TILEWRIGHT_CHECK(zip_close(archive.get()) == 0, zip_strerror(archive.get()));
  (void)archive.release();  // closed
  return written_bytes(target.get());
}

void write_npz(const std::filesystem::path& path, const NamedArrays& arrays) {
  write_file(path, format_npz(arrays));
}

}  // namespace tilewright
