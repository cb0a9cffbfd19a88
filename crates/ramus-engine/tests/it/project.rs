//! Projects on a real file system: what is found around a directory, what hostile repositories can do about it, and which
//! sessions a repository that moved takes along.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ramus_engine::{Facet, Facets, Filter, NATIVE, NewSession, Say, Session, WhichDirectory, project};
use ramus_model::Project;
use ramus_store::Terminal;

use crate::homes::{Home, homes, jsonl};

/// A directory of its own, behind no link.
pub(crate) struct Disk {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { root: folder.path().canonicalize().unwrap(), _folder: folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What `git init` and `git remote add origin` leave.
    pub(crate) fn repository(&self, name: &str, address: Option<&str>) {
        self.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        let remote = address.map(|url| format!("[remote \"origin\"]\n\turl = {url}\n")).unwrap_or_default();
        self.write(&format!("{name}/.git/config"), format!("[core]\n\tbare = false\n{remote}"));
    }

    /// What `git worktree add` leaves.
    fn worktree(&self, name: &str, repository: &str) {
        let own = format!("{repository}/.git/worktrees/{name}");
        self.write(&format!("{own}/HEAD"), "ref: refs/heads/other\n");
        self.write(&format!("{own}/commondir"), "../..\n");
        self.write(&format!("{name}/.git"), format!("gitdir: {}\n", self.text(&own)));
    }

    fn find(&self, name: &str) -> Option<Project> {
        project::find(&self.text(name))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }
}

impl Home {
    /// A session in this directory that a model has answered in.
    pub(crate) fn answered(&self, cwd: &str) -> Session {
        let mut session = self.engine.create(NewSession { cwd: cwd.into(), ..NewSession::default() }).unwrap();
        self.engine.say(&mut session, Say::assistant("ok")).unwrap();
        session
    }

