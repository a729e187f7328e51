#pragma once

#include "config/cli.hpp"
#include "config/environment.hpp"

/// Commands that ask a running node on its control socket. They print and
/// answer the exit code.
namespace bureau::system {

/// `bureau status [--json]`: how the node is. 1 when none runs or answers.
int status_command(const config::cli_plan& plan,
                   const config::environment& env);

/// `bureau shutdown [--timeout SECONDS]`: asks the node to end and waits until
/// its lock is free. 1 when none runs, or it does not end in time.
int shutdown_command(const config::cli_plan& plan,
                     const config::environment& env);

/// `bureau office claim ID PLATFORM` beside a running node, which owns the
/// registry: it writes the claim. 1 when it refuses or does not answer.
int office_claim_command(const config::cli_plan& plan,
                         const config::environment& env);

/// `bureau office show PLATFORM ID`: what the files of a conversation say. A
/// running node is asked for its workspace's sake; without one the files are
/// read here.
int office_show_command(const config::cli_plan& plan,
                        const config::environment& env);

/// `bureau notify CONVERSATION TEXT` and `bureau notify --list`. 1 when no node
/// runs, or what was to be said is not delivered and will not be.
int notify_command(const config::cli_plan& plan,
                   const config::environment& env);

/// `bureau cancel CONVERSATION [--all]`: ends turns. 1 when no node runs.
int cancel_command(const config::cli_plan& plan,
                   const config::environment& env);

/// `bureau jobs list|show|cancel`: the background commands of all
/// conversations.
int jobs_command(const config::cli_plan& plan, const config::environment& env);

/// `bureau events list|show|delete`: schedules and their runs. 1 when no node
/// answers, or there is no such schedule.
int events_command(const config::cli_plan& plan,
                   const config::environment& env);

} // namespace bureau::system
