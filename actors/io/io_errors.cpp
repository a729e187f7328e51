#include "actors/io/io_errors.hpp"

#include "config/os/durable.hpp"

#include <cerrno>

namespace bureau::io {

std::string reason_for(int error) {
  switch (error) {
  case ENOENT:
    return "it does not exist";
  case ENOTDIR:
    return "a part of the path is not a directory";
  case EISDIR:
    return "it is a directory";
  case ELOOP:
    return "a symbolic link is in the way and links are not followed here";
  case EXDEV:
    return "the path leads out of its directory or onto another file system";
  case ENXIO:
    return "it is not a regular file";
  case EACCES:
  case EPERM:
    return "permission denied; check owner and mode";
  case EROFS:
    return "the file system is read-only";
  case EMLINK:
    return "it has a second name (hard link); remove the other one";
  case EBUSY:
    return "it is in use as a mount point";
  case EEXIST:
    return "something else has that name";
  case ENOTEMPTY:
    return "the directory is not empty";
  case EFBIG:
    return "it is larger than the caller accepts";
  case ENAMETOOLONG:
    return "the name is too long";
  case EINVAL:
    return "the path is malformed";
  case ENOSPC:
    return "the disk is full; free some space";
  case EDQUOT:
    return "the disk quota is used up; free some space";
  case EIO:
    return "the disk reports an I/O error; check the device";
  case EMFILE:
  case ENFILE:
    return "too many files are open; raise the limit of open files";
  default:
    return os::errno_text(error);
  }
}

errc code_for(int error) {
  if (error == ENXIO || error == EMLINK)
    return errc::denied;
  auto code = os::errc_of_errno(error);
  // Jobs know one word for everything that rules or names forbid.
  return code == errc::conflict || code == errc::busy ? errc::denied : code;
}

namespace {

std::string sentence(int error, std::string_view doing, std::string_view path) {
  std::string result = "cannot ";
  result += doing;
  result += " '";
  result += path;
  result += "': ";
  result += reason_for(error);
  return result;
}

} // namespace

caf::error io_failure(int error, std::string_view doing,
                      std::string_view path) {
  return make_failure(code_for(error), sentence(error, doing, path));
}

caf::error journal_failure(int error, std::string_view path) {
  auto is_path_fault = code_for(error) != errc::disk;
  return make_failure(is_path_fault ? errc::bad_request : errc::disk,
                      sentence(error, "append to", path));
}

} // namespace bureau::io