    /// The directories of the sessions that are listed in this one.
    pub(crate) fn listed(&self, cwd: &str) -> Vec<String> {
        let here = Filter { directory: WhichDirectory::One(cwd.into()), ..Filter::default() };
        let listing = self.engine.list(&here).unwrap();
        assert_eq!(listing, self.engine.list_by_reading(&here).unwrap(), "{}", self.name);
        for info in &listing.sessions {
            assert_eq!(info.moved_to.as_deref(), (info.cwd != cwd).then_some(cwd));
        }
        listing.sessions.into_iter().map(|info| info.cwd).collect()
    }
}

#[test]
fn the_nearest_repository_on_the_way_up_counts() {
    let disk = Disk::new();
    disk.repository("shop", Some("git@Host.example:ada/shop.git"));
    fs::create_dir_all(disk.path("shop/src/deep")).unwrap();
    let found = disk.find("shop/src/deep").unwrap();
    assert_eq!((found.root, found.remote.as_deref()), (disk.text("shop"), Some("host.example/ada/shop")));
    disk.repository("shop/src", None);
    let inner = disk.find("shop/src/deep").unwrap();
    assert_eq!((inner.root, inner.remote), (disk.text("shop/src"), None));
    assert!(inner.git.is_some() && inner.git != found.git);
    fs::create_dir_all(disk.path("bare")).unwrap();
    for nothing in ["bare", "shop/nowhere", "shop/.git/config", "shop/../shop"] {
        assert_eq!(disk.find(nothing), None, "{nothing}");
    }
    assert_eq!(project::find("relative"), None);
    // git passes over a directory that only has the name.
    fs::create_dir_all(disk.path("shop/lib/.git")).unwrap();
    assert_eq!(disk.find("shop/lib").unwrap().root, disk.text("shop"));
}

#[test]
fn worktrees_and_submodules_are_found_through_their_files() {
    let disk = Disk::new();
    disk.repository("shop", Some("https://host/ada/shop"));
    disk.worktree("tree", "shop");
    let (shop, tree) = (disk.find("shop").unwrap(), disk.find("tree").unwrap());
    assert_eq!((tree.root, tree.remote), (disk.text("tree"), Some("host/ada/shop".to_owned())));
    assert!(tree.git.as_ref().is_some_and(|git| git.starts_with("worktree:")), "{:?}", tree.git);
    assert!(shop.git.is_some_and(|git| !git.starts_with("worktree:")));
    disk.write("shop/.git/modules/lib/HEAD", "ref: refs/heads/main\n");
    disk.write("shop/.git/modules/lib/config", "[remote \"origin\"]\nurl = ../lib.git\n");
    disk.write("shop/lib/.git", "gitdir: ../.git/modules/lib\r\n");
    let lib = disk.find("shop/lib").unwrap();
    assert_eq!((lib.root, lib.remote), (disk.text("shop/lib"), Some(disk.text("shop/lib"))));
}

#[test]
fn a_hostile_repository_is_no_project_and_does_no_harm() {
    let disk = Disk::new();
    disk.repository("outer", Some("https://host/outer"));
    let hostile = |name: &str| fs::create_dir_all(disk.path(&format!("outer/{name}"))).unwrap();
    hostile("linked");
    symlink("/etc", disk.path("outer/linked/.git")).unwrap();
    hostile("linked-repository");
    symlink(disk.path("outer/.git"), disk.path("outer/linked-repository/.git")).unwrap();
    disk.write("outer/itself/.git", "gitdir: .git\n");
    disk.write("outer/around/.git", "gitdir: .\n");
    disk.write("outer/system/.git", "gitdir: /etc\n");
    disk.write("outer/endless/.git", "gitdir: /dev\n");
    disk.write("outer/nul/.git", "gitdir: /tmp/a\0b\n");
    disk.write("outer/long/.git", format!("gitdir: {}\n", "a/".repeat(1 << 16)));
    disk.write("outer/nothing/.git", "");
    disk.write("outer/broken/.git", "gitdir: /no/such/directory\n");
    disk.worktree("outer/circle", "outer");
    let common = "outer/.git/worktrees/outer/circle/commondir";
    for content in ["", "commondir", "/etc/passwd", "\0"] {
        disk.write(common, content);
        assert_eq!(disk.find("outer/circle"), None, "{content:?}");
    }
    for name in
        ["linked", "linked-repository", "itself", "around", "system", "endless", "nul", "long", "nothing", "broken"]
    {
        assert_eq!(disk.find(&format!("outer/{name}")), None, "{name}: not the one around it either");
    }
}

#[test]
fn a_hostile_configuration_is_read_with_bounds() {
    let disk = Disk::new();
    disk.repository("shop", None);
    let remote = |content: &[u8]| {
        disk.write("shop/.git/config", content);
        disk.find("shop").unwrap().remote
    };
    let origin = "[remote \"origin\"]\n\turl = https://host/a\n";
    assert_eq!(remote(format!("{origin}{}", "[branch \"x\"]\n".repeat(1 << 18)).as_bytes()).as_deref(), Some("host/a"));
    assert_eq!(remote(format!("{}{origin}", "# filler\n".repeat(1 << 18)).as_bytes()), None, "beyond the bound");
    assert_eq!(remote(b"[remote \"origin\"]\r\n\turl = https://host/a\r\n").as_deref(), Some("host/a"));
    assert_eq!(remote(b"[remote \"origin\"]\n\turl = https://host/a\0b\n"), None);
    assert_eq!(remote(b"[remote \"origin\"]\n\turl = \"https://host/\\n\x1b[31m\"\n"), None);
    assert_eq!(remote(b"[include]\n\tpath = other\n"), None);
    assert_eq!(remote(&b"\\\n[\"".repeat(1 << 16)), None);
    for place in ["config-link", "config-pipe"] {
        fs::remove_file(disk.path("shop/.git/config")).unwrap();
        match place {
            "config-link" => {
                disk.write("elsewhere", origin);
                symlink(disk.path("elsewhere"), disk.path("shop/.git/config")).unwrap();
            }
            _ => make_pipe(&disk.path("shop/.git/config")),
        }
        assert_eq!(disk.find("shop").unwrap().remote, None, "{place}");
    }
}

fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn a_repository_that_someone_else_planted_does_not_count() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let disk = Disk::new();
    disk.repository("shop", Some("https://host/shop"));
    let give = |name: &str| std::os::unix::fs::chown(disk.path(name), Some(12345), None).unwrap();
    give("shop/.git");
    assert_eq!(disk.find("shop"), None);
    give("shop");
    assert_eq!(disk.find("shop").unwrap().remote.as_deref(), Some("host/shop"), "all of it is theirs");
    // Neither does what their file leads to, when that belongs to a third.
    disk.repository("third", Some("https://host/third"));
    disk.write("pointing/.git", format!("gitdir: {}\n", disk.text("third/.git")));
    std::os::unix::fs::chown(disk.path("third/.git"), Some(54321), None).unwrap();
    assert_eq!(disk.find("pointing"), None);
}

