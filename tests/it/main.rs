//! The integration tests of the host: one binary, with a module for each suite and each helper.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is the failure of a test"
)]

// The helpers.
mod granted;
mod granted_meanwhile;
mod guest_tool_system;
mod handmade;
mod harness;
mod home;
mod home_files;
mod http_server;
mod overrunning; // Guests for `overrun`.
#[path = "../program.rs"]
mod program;
mod provider;
mod replayed; // Replays the runs of every test.
mod resources;
mod small_disk;
mod terminal;

// The suites. Some of them also have a helper that another suite uses.
mod advisories;
mod answering;
mod approvals;
mod attachments;
mod attacks;
mod building;
mod cache;
mod chat;
mod chat_terminal;
mod cli;
mod commits; // How often a run writes to the disk.
mod compiling;
mod contracts;
mod costs;
mod crafted_recordings; // Recorded runs from files that somebody changed.
mod crash;
mod deciding; // Decisions of a person at a terminal.
mod embedding;
mod endings;
mod estimates;
mod files;
mod first_start;
mod flat; // Memory, threads and open files after many calls.
mod folders;
mod fuzz;
mod grants;
mod handles;
mod handmade_endings;
mod heavy; // Components that would take much memory in the host.
mod host_memory; // Memory of the host for what a guest fills.
mod host_survives;
mod http;
mod ids;
mod isolation;
mod keyring;
mod large_numbers;
mod layering;
mod lazy; // Tools that are loaded without being compiled.
mod leading_out; // Links and paths that lead out of the granted folder.
mod learning;
mod limited_address_space;
mod limits;
mod linked; // The interfaces that a call can use.
mod loading;
mod loading_damage;
mod loading_schema;
mod local_server;
mod many_tools;
mod models;
mod nested_grants; // Grants that run through other grants or through links.
mod no_network;
mod odd_files;
mod overrun;
mod packets;
mod piped;
mod plan_command;
mod plugins;
mod plugins_files;
mod plugins_web;
mod power_loss;
mod python;
mod question_length;
mod quickstart;
mod racing; // Files that change while a tool uses them.
mod reloading;
mod replay; // Replays of single calls.
mod replaying; // Replays of runs.
mod replaying_outside; // Replays of runs whose tools used files or sent requests.
mod schemas;
mod secrets;
mod self_test;
mod staging;
mod standing; // Approvals that also hold for later calls.
mod start_time;
mod streams; // Output that cannot be written, and input without end.
mod suggestions;
mod thread_tools;
mod together; // One question about all calls of a plan that need an approval.
mod together_grants;
mod tool_call;
mod tool_schemas;
mod tool_system;
mod users;
mod waiting;
mod without_wasi;
mod writing; // Writes that break off.
