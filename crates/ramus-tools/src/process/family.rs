//! The family of a command: every process that it started, found by the mark in its environment, by its group and by its
//! parents. One that takes away its mark, its group and its parents before the command ends is not found; only a sandbox
//! still holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::MARK;

/// How often processes are looked for before the rest is given up.
const ROUNDS: usize = 20;

pub(super) struct Family {
    mark: Vec<u8>,
    leader: Option<i32>,
}

/// What the system says about a process.
struct Status {
    state: u8,
    parent: i32,
    group: i32,
}

impl Family {
    pub(super) fn new(mark: &str, leader: Option<Pid>) -> Self {
        Self { mark: format!("{MARK}={mark}").into_bytes(), leader: leader.map(|pid| pid.as_raw_nonzero().get()) }
    }

    /// Returns the processes that belong to the command now, without the command itself.
    pub(super) fn members(&self) -> BTreeSet<i32> {
        let all: BTreeMap<i32, Status> = processes();
        let marked = |pid: i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark)
        };
        let own =
            |pid: i32, status: &Status| Some(status.group) == self.leader || Some(pid) == self.leader || marked(pid);
        let mut members: BTreeSet<i32> =
            all.iter().filter(|(pid, status)| own(**pid, status)).map(|(pid, _)| *pid).collect();
        loop {
            let children: Vec<i32> = all
                .iter()
                .filter(|(pid, status)| members.contains(&status.parent) && !members.contains(*pid))
                .map(|(pid, _)| *pid)
                .collect();
            if children.is_empty() {
                break;
            }
            members.extend(children);
        }
        members.retain(|pid| Some(*pid) != self.leader && all.get(pid).is_some_and(|status| status.state != b'Z'));
        members
    }

    /// Ends every process of the family, again until none is found. Returns how many there were.
    pub(super) async fn end(&self, members: &mut BTreeSet<i32>) -> usize {
        let mut ended = BTreeSet::new();
        for _ in 0..ROUNDS {
            members.extend(self.members());
            let alive = processes();
            members.retain(|pid| alive.get(pid).is_some_and(|status| status.state != b'Z'));
            if members.is_empty() {
                break;
            }
            for pid in members.iter() {
                if let Some(process) = Pid::from_raw(*pid) {
                    // It may have ended by itself in between.
                    let _ = kill_process(process, Signal::KILL);
                }
            }
            ended.append(members);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        ended.len()
    }
}

fn processes() -> BTreeMap<i32, Status> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, status(pid)?))).collect()
}

fn status(pid: i32) -> Option<Status> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may hold anything, brackets too.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some(Status { state, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}
