//! The filter: a program for the kernel that stops the system calls that are of interest and lets the others pass.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_USER_NOTIF, sock_filter,
};

use crate::calls::{ARCH, Deed, WRITES, all};

/// Where the kernel puts the number of the call, the architecture, and the arguments.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// Numbers from here on are those of a third set, which nobody uses.
const FOREIGN: u32 = 0x4000_0000;

/// Writes the filter; none for an architecture that is not known here.
pub(crate) fn filter() -> Option<Vec<sock_filter>> {
    let arch = ARCH?;
    let mut program = [
        load(ARCHITECTURE),
        // Numbers of another architecture mean other things: nobody can tell what it does.
        unless(BPF_JEQ, arch, stop()),
        load(NUMBER),
    ]
    .concat();
    program.extend(when(BPF_JGE, FOREIGN, vec![stop()]));
    for (number, deed) in all() {
        let number = u32::try_from(number).ok()?;
        let body = match deed {
            Deed::Opens(_, _, Some(flags)) => {
                let low = ARGUMENTS + 8 * u32::try_from(flags).ok()?;
                let mut body = load(low);
                body.extend(when(BPF_JSET, WRITES, vec![stop()]));
                body.push(pass());
                body
            }
            _ => vec![stop()],
        };
        program.extend(when(BPF_JEQ, number, body));
    }
    program.push(pass());
    Some(program)
}

fn load(offset: u32) -> Vec<sock_filter> {
    vec![statement(BPF_LD | BPF_W | BPF_ABS, offset)]
}

fn stop() -> sock_filter {
    statement(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
}

fn pass() -> sock_filter {
    statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
}

/// Does what is in the body when the comparison holds, and skips it otherwise.
fn when(comparison: u32, value: u32, body: Vec<sock_filter>) -> Vec<sock_filter> {
    let skipped = u8::try_from(body.len()).unwrap_or(u8::MAX);
    let mut program = vec![jump(comparison, value, 0, skipped)];
    program.extend(body);
    program
}

/// Does one thing when the comparison does not hold.
fn unless(comparison: u32, value: u32, then: sock_filter) -> Vec<sock_filter> {
    vec![jump(comparison, value, 1, 0), then]
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k }
}

fn jump(comparison: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { jt, jf, ..statement(BPF_JMP | comparison | BPF_K, k) }
}
