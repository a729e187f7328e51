#include "messages/codec/registry_file.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/workspace.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace bureau {

namespace {

namespace bj = boost::json;

constexpr std::array<std::string_view, 5> status_names = {
  "needs-owner", "prepared", "moving", "committed", "failed"};

std::string quoted(std::string_view text) {
  return json::print(bj::value(bj::string(text)));
}

/// Collects the first violation with the place where it was seen.
class reader {
public:
  reader(std::string_view text, std::string_view file)
    : text_(text), file_(file) {}

  registry_file read() {
    auto parsed = json::parse(text_);
    if (!parsed) {
      fail_at(*parsed.fault,
              "Invalid office registry JSON (" + parsed.fault->what + ")");
      return take();
    }
    read_document(parsed.value);
    return take();
  }

private:
  void fail_at(const json::parse_fault& place, const std::string& what) {
    if (!result_.fault.empty())
      return;
    result_.fault = std::string{file_} + ":" + std::to_string(place.line) + ":"
                    + std::to_string(place.column) + ": " + what
                    + "; repair the file by hand or restore a copy of it";
  }

  bool fail(const std::string& pointer, const std::string& what) {
    fail_at(json::position_of(text_, pointer), what);
    return false;
  }

  registry_file take() {
    if (!result_.fault.empty())
      result_.state = {};
    return std::move(result_);
  }

  bool read_document(const bj::value& document) {
    auto object = document.if_object();
    if (object == nullptr
        || json::int_member(*object, "version") != registry_version)
      return fail(object ? "/version" : "",
                  "Invalid office registry version; this program reads "
                  "version "
                    + std::to_string(registry_version));
    return read_platforms(*object) && read_offices(*object)
           && read_migrations(*object);
  }

  bool shape(const std::string& name) {
    return fail("/" + name, "Invalid office registry shape: \"" + name
                              + "\" must be a list");
  }

  static bool holds_offices(const bj::value& value) {
    return value.is_array()
           && std::any_of(
             value.get_array().begin(), value.get_array().end(),
             [](const auto& entry) { return bool{parse_address(entry)}; });
  }

  bool read_platforms(const bj::object& document) {
    auto list = json::member(document, "enabledPlatforms");
    if (list == nullptr || !list->is_array())
      return shape("enabledPlatforms");
    auto& into = result_.state.enabled_platforms;
    size_t index = 0;
    for (auto& entry : list->get_array()) {
      auto place = "/enabledPlatforms/" + std::to_string(index++);
      auto name = entry.is_string() ? std::string_view{entry.get_string()}
                                    : std::string_view{};
      auto platform = parse_platform(name);
      if (!platform || *platform == platform_id::console)
        return fail(place, "Unsupported platform " + json::print(entry));
      if (std::find(into.begin(), into.end(), *platform) != into.end())
        return fail(place, "Duplicate enabled platform " + quoted(name));
      into.push_back(*platform);
    }
    return true;
  }

  bool read_offices(const bj::object& document) {
    auto list = json::member(document, "offices");
    // Files older than office records have none. A list of addresses under
    // another name is this one with a damaged name: the offices in it must not
    // be forgotten.
    if (list == nullptr) {
      for (const auto& member : document)
        if (holds_offices(member.value()))
          return fail("/" + std::string{member.key()},
                      "Invalid office registry shape: \"offices\" is missing "
                      "beside the unknown list of offices "
                        + quoted(std::string_view{member.key()}));
      return true;
    }
    if (!list->is_array())
      return shape("offices");
    std::set<office_address> seen;
    size_t index = 0;
    for (auto& entry : list->get_array()) {
      auto place = "/offices/" + std::to_string(index++);
      auto address = parse_address(entry);
      if (!address)
        return fail(place, "Invalid office record: "
                             + bureau::sentence_of(
                               address.fault, member_text(entry, "platform"),
                               member_text(entry, "conversationId")));
      auto recorded = json::string_member(entry.get_object(), "recordedAt");
      if (!recorded)
        return fail(place, "Invalid office record: \"recordedAt\" must be a "
                           "string");
      if (!seen.insert(address.address).second)
        return fail(place, "Duplicate office record "
                             + to_string(address.address.platform) + " "
                             + quoted(address.address.conversation_id));
      result_.state.offices.push_back({address.address, *recorded});
    }
    return true;
  }

  bool read_migrations(const bj::object& document) {
    auto list = json::member(document, "migrations");
    if (list == nullptr || !list->is_array())
      return shape("migrations");
    std::set<std::string> seen;
    size_t index = 0;
    for (auto& entry : list->get_array()) {
      auto place = "/migrations/" + std::to_string(index++);
      migration_record record;
      if (!read_migration(entry, place, record))
        return false;
      if (!seen.insert(record.raw_id).second)
        return fail(place,
                    "Duplicate office migration " + quoted(record.raw_id));
      result_.state.migrations.push_back(std::move(record));
    }
    return true;
  }

