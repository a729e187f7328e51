#pragma once

#include "messages/interfaces/model.hpp"

#include <cstddef>
#include <string>

/// What a person is told when a run fails: one sentence or two, what failed and
/// what to do. They are made of our own words, the names of provider and model
/// and the HTTP status; never of text a provider sent, which may hold a key.
namespace bureau::harness {

/// Code of a failure that the provider edge found by itself: nothing was sent,
/// and its sentence is ours (`not_sent_code` of adapters/models).
inline constexpr const char* not_sent_code = "not_sent";

/// A model call that failed for good.
/// @param said error message of the reply; told only when it is our own
/// @param retries how often it was repeated before
std::string model_failure_sentence(const model_descriptor& model,
                                   const model_error& failure,
                                   const std::string& said, int retries);

/// The run reached one of its caps.
/// @param reason text of budget_fault
std::string budget_sentence(const std::string& reason);

/// The model went in circles.
/// @param rounds how often it repeated itself
std::string repetition_sentence(size_t rounds);

/// The session file could not take the message: nothing was begun.
std::string unsaved_sentence();

/// The session file could not take an entry of the run.
std::string storage_sentence();

/// The reply ran into its output limit before there was any text.
std::string length_sentence(const model_descriptor& model);

/// There is no key for the provider of the model.
std::string credential_sentence(const model_descriptor& model);

/// Whether a call of the model needs a key: it lives behind a URL of another
/// host and carries no authorization header of its own.
bool needs_credential(const model_descriptor& model);

/// Environment variable with the key of a provider: my-llm.v2 →
/// MY_LLM_V2_API_KEY.
std::string key_variable(const std::string& provider);

} // namespace bureau::harness
