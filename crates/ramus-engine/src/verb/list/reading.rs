//! The same list by reading every session, without a catalogue. It is the measure of what `list` must answer.

use std::cmp::Ordering;

use ramus_catalogue::{After, NATIVE, SortKey, SortValue};
use ramus_store::{Location, Residence, StoreError};

use super::{Filter, Listing, cursor};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::project::{self, Place, Standing};
use crate::session::{KnownOrigins, among, load_listed, unknown};
use crate::verb::info::SessionInfo;

/// A session and what orders it.
struct Listed {
    place: (SortValue, String, String),
    info: SessionInfo,
}

impl Engine {
    /// Lists like [`Engine::list`], by reading every session.
    pub fn list_by_reading(&self, filter: &Filter) -> Result<Listing, EngineError> {
        let mut listing =
            Listing { ids: if filter.ids { self.session_ids()? } else { Vec::new() }, ..Listing::default() };
        let mut listed = Vec::new();
        let mut unreadable = Vec::new();
        let mut place = filter.directory.place();
        let known = self.store.list()?;
        for location in &known {
            let read = |known: KnownOrigins<'_>| {
                load_listed(&self.store, location.clone(), known).and_then(|session| session.info())
            };
            let info = match read(&among(&known)) {
                // What it was forked from may have been deleted while we were looking: its base is found afresh.
                Err(EngineError::Store(StoreError::NotFound { .. })) => read(&unknown),
                info => info,
            };
            match info {
                Ok(info) if !is_meant(&info, filter) => {}
                Ok(info) if listing.hides(&info, filter, place.as_mut()) => {}
                Ok(info) => listed.push(self.listed(location, info, filter.sort.key)),
                // Deleted or published while we were looking.
                Err(EngineError::Store(StoreError::NotFound { .. })) => {}
                Err(error) => {
                    let name = self.store.name_of(location);
                    unreadable.push((name, (location.id.to_string(), error.to_string())));
                }
            }
        }
        unreadable.sort();
        listing.unreadable = unreadable.into_iter().map(|(_, told)| told).collect();
        let in_order = |a: &Listed, b: &Listed| {
            let order = compare(&a.place, &b.place);
            if filter.sort.is_ascending { order } else { order.reverse() }
        };
        listed.sort_by(in_order);
        let mut listing = listing.page(listed, filter)?;
        listing.tell_places(filter);
        Ok(listing)
    }

    fn listed(&self, location: &Location, info: SessionInfo, key: SortKey) -> Listed {
        let name = self.store.name_of(location).unwrap_or_default();
        Listed { place: (value_of(&info, key), info.id.to_string(), name), info }
    }
}

/// Says whether a session is one that the filter is about, shown or hidden.
fn is_meant(info: &SessionInfo, filter: &Filter) -> bool {
    let contains = |text: &String| {
        let text = text.to_lowercase();
        info.title.to_lowercase().contains(&text) || info.cwd.to_lowercase().contains(&text)
    };
    let is_of = |name: &String| match &info.project {
        Some(project) => project.is_called(name),
        None => project::find(&info.cwd).is_some_and(|project| project.is_called(name)),
    };
    let agent = info.lineage.imported_from.as_ref().map_or(NATIVE, |from| &from.agent);
    filter.owner.as_ref().is_none_or(|owner| *owner == info.owner)
        && filter.text.as_ref().is_none_or(contains)
        && filter.tag.as_ref().is_none_or(|tag| info.tags.contains(tag))
        && (!filter.starred || info.starred)
        && filter.parent.as_ref().is_none_or(|parent| info.lineage.parent.as_ref() == Some(parent))
        && filter.project.as_ref().is_none_or(is_of)
        && filter.agent.as_ref().is_none_or(|wanted| wanted == agent)
}

impl Listing {
    /// Counts a session that is not shown.
    fn hides(&mut self, info: &SessionInfo, filter: &Filter, place: Option<&mut Place<'_>>) -> bool {
        let standing = place.map_or(Standing::Here, |place| place.standing(&info.cwd, info.project.as_ref()));
        let hidden = if standing == Standing::Elsewhere {
            &mut self.hidden.other_directories
        } else if info.archived_at.is_some() && !filter.archived {
            &mut self.hidden.archived
        } else if info.residence == Residence::Draft && !filter.drafts {
            &mut self.hidden.drafts
        } else {
            return false;
        };
        *hidden += 1;
        true
    }

    fn page(mut self, mut listed: Vec<Listed>, filter: &Filter) -> Result<Self, EngineError> {
        if let Some(cursor) = &filter.cursor {
            let after = match cursor::read(cursor, filter.sort.key) {
                Some(after) => after,
                None => {
                    let named = listed.iter().find(|listed| listed.place.1 == *cursor);
                    let (value, id, _) = &named.ok_or_else(|| cursor::unknown(cursor))?.place;
                    After { value: value.clone(), id: id.clone(), name: None }
                }
            };
            listed.retain(|listed| is_behind(listed, &after, filter.sort.is_ascending));
        }
        if let Some(limit) = filter.limit.filter(|limit| *limit < listed.len()) {
            let next = listed.get(limit).map(|listed| (listed.place.0.clone(), listed.place.1.clone()));
            listed.truncate(limit);
            self.next_cursor = listed.last().map(|last| {
                let (value, id, name) = last.place.clone();
                let is_double = next == Some((value.clone(), id.clone()));
                cursor::write(&After { value, id, name: is_double.then_some(name) }, filter.sort.key)
            });
        }
        self.sessions = listed.into_iter().map(|listed| listed.info).collect();
        Ok(self)
    }
}

fn is_behind(listed: &Listed, after: &After, is_ascending: bool) -> bool {
    let (value, id, name) = &listed.place;
    let order = match &after.name {
        Some(after_name) => compare(&listed.place, &(after.value.clone(), after.id.clone(), after_name.clone())),
        None => {
            compare(&(value.clone(), id.clone(), name.clone()), &(after.value.clone(), after.id.clone(), name.clone()))
        }
    };
    order == if is_ascending { Ordering::Greater } else { Ordering::Less }
}

fn compare(a: &(SortValue, String, String), b: &(SortValue, String, String)) -> Ordering {
    let value = match (&a.0, &b.0) {
        (SortValue::Number(a), SortValue::Number(b)) => a.cmp(b),
        (SortValue::Text(a), SortValue::Text(b)) => a.cmp(b),
        // One key gives values of one kind.
        _ => Ordering::Equal,
    };
    value.then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2)))
}

fn value_of(info: &SessionInfo, key: SortKey) -> SortValue {
    let usage = &info.usage;
    let number = |number: u64| SortValue::Number(i64::try_from(number).unwrap_or(i64::MAX));
    match key {
        SortKey::Updated => SortValue::Number(info.updated_millis),
        SortKey::Created => SortValue::Number(ramus_model::time::parse(&info.created).unwrap_or_default()),
        SortKey::Title => SortValue::Text(info.title.to_lowercase()),
        SortKey::Messages => number(info.messages as u64),
        SortKey::Cost => usage.reported().map_or(SortValue::Number(-1), number),
        SortKey::Tokens => number(usage.tokens.sum()),
    }
}
