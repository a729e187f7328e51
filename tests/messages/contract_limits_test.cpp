#include "messages/contracts/ask.hpp"
#include "messages/contracts/attachment_kind.hpp"
#include "messages/contracts/continuation.hpp"
#include "messages/contracts/cron_operator.hpp"
#include "messages/contracts/live_input.hpp"
#include "messages/contracts/notify_suppression.hpp"
#include "messages/contracts/process_job.hpp"
#include "messages/contracts/reply_parts.hpp"
#include "messages/contracts/settings_json.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "messages/contracts/tool_names.hpp"
#include "messages/contracts/turn.hpp"

#include <doctest/doctest.h>

using namespace bureau::contracts;

// Both sides of a wire have these numbers; a change here is a change of the
// contracts.

TEST_CASE("limits of turns and what comes with them") {
  CHECK(live_input_max_characters == 8000);
  CHECK(live_input_max_messages == 100);
  CHECK(preceding_max_messages == 30);
  CHECK(preceding_max_text_bytes == 2048);
  CHECK(preceding_max_total_bytes == 16'384);
  CHECK(sender_label_max_chars == 64);
  CHECK(default_attachment_max_bytes == 20'971'520);
  CHECK(std::size(default_attachment_mime_types) == 26);
  CHECK(std::string_view{default_attachment_mime_types[0]} == "image/png");
  CHECK(std::string_view{default_attachment_mime_types[25]} == "video/webm");
}

TEST_CASE("limits of continuations") {
  CHECK(continuation_min_messages == 2);
  CHECK(continuation_max_messages == 64);
  CHECK(continuation_max_message_bytes == 65'536);
  CHECK(continuation_max_bytes == 262'144);
}

TEST_CASE("limits of answers and frames") {
  CHECK(max_reply_parts == 20);
  CHECK(max_delivery_outcomes == 20);
  CHECK(artifact_scheme == "mono-agent-artifact");
  CHECK(frame_line_bytes == 262'144);
  CHECK(frame_read_bytes == 8'388'608);
  CHECK(nothing_to_report == "NOTHING_TO_REPORT");
  CHECK(subagent_tool_separator == "\xE2\x96\xB8");
}

TEST_CASE("constants of interactive apps") {
  CHECK(mcp_apps_extension_id == "io.modelcontextprotocol/ui");
  CHECK(mcp_app_media_type == "text/html;profile=mcp-app");
  REQUIRE(mcp_app_versions.size() == 2);
  CHECK(mcp_app_versions[0] == "2026-01-26");
  CHECK(mcp_app_versions[1] == "2025-11-21");
}

TEST_CASE("limits of asks") {
  CHECK(ask_max_questions == 5);
  CHECK(ask_min_options == 2);
  CHECK(ask_max_options == 3);
  CHECK(ask_max_timeout_ms == 600'000);
  CHECK(ask_max_long_poll_ms == 25'000);
}

TEST_CASE("limits of jobs and settings") {
  CHECK(max_process_job_lifecycles == 10'000 + 32 + 64);
  CHECK(process_job_schema == "mono-agent.process-job-projection.v1");
  CHECK(invalid_json_source == "invalid_json_source");
  CHECK(settings_file_mode == 0600);
}

TEST_CASE("limits of scheduled jobs and their runs") {
  CHECK(max_cron_response_bytes == 786'432);
  CHECK(max_cron_read_bytes == 1'048'576);
  CHECK(max_cron_run_page == 100);
  CHECK(max_cron_jobs == 64);
  CHECK(max_cron_job_id_bytes == 256);
  CHECK(max_cron_expression_bytes == 256);
  CHECK(max_cron_timezone_bytes == 128);
  CHECK(max_cron_conversation_id_bytes == 512);
  CHECK(max_cron_run_id_bytes == 2048);
  CHECK(max_cron_cursor_bytes == 4096);
  CHECK(max_cron_degraded_reason_bytes == 4096);
  CHECK(max_cron_summary_text_bytes == 2048);
  CHECK(max_cron_summary_error_bytes == 512);
  CHECK(max_cron_summary_artifact_id_bytes == 512);
  CHECK(max_cron_summary_failure_kind_bytes == 128);
  CHECK(max_cron_summary_outcomes == 8);
  CHECK(max_cron_detail_text_bytes == 131'072);
  CHECK(max_cron_detail_error_bytes == 32'768);
  CHECK(max_cron_detail_artifact_id_bytes == 4096);
  CHECK(max_cron_detail_failure_kind_bytes == 512);
  CHECK(max_cron_detail_events == 256);
  CHECK(max_cron_detail_event_bytes == 393'216);
}
