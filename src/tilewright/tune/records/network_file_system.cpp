// The numbers are those of statfs(2) and of linux/magic.h, for some file systems those of their own sources.
#include "tilewright/tune/records/network_file_system.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace tilewright::tune {
namespace {

constexpr int64_t kFuse = 0x65735546;

struct Kind {
  int64_t magic;
  const char* name;
};
constexpr Kind kKinds[] = {
    {0x6969, "NFS"},        {0x517B, "SMB"},        {0xFE534D42, "SMB"},    {0xFF534D42, "CIFS"},
    {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},   {0x00C36400, "Ceph"},   {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},    {0x73757245, "Coda"},   {0x01021997, "9p"},     {0x7461636F, "OCFS2"},
    {0x01161970, "GFS2"},   {0x19830326, "BeeGFS"}, {0xAAD7AAEA, "PanFS"},  {0x564C, "NCP"},
    {0x786F4256, "vboxsf"}, {0x20030528, "PVFS2"},  {0xBACBACBC, "vmhgfs"},
};

// File systems in user space that talk to other machines; others are taken for local ones.
constexpr std::string_view kFuseKinds[] = {
    "sshfs",    "glusterfs", "ceph",     "s3fs",     "rclone",  "gcsfuse", "goofys",   "davfs", "curlftpfs",
    "nfs",      "smb",       "cifs",     "juicefs",  "moosefs", "mfs",     "lizardfs", "hdfs",  "afp",
    "virtiofs", "weed",      "blobfuse", "mount-s3", "cvmfs",   "beegfs",  "lustre",
};

// The type in the mount table of the file system with this device number.
std::string mount_type(dev_t device) {
  const std::string wanted = fmt::format("{}:{}", major(device), minor(device));
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string mount, parent, number;
    words >> mount >> parent >> number;
    const size_t separator = line.find(" - ");
    if (number != wanted || separator == std::string::npos) continue;
    return line.substr(separator + 3, line.find(' ', separator + 3) - separator - 3);
  }
  return "";
}

}  // namespace

std::string network_file_system(int64_t magic, const std::string& type) {
  for (const Kind& kind : kKinds) {
    if (kind.magic == (magic & 0xFFFFFFFF)) return kind.name;
  }
  if (magic != kFuse) return "";
  for (const std::string_view kind : kFuseKinds) {
    if (type.find(kind) != std::string::npos) return type;
  }
  return "";
}

std::string network_file_system_of(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::path place = std::filesystem::absolute(path, ignored);
  while (!std::filesystem::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  struct statfs system {};
  struct stat info {};
  if (::statfs(place.c_str(), &system) != 0 || ::stat(place.c_str(), &info) != 0) return "";
  return network_file_system(int64_t(system.f_type), mount_type(info.st_dev));
}

}  // namespace tilewright::tune
