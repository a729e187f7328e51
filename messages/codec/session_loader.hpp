#pragma once

#include "messages/codec/session_tree.hpp"

namespace bureau {

/// One reading of a session file: checks every line, migrates old versions and
/// ties the records together. Private to session_tree.
class session_tree::loader {
public:
  loader(std::string text, const session_origin& origin, mode how);

  opened run();

private:
  using link = scanned_line::link;

  /// What has to be looked at once all ids are known.
  struct pending_record {
    link parent = link::absent;
    std::string_view parent_id;
    uint32_t line = 0;
  };
  struct pending_target {
    uint32_t node = 0;
    link kind = link::absent;
    std::string_view id;
  };
  struct pending_kept {
    uint32_t node = 0;
    std::optional<std::string_view> id;
  };

  bool strict() const { return how_ == mode::strict; }
  bool fail(std::string what, size_t line);
  bool read_header(std::string_view line, size_t number);
  bool read_record(std::string_view line, size_t number, bool last);
  bool take_record(std::string_view line, const scanned_line& facts,
                   size_t number);
  /// The line in the form of version 3; a view that lives as long as the tree.
  std::string_view migrated(std::string_view line, const scanned_line& facts);
  bool tie_parents();
  bool tie_targets();
  bool check_cycles();
  bool check_kept();
  bool has_forward_links() const;
  void measure(uint32_t node, uint32_t parent);
  bool strict_ancestor(uint32_t ancestor, uint32_t node) const;

  session_tree tree_;
  session_origin origin_;
  mode how_;
  session_fault fault_;
  line_scanner scanner_;
  bool have_header_ = false;
  bool torn_ = false;
  std::vector<pending_record> pending_;
  std::vector<pending_target> targets_;
  std::vector<pending_kept> kept_;
  /// Version 1: ids given so far by record number, the header being 0.
  std::vector<std::string> given_;
  /// Distance to the root and a far ancestor, for ancestry in log steps.
  std::vector<uint32_t> depth_;
  std::vector<uint32_t> jump_;
};

} // namespace bureau
