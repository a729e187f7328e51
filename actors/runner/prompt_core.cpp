#include "actors/runner/prompt_core.hpp"

#include "messages/text/utf8.hpp"

namespace bureau::runner {

namespace {

/// Platforms whose names are usually written in another way.
std::string display_name(platform_id platform) {
  switch (platform) {
  case platform_id::slack:
    return "Slack";
  case platform_id::discord:
    return "Discord";
  case platform_id::telegram:
    return "Telegram";
  case platform_id::github:
    return "GitHub";
  case platform_id::console:
    return "a console";
  }
  return "a chat platform";
}

/// Where in a platform, when it is not a conversation with one person.
std::string place_of(const contracts::turn_surface& surface) {
  if (surface.kind == contracts::surface_kind::dm)
    return {};
  std::string result = ", in a " + to_string(surface.kind);
  if (surface.name)
    result += " called " + *surface.name;
  return result + " that several people share";
}

std::string identity(const prompt_inputs& in) {
  return "You are an assistant with an office of your own: files, history and "
         "tools that belong to this conversation. You talk to people on "
         + display_name(in.place.address.platform) + place_of(in.surface)
         + ". Be concise, say what you did and what you found, and use no "
           "emojis.\n";
}

std::string context_section(const std::string& home) {
  return "## Context\n"
         "- This prompt carries no date. Each message shows its local time; "
         "run `date` when you need the current one.\n"
         "- The messages before this one include the results of tools you "
         "called earlier.\n"
         "- What is older is on disk, read-only: `"
         + home
         + "/log.jsonl` holds every message of this conversation, one "
           "JSON object a line; `"
         + home
         + "/sessions/` holds the transcripts, the file `current` there names "
           "the one in use, and threads have files of their own.\n"
           "- Look there before you say that you do not know about earlier "
           "talk.\n"
           "- `[in-thread:ID]` in front of a message means that it was written "
           "in the thread ID.\n"
           "- Write GitHub-flavoured Markdown; it is translated for the "
           "platform.\n";
}

std::string ids_section() {
  return "## Platform IDs\n"
         "Channels and users of this platform are not listed.\n"
         "Mention a person as `<@userName>` with a name that you have seen "
         "here; never invent one.\n";
}

std::string network_line(const std::string& network) {
  if (network == "host")
    return "- Network: shared with the host machine.\n";
  if (network == "internet")
    return "- Network: internet access, nothing of the host machine.\n";
  return "- Network: none; commands cannot connect anywhere.\n";
}

std::string environment_section(const prompt_inputs& in,
                                const std::string& home) {
  std::string result = "## Environment\n";
  if (!in.executor.summary.empty())
    result += "- " + in.executor.summary + "\n";
  result += network_line(in.executor.network);
  result += "- Commands start in `" + in.paths.cwd + "`. Use paths below `"
            + in.paths.runtime_root + "`.\n";
  result += "- Keep temporary files in `" + home
            + "/scratch`.\n"
              "- A command ends when its shell ends: processes left in the "
              "background are killed.\n";
  return result;
}

std::string layout_section(const prompt_inputs& in) {
  // The same three shapes as the mounts (note 04, 14.2).
  std::string_view shared = "conversation";
  if (in.door_policy == "trusted")
    shared = in.layout == "full" ? "full" : "shared-support";
  std::string result = "## Workspace Layout\n";
  if (shared == "full")
    result += "You see the whole workspace. Work in your own office; change "
              "other parts only when asked to.\n";
  else if (shared == "shared-support")
    result += "You see your own office and what all conversations share.\n";
  else
    result += "You see your own office only.\n";
  result += "```\n" + in.paths.runtime_root + "/\n";
  if (shared != "conversation")
    result += "├── MEMORY.md          memory of all conversations\n"
              "├── skills/            skills of all conversations\n"
              "├── events/            scheduled work\n";
  result += "└── " + in.place.key + "/\n";
  result += "    ├── MEMORY.md      memory of this conversation\n"
            "    ├── skills/        skills of this conversation\n"
            "    ├── scratch/       your working directory\n"
            "    ├── attachments/   files people sent (read-only)\n"
            "    ├── sessions/      transcripts (read-only)\n"
            "    └── log.jsonl      message log (read-only)\n"
            "```\n";
  return result;
}

/// What no description of a tool has room for; nothing without the tool.
std::string events_section(const prompt_inputs& in) {
  for (const auto& tool : in.tools)
    if (tool.name == "event")
      return "## Events\n"
             "`event` makes turns that come later. Their text is all they "
             "know: "
             "name what is to be done, where, and how to tell it. A one-shot "
             "event needs an instant with its offset; a schedule without a "
             "timezone is one of the host's. Immediate and one-shot events "
             "remove themselves, periodic ones stay until they are deleted. "
             "Answer exactly [SILENT] when a periodic turn has nothing to "
             "report. Do not make one event for each of many things that "
             "happen at once: gather them first.\n\n";
  return {};
}

std::string memory_text(const prompt_inputs& in) {
  std::string result;
  auto add = [&](const char* heading, std::string_view content) {
    auto trimmed = text::trim(content);
    if (trimmed.empty())
      return;
    if (!result.empty())
      result += "\n\n";
    result += heading;
    result += "\n";
    result += trimmed;
  };
  add("### Global Workspace Memory", in.global_memory);
  add("### Conversation-Specific Memory", in.conversation_memory);
  return result.empty() ? "Nothing has been noted yet." : result;
}

std::string memory_section(const prompt_inputs& in, const std::string& home) {
  auto trusted =
    in.door_policy == "trusted" && !in.executor.global_memory_path.empty();
  std::string result = "## Memory\n";
  result += "Notes that must outlast this conversation's transcript belong in "
            "`"
            + home + "/MEMORY.md`";
  if (trusted)
    result += "; what concerns every conversation belongs in `"
              + in.paths.runtime_root + "/MEMORY.md`";
  result += ". Keep them short and current: decisions, preferences, open work. "
            "Change an entry instead of adding a second one, and remove what "
            "no longer holds.\n\n### Current Memory\n";
  result += memory_text(in) + "\n";
  return result;
}

/// First sentence of a description, for the summary.
std::string_view first_sentence(std::string_view description) {
  auto line = description.substr(0, description.find('\n'));
  auto end = line.find(". ");
  return end == std::string_view::npos ? line : line.substr(0, end + 1);
}

std::string tools_section(const prompt_inputs& in) {
  std::string result = "## Tools\n";
  if (in.tools.empty())
    return result + "There are no tools in this conversation.\n";
  for (const auto& tool : in.tools) {
    result += "- `" + tool.name + "`: ";
    result += first_sentence(tool.description);
    result += "\n";
  }
  result += "Every call takes a `label`: a few words that say what you are "
            "doing.\n";
  return result;
}

} // namespace

std::string system_prompt(const prompt_inputs& inputs) {
  auto home = inputs.paths.runtime_root + "/" + inputs.place.key;
  return identity(inputs) + "\n" + context_section(home) + "\n" + ids_section()
         + "\n" + environment_section(inputs, home) + "\n"
         + layout_section(inputs) + "\n" + events_section(inputs)
         + memory_section(inputs, home) + "\n" + tools_section(inputs);
}

} // namespace bureau::runner