#[test]
fn a_secret_in_an_address_reaches_no_log() {
    let disk = Disk::new();
    disk.repository("shop", Some("https://ada:ghp_topsecret@host/ada/shop.git"));
    for home in homes() {
        let session = home.answered(&disk.text("shop"));
        let bytes = String::from_utf8(home.bytes(&session)).unwrap();
        assert!(bytes.contains("host/ada/shop") && !bytes.contains("topsecret"), "{bytes}");
        assert_eq!(home.reopened(&session).project(), disk.find("shop"));
    }
}

#[test]
fn sessions_follow_a_repository_that_was_renamed() {
    let disk = Disk::new();
    for home in homes() {
        disk.repository("shop", None);
        fs::create_dir_all(disk.path("shop/src")).unwrap();
        let (shop, src) = (disk.text("shop"), disk.text("shop/src"));
        let session = home.answered(&shop);
        home.answered(&src);
        let terminal = Terminal::new("pts/1").unwrap();
        home.engine.remember(&terminal, &shop, session.location()).unwrap();
        disk.rename("shop", "work/store");
        let store = disk.text("work/store");
        assert_eq!(home.listed(&store), [shop.as_str()], "{}", home.name);
        assert_eq!(home.listed(&disk.text("work/store/src")), [src.as_str()]);
        assert_eq!(home.engine.open("last", &store).unwrap().id(), session.id());
        home.answered(&store);
        let recent = |terminal| home.engine.continue_recent(&store, terminal).unwrap().id().clone();
        assert_eq!(recent(Some(&terminal)), *session.id(), "the breadcrumb leads here");
        assert_ne!(recent(None), *session.id());
        let described = home.engine.describe(&session, &store).unwrap();
        assert_eq!((described.cwd, described.moved_to), (shop.clone(), Some(store.clone())));
        // A fork of it is found here as well.
        home.fork(&session, session.log().leaf().unwrap());
        assert_eq!(home.listed(&store).len(), 3);
        // Another repository in the old place changes nothing; the same one takes them back.
        disk.repository("shop", Some("https://host/other"));
        assert_eq!(home.listed(&store).len(), 3);
        assert_eq!(home.engine.continue_recent(&disk.text("shop"), Some(&terminal)).unwrap().id(), session.id());
        fs::remove_dir_all(disk.path("shop")).unwrap();
        disk.rename("work/store", "shop");
        assert_eq!(home.listed(&shop).len(), 3, "two that were always there, and one from elsewhere");
        fs::remove_dir_all(disk.path("shop")).unwrap();
    }
}

