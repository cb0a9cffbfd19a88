//! Branches as versions: what another branch says, in full, beneath the message of the user where it went another way.

use hashbrown::{HashMap, HashSet};
use ramus_model::json::Raw;

use super::known::{Known, ROOT};
use super::{Kept, Writer};
use crate::compose::Composer;
use crate::emit::hash;
use crate::limits::Limits;
use crate::origin::{with_also, with_members};

/// A way through the messages.
pub(super) struct Way<'w> {
    /// The entries.
    pub(super) entries: Vec<&'w str>,
    /// The messages, as they are written.
    pub(super) messages: Vec<&'w [u8]>,
    /// Whether a version of the payload has all of it.
    is_kept: bool,
}

impl Way<'_> {
    pub(super) fn list(&self) -> Vec<u8> {
        [b"[", &*self.messages.join(&b','), b"]"].concat()
    }

    /// How long the list is.
    fn size(&self) -> usize {
        self.messages.iter().map(|message| message.len() + 1).sum()
    }
}

/// The versions beneath a message.
struct Versions<'w> {
    /// Where the message stands on the way that counts.
    message: usize,
    lists: Vec<(&'w str, Vec<u8>)>,
}

impl Writer {
    /// The way to an entry.
    pub(super) fn way<'w>(&'w self, known: &Known<'w>, leaf: Option<&'w str>) -> Way<'w> {
        let mut entries = Vec::new();
        let mut at = leaf;
        while let Some((id, kept)) = at.and_then(|id| Some((id, self.steps.get(id)?))) {
            if kept.message.is_some() {
                entries.push(id);
            }
            at = kept.parent.as_deref();
        }
        entries.reverse();
        let (mut node, mut messages) = (Some(ROOT), Vec::new());
        for entry in &entries {
            let Some(Kept { message: Some(message), is_fresh, .. }) = self.steps.get(*entry) else { continue };
            node = node.filter(|_| !is_fresh).and_then(|node| known.find(node, entry, message));
            messages.push(node.and_then(|node| known.bytes(node)).unwrap_or(message));
        }
        let is_kept = node.is_some_and(|node| known.is_kept(node));
        Way { entries, messages, is_kept }
    }

    /// The branches that no version of the payload has, as the `branches` of the payload; none when nothing is added.
    pub(super) fn branches(
        &mut self,
        known: &Known<'_>,
        payload: Option<Raw<'_>>,
        leaf: Option<&str>,
    ) -> Option<Vec<u8>> {
        let mut lost = 0;
        let added = {
            let active = self.way(known, leaf);
            let on_path: HashSet<&str> = active.entries.iter().copied().collect();
            let mut room = Some(Limits::default().line / 2);
            let mut added: Vec<Versions<'_>> = Vec::new();
            let mut places: HashMap<usize, usize> = HashMap::new();
            for tip in self.tips() {
                if room.is_none() {
                    lost += 1;
                    continue;
                }
                let way = self.way(known, Some(tip));
                if way.is_kept || on_path.contains(tip) {
                    continue;
                }
                let shared = way.entries.iter().take_while(|entry| on_path.contains(**entry)).count();
                room = room.and_then(|room| room.checked_sub(way.size()));
                let Some(pivot) = self.pivot(&active, shared).filter(|_| room.is_some()) else {
                    lost += way.entries.len() - shared;
                    continue;
                };
                let place = *places.entry(pivot).or_insert(added.len());
                if place == added.len() {
                    added.push(Versions { message: pivot, lists: Vec::new() });
                }
                let list = self.renamed(way, shared, &active);
                if let Some(versions) = added.get_mut(place) {
                    versions.lists.push((tip, list));
                }
            }
            let stands = active.entries.last().copied().unwrap_or_default();
            let list = active.list();
            let beneath = |versions: &Versions<'_>| {
                let message =
                    active.messages.get(versions.message).and_then(|message| Raw::parse(message)?.field("id")?.text());
                self.beneath(&message.unwrap_or_default(), versions, payload, (stands, &list))
            };
            added.iter().map(beneath).collect::<Vec<_>>()
        };
        for _ in 0..lost {
            self.losses.lose("messages of other branches: with them the payload could not be read again");
        }
        if added.is_empty() {
            return None;
        }
        let branches = payload.and_then(|payload| payload.field("branches")).map_or(&b"{}"[..], Raw::bytes);
        let members: Vec<(&str, &[u8])> =
            added.iter().map(|(name, branch)| (name.as_str(), branch.as_slice())).collect();
        with_also(branches, &members).or_else(|| with_also(b"{}", &members))
    }

    /// The messages that no other hangs from, in their order.
    fn tips(&self) -> Vec<&str> {
        let inner: HashSet<&str> = self.order.iter().filter_map(|id| self.steps.get(id)?.above.as_deref()).collect();
        self.order.iter().map(String::as_str).filter(|id| !inner.contains(id)).collect()
    }

    /// The message of the user on the way that counts beneath which another way begins: the one that is another there, or the
    /// last one that both have.
    fn pivot(&self, active: &Way<'_>, shared: usize) -> Option<usize> {
        let is_user = |at: &usize| {
            let kept = active.entries.get(*at).and_then(|entry| self.steps.get(*entry));
            kept.is_some_and(|kept| kept.is_user)
        };
        let next = Some(shared).filter(is_user);
        next.or_else(|| (0..shared).rev().find(is_user)).or_else(|| (!active.entries.is_empty()).then_some(0))
    }

    /// A way as a list. A message that stands in the place of another has its id, as one that was edited.
    fn renamed(&self, way: Way<'_>, shared: usize, active: &Way<'_>) -> Vec<u8> {
        let both = way.entries.get(shared).zip(active.entries.get(shared));
        let is_user = |entry: &str| self.steps.get(entry).is_some_and(|kept| kept.is_user);
        let id = |message: &[u8]| Some(Raw::parse(message)?.field("id")?.bytes().to_vec());
        let edited = both.filter(|(one, other)| is_user(one) && is_user(other)).and_then(|_| {
            let id = id(active.messages.get(shared)?)?;
            with_members(way.messages.get(shared)?, &[("id", Some(&id))])
        });
        let messages = way.messages.iter().enumerate().map(|(at, message)| match &edited {
            Some(edited) if at == shared => edited.as_slice(),
            _ => message,
        });
        [b"[", &*messages.collect::<Vec<_>>().join(&b','), b"]"].concat()
    }

    /// A branch of the payload: the versions it has, those that are added, and the one that counts, which comes last.
    fn beneath(
        &self,
        message: &str,
        versions: &Versions<'_>,
        payload: Option<Raw<'_>>,
        active: (&str, &[u8]),
    ) -> (String, Vec<u8>) {
        let had = payload.and_then(|payload| payload.field("branches")?.field(message)?.field("versions"));
        let mut lists: Vec<Vec<u8>> = had.into_iter().flat_map(Raw::items).map(|had| had.bytes().to_vec()).collect();
        let (stands, list) = active;
        let added = versions.lists.iter().map(|(tip, list)| (*tip, list.as_slice())).chain([(stands, list)]);
        lists.extend(added.map(|(tip, list)| self.version(tip, list)));
        let mut branch = Composer::default();
        branch.text("messageId", message);
        branch.number("activeIndex", lists.len().saturating_sub(1));
        let mut bytes = b"{".to_vec();
        bytes.extend(branch.finish().0);
        bytes.extend_from_slice(b",\"versions\":[");
        bytes.extend(lists.join(&b','));
        bytes.extend_from_slice(b"]}");
        (message.to_owned(), bytes)
    }

    fn version(&self, tip: &str, list: &[u8]) -> Vec<u8> {
        let mut version = Composer::default();
        version.text("id", &format!("version-{}", hash(tip)));
        version.text("signature", &hash(&String::from_utf8_lossy(list)));
        let stamp =
            self.steps.get(tip).and_then(|kept| Raw::parse(kept.message.as_deref()?)?.field("timestamp")?.text());
        version.text("createdAt", &stamp.unwrap_or_default());
        let mut bytes = b"{".to_vec();
        bytes.extend(version.finish().0);
        bytes.extend_from_slice(b",\"selections\":{},\"messages\":");
        bytes.extend_from_slice(list);
        bytes.push(b'}');
        bytes
    }
}