  bool read_migration(const bj::value& entry, const std::string& place,
                      migration_record& record) {
    auto bad = [&](const std::string& what) {
      return fail(place, "Invalid office migration: " + what);
    };
    auto object = entry.if_object();
    if (object == nullptr)
      return bad("it must be an object");
    std::string status;
    struct text_member {
      const char* name;
      std::string* into;
    };
    const text_member mandatory[] = {
      {"rawConversationId", &record.raw_id},
      {"sourceDir", &record.source_dir},
      {"workspaceRoot", &record.workspace_root},
      {"status", &status},
      {"updatedAt", &record.updated_at},
    };
    for (auto& member : mandatory) {
      auto value = json::string_member(*object, member.name);
      if (!value)
        return bad(std::string{"\""} + member.name + "\" must be a string");
      *member.into = std::move(*value);
    }
    std::string owner;
    const text_member optional[] = {
      {"ownerPlatform", &owner},
      {"targetDir", &record.target_dir},
      {"error", &record.error},
    };
    for (auto& member : optional) {
      if (json::member(*object, member.name) == nullptr)
        continue;
      auto value = json::string_member(*object, member.name);
      if (!value || value->empty())
        return bad(std::string{"\""} + member.name
                   + "\" must be a non-empty string");
      *member.into = std::move(*value);
    }
    if (check_conversation_id(record.raw_id) != address_fault::none)
      return bad(bureau::sentence_of(address_fault::invalid_conversation_id, "",
                                     record.raw_id));
    if (!record.workspace_root.starts_with('/')
        || !record.source_dir.starts_with('/'))
      return bad("\"workspaceRoot\" and \"sourceDir\" must be absolute");
    if (record.source_dir != join_path(record.workspace_root, record.raw_id))
      return bad("\"sourceDir\" must be "
                 + quoted(join_path(record.workspace_root, record.raw_id)));
    auto known = parse_migration_status(status);
    if (!known)
      return bad("unknown status " + quoted(status));
    record.status = *known;
    return read_owner(owner, record, bad) && check_status(record, bad);
  }

  template <class Bad>
  bool read_owner(const std::string& owner, migration_record& record,
                  const Bad& bad) {
    if (owner.empty())
      return record.target_dir.empty()
             || bad("\"targetDir\" needs an \"ownerPlatform\"");
    record.owner = parse_platform(owner);
    auto& enabled = result_.state.enabled_platforms;
    if (!record.owner)
      return bad("unsupported platform " + quoted(owner));
    if (std::find(enabled.begin(), enabled.end(), *record.owner)
        == enabled.end())
      return bad("the owner " + quoted(owner) + " is not enabled");
    auto target = join_path(record.workspace_root,
                            office_key({*record.owner, record.raw_id}));
    return record.target_dir.empty() || record.target_dir == target
           || bad("\"targetDir\" does not match " + quoted(target));
  }

  template <class Bad>
  bool check_status(migration_record& record, const Bad& bad) {
    switch (record.status) {
    case migration_status::needs_owner:
      if (record.owner)
        return bad("\"needs-owner\" must have no owner");
      break;
    case migration_status::prepared:
    case migration_status::moving:
    case migration_status::committed:
      if (!record.owner || record.target_dir.empty())
        return bad(quoted(to_string(record.status))
                   + " needs an owner and a target");
      break;
    case migration_status::failed:
      if (record.error.empty())
        return bad("\"failed\" needs an \"error\"");
      return true;
    }
    record.error.clear();
    return true;
  }

  static std::string member_text(const bj::value& value,
                                 std::string_view name) {
    auto object = value.if_object();
    return object ? json::text_or_empty(*object, name) : std::string{};
  }

  std::string_view text_;
  std::string_view file_;
  registry_file result_;
};

/// Writes members of one object at a depth, in print_pretty's form but without
/// building values first: the file is written anew for every new office.
class object_printer {
public:
  explicit object_printer(std::string& out) : out_(out) { out_ += "    {"; }

  void member(std::string_view name, std::string_view value) {
    out_ += first_ ? "\n      \"" : ",\n      \"";
    first_ = false;
    out_ += name;
    out_ += "\": ";
    out_ += quoted(value);
  }

  void close() { out_ += "\n    }"; }

private:
  std::string& out_;
  bool first_ = true;
};

void print(std::string& out, const office_record& record) {
  object_printer object{out};
  object.member("platform", to_string(record.address.platform));
  object.member("conversationId", record.address.conversation_id);
  object.member("recordedAt", record.recorded_at);
  object.close();
}

void print(std::string& out, const migration_record& record) {
  object_printer object{out};
  object.member("rawConversationId", record.raw_id);
  object.member("sourceDir", record.source_dir);
  object.member("workspaceRoot", record.workspace_root);
  if (record.owner)
    object.member("ownerPlatform", to_string(*record.owner));
  if (!record.target_dir.empty())
    object.member("targetDir", record.target_dir);
  object.member("status", to_string(record.status));
  if (!record.error.empty())
    object.member("error", record.error);
  object.member("updatedAt", record.updated_at);
  object.close();
}

void print(std::string& out, platform_id platform) {
  out += "    " + quoted(to_string(platform));
}

template <class T>
void print_list(std::string& out, std::string_view name,
                const std::vector<T>& elements) {
  out += ",\n  \"";
  out += name;
  out += "\": [";
  auto first = true;
  for (auto& element : elements) {
    out += first ? "\n" : ",\n";
    first = false;
    print(out, element);
  }
  out += elements.empty() ? "]" : "\n  ]";
}

} // namespace

std::string to_string(migration_status status) {
  auto index = static_cast<size_t>(status);
  return std::string{index < status_names.size() ? status_names[index]
                                                 : "unknown"};
}

std::optional<migration_status> parse_migration_status(std::string_view name) {
  for (size_t i = 0; i < status_names.size(); ++i)
    if (status_names[i] == name)
      return static_cast<migration_status>(i);
  return std::nullopt;
}

registry_file parse_registry(std::string_view text, std::string_view file) {
  return reader{text, file}.read();
}

std::string print_registry(const registry_state& state) {
  std::string out = "{\n  \"version\": " + std::to_string(registry_version);
  print_list(out, "enabledPlatforms", state.enabled_platforms);
  print_list(out, "offices", state.offices);
  print_list(out, "migrations", state.migrations);
  out += "\n}\n";
  return out;
}

} // namespace bureau
