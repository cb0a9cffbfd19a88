//! The helper of the sandbox: restricts itself and becomes the command that it is given.

use std::process::ExitCode;

fn main() -> ExitCode {
    let error = ramus_tools::sandbox::enter(std::env::args_os().skip(1).collect());
    #[expect(clippy::print_stderr, reason = "this is how the command's reader learns why it did not start")]
    {
        eprintln!("ramus-sandbox: {error}");
    }
    ExitCode::from(126)
}
