#pragma once

#include <cstdint>
#include <map>
#include <string>

/// Which store of this process may write to which session file (office note,
/// section 10.8). Pure.
namespace bureau::session {

/// What a store says of the file that it writes.
struct writer_claim {
  std::string path;
  /// 0 and 0 as long as there is no file.
  uint64_t device = 0;
  uint64_t inode = 0;
  /// Id in the header; empty when nobody can read it. A new file may have the
  /// inode of a removed one, but never its id.
  std::string session_id;
};

/// The claims of all stores, one for each at most.
class writer_table {
public:
  /// Takes a claim in place of the owner's last one. A claim on a file that is
  /// gone or was replaced by another session ends when somebody else claims.
  /// @return false when another store writes to the file
  bool claim(uint64_t owner, writer_claim wanted);
  void release(uint64_t owner) { claims_.erase(owner); }
  bool knows(uint64_t owner) const { return claims_.count(owner) != 0; }

private:
  std::map<uint64_t, writer_claim> claims_;
};

} // namespace bureau::session
