#pragma once

#include "messages/codec/json_support.hpp"

#include <string>

/// The results of `jobs.list` and `jobs.show` for people (`bureau jobs`). Pure.
namespace bureau::control {

/// One job a line; a result that is none is said to be so.
std::string jobs_text(const json::bj::object& result);

/// A job with the end of its output.
std::string job_text(const json::bj::object& result);

} // namespace bureau::control