#[test]
fn clones_and_worktrees_keep_their_sessions_apart() {
    let disk = Disk::new();
    let home = jsonl();
    disk.repository("one", Some("https://host/shop"));
    disk.worktree("tree", "one");
    let (one, two, tree) = (disk.text("one"), disk.text("two"), disk.text("tree"));
    home.answered(&one);
    home.answered(&tree);
    disk.repository("two", Some("git@host:shop.git"));
    assert_eq!(home.listed(&two), Vec::<String>::new(), "the other clone is still there");
    disk.rename("tree", "moved-tree");
    assert_eq!(home.listed(&disk.text("moved-tree")), [tree.as_str()]);
    fs::remove_dir_all(disk.path("moved-tree")).unwrap();
    fs::remove_dir_all(disk.path("one/.git/worktrees")).unwrap();
    assert_eq!(home.listed(&one), [one.as_str()], "a worktree that was removed has not moved");
    fs::remove_dir_all(disk.path("one")).unwrap();
    assert_eq!(home.listed(&two), [one.as_str()], "cloned again");
    // A clone that was made for a trial and deleted leaves nothing to the older one.
    disk.repository("trial", Some("https://host/shop"));
    home.answered(&disk.text("trial"));
    fs::remove_dir_all(disk.path("trial")).unwrap();
    assert_eq!(home.listed(&two), [one.as_str()]);
}

#[test]
fn moving_a_session_records_the_project_of_the_new_directory() {
    let disk = Disk::new();
    disk.repository("one", Some("https://host/one"));
    disk.repository("two", Some("https://host/two"));
    for home in homes() {
        let mut session = home.answered(&disk.text("one"));
        home.engine.move_to(&mut session, &disk.text("two")).unwrap();
        assert_eq!(home.reopened(&session).project(), disk.find("two"), "{}", home.name);
        home.engine.move_to(&mut session, "/nowhere").unwrap();
        assert_eq!(home.reopened(&session).project(), None);
        home.engine.move_to(&mut session, &disk.text("one")).unwrap();
        let fork = home.fork(&session, session.log().leaf().unwrap());
        assert_eq!(fork.project(), disk.find("one"));
        let exported = String::from_utf8(home.engine.export(&fork).unwrap()).unwrap();
        assert!(exported.lines().next().unwrap().contains("host/one"), "{exported}");
    }
}

#[test]
fn what_recorded_no_project_is_looked_up() {
    let disk = Disk::new();
    fs::create_dir_all(disk.path("shop")).unwrap();
    let home = jsonl();
    let session = home.answered(&disk.text("shop"));
    disk.repository("shop", Some("https://host/shop"));
    let listing = home.engine.list(&Filter::default()).unwrap();
    assert_eq!(listing.sessions[0].project, disk.find("shop"));
    assert_eq!(home.engine.describe(&session, "/").unwrap().project, disk.find("shop"));
    assert_eq!(session.info().unwrap().project, None, "what is recorded is another matter");
}

#[test]
fn a_project_is_found_around_sessions_that_recorded_none_and_counted() {
    for home in homes() {
        let disk = Disk::new();
        disk.repository("shop", Some("https://host/ada/shop"));
        fs::create_dir_all(disk.path("later/src")).unwrap();
        fs::create_dir_all(disk.path("nowhere")).unwrap();
        let recorded = home.answered(&disk.text("shop"));
        let unrecorded = home.answered(&disk.text("later/src"));
        home.answered(&disk.text("nowhere"));
        disk.repository("later", Some("https://host/ada/later"));
        for (name, session) in [("shop", &recorded), ("ada/later", &unrecorded), ("host/ada/later", &unrecorded)] {
            let filter = Filter { project: Some(name.into()), ..Filter::default() };
            let listing = home.engine.list(&filter).unwrap();
            assert_eq!(listing, home.engine.list_by_reading(&filter).unwrap(), "{}", home.name);
            let ids: Vec<_> = listing.sessions.iter().map(|info| &info.id).collect();
            assert_eq!(ids, [session.id()], "{}: {name}", home.name);
        }
        let facets = home.engine.facets(None).unwrap();
        let told = |facets: Vec<Facet>| facets.into_iter().map(|one| (one.name, one.sessions)).collect::<Vec<_>>();
        assert_eq!(told(facets.projects), [("host/ada/later".to_owned(), 1), ("host/ada/shop".to_owned(), 1)]);
        assert_eq!(told(facets.agents), [(NATIVE.to_owned(), 3)]);
        assert_eq!(home.engine.facets(Some("somebody else")).unwrap(), Facets::default());
    }
}
