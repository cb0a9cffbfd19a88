//! `ramus`: sessions of coding agents as trees, from the command line.
//!
//! A command is one file under `command/`: it parses its arguments, calls one verb of the engine and hands the result to
//! `render/`. Data goes to stdout, talk to stderr.

mod agents;
mod cli;
mod command;
mod counter;
mod failure;
mod file;
mod home;
mod invocation;
mod models;
mod progress;
mod providers;
mod redaction;
mod remote;
mod render;
mod rule;
mod screen;
mod servers;
mod signal;
mod target;
mod terminal;

fn main() -> std::process::ExitCode {
    // A command that is put in bounds comes through here first.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == command::run::SANDBOX) {
        let error = ramus_tools::sandbox::enter(words.collect());
        return failure::report_plainly(&error);
    }
    signal::outlive_file_size_limits();
    cli::main(std::env::args_os().collect())
}
