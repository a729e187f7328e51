#pragma once

#include "messages/codec/session_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace bureau::session {

/// Sessions up to this size are kept parsed while they are open. What is larger
/// no model takes in; it is read anew for every turn.
inline constexpr uint64_t context_cache_bytes = 16u << 20;

/// What the model is to see of an open session, kept beside its tree: a turn
/// then costs the reading of what it added, not of all that was said before.
class context_cache {
public:
  /// The same as tree.context().
  session_context context(const session_tree& tree);

  /// The tree became another one, or was read again.
  void clear();

private:
  /// Adds the nodes that are new; false when they are more than messages at the
  /// end of the branch.
  bool extend(const session_tree& tree);
  bool add_message(const session_node& node);

  std::optional<session_context> known_;
  /// Nodes of the tree that are in it.
  size_t covered_ = 0;
};

} // namespace bureau::session
