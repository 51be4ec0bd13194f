//! What users do with jobs: submit, pause, continue, cancel and view them.

use super::caller::Caller;
use super::folder::{CHECKPOINT, IncomingFiles, KEY, LOG, RESULT};
use super::job::{Job, StopReason};
use super::refusal::Refused;
use super::state::{SHOWN, Service, State, now};
use super::store::StoreError;
use crate::api::{JobState, JobView, Role, SearchHistory, Submission, names_elsewhere};
use crate::credentials::new_token;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs::{File, Metadata};
use std::io::ErrorKind;

pub(super) const BAD: u16 = 400;
const FORBIDDEN: u16 = 403;
const UNKNOWN: u16 = 404;
const CONFLICT: u16 = 409;
const FULL: u16 = 507;

/// The maximum number of words of a command.
const WORDS: usize = 1000;
/// The maximum number of jobs of a request.
const SUBMISSIONS: usize = 1000;
/// The longest word, and all words of a command together, in bytes.
const LENGTH: usize = 10_000;
const COMMAND: usize = 64 << 10;
/// The longest key of a submission, in bytes.
const KEY_LENGTH: usize = 200;
/// The maximum number of files of a job.
const FILES: usize = 1000;
/// The number of bytes that a user's file counts for at least.
const SMALLEST_FILE: u64 = 4096;

impl Service {
    /// Puts jobs into the queue, all or none. One that was submitted before with the same key is not submitted again.
    pub(super) fn submit(&self, caller: &Caller, all: &[Submission]) -> Result<Vec<u64>, Refused> {
        if all.len() > SUBMISSIONS {
            return Err(Refused(BAD, format!("expected at most {SUBMISSIONS} jobs at once")));
        }
        let (mut kinds, mut files) = (Vec::new(), Vec::new());
        for Submission { args, files: encoded, key, .. } in all {
            if key.len() > KEY_LENGTH {
                let bytes = key.len();
                let why = format!("the key has {bytes} bytes: expected at most {KEY_LENGTH}");
                return Err(Refused(BAD, why));
            }
            if args.len() > WORDS
                || args.iter().any(|arg| arg.len() > LENGTH)
                || args.iter().map(String::len).sum::<usize>() > COMMAND
            {
                let why = format!(
                    "the command is too long: expected at most {WORDS} words of at most {LENGTH} bytes, together at most {COMMAND}"
                );
                return Err(Refused(BAD, why));
            }
            if let Some(word) =
                args.iter().find(|arg| arg.contains(char::is_control) || *arg == "--")
            {
                return Err(Refused(BAD, format!("{word:?} is not allowed in a command")));
            }
            // A command sees its own folder only.
            if let Some(word) = word_from_elsewhere(args) {
                let why = format!(
                    "'{word}': expected the name, without '/', of a file that is sent along"
                );
                return Err(Refused(BAD, why));
            }
            if encoded.len() > FILES {
                return Err(Refused(BAD, format!("expected at most {FILES} files of a job")));
            }
            let decoded = encoded.iter().map(|(name, text)| {
                check_file_name(name)?;
                let bad = |_| Refused(BAD, format!("{name}: invalid base 64"));
                Ok((name.clone(), STANDARD.decode(text).map_err(bad)?))
            });
            let decoded = decoded.collect::<Result<Vec<_>, Refused>>()?;
            let contents = |name: &str| {
                let found = decoded.iter().find(|(it, _)| it == name);
                found.map(|(_, bytes)| bytes.clone())
            };
            kinds.push((self.settings.check)(args, &contents).map_err(|why| Refused(BAD, why))?);
            for output in (self.settings.outputs)(args, true) {
                check_file_name(&output.to_string_lossy())?;
            }
            files.push(decoded);
        }
        let sizes = files.iter().map(|files| {
            files.iter().map(|(name, bytes)| file_bytes(name, bytes.len() as u64)).sum::<u64>()
        });
        let sizes: Vec<u64> = sizes.collect();
        let new: u64 = sizes.iter().sum();
        may_submit(&self.lock(), caller, all, new)?;
        // Without the lock, so that large files delay nobody else.
        let written = files.iter().map(|files| IncomingFiles::write(&self.settings.data, files));
        let written = written.collect::<std::io::Result<Vec<_>>>();
        let files = written.map_err(not_stored)?;
        let mut guard = self.lock();
        let state = &mut *guard;
        may_submit(state, caller, all, new)?;
        let at = now();
        let mut added = Vec::new();
        let mut views = Vec::new();
        for job in all {
            let key = if job.key.is_empty() {
                new_token().map_err(|why| Refused(500, why))?
            } else {
                job.key.clone()
            };
            let (user, args, priority) = (caller.name.clone(), job.args.clone(), job.priority);
            let view = JobView { user, args, priority, submitted: at, ..JobView::default() };
            views.push((view, key));
        }
        let mut added_bytes = 0;
        let stored = state.store.together(|store| {
            let mut ids = Vec::new();
            let jobs = views.into_iter().zip(&kinds).zip(files).zip(sizes);
            for ((((view, key), kind), files), bytes) in jobs {
                if let Some(id) = store.job_with_key(&view.user, &key)? {
                    ids.push(id);
                    continue;
                }
                let id = store.add_job(&view, &key)?;
                // A submission that failed may have left files under this number, of another user.
                match std::fs::remove_dir_all(self.folder(id)) {
                    Err(why) if why.kind() != ErrorKind::NotFound => {
                        return Err(StoreError::Files(why));
                    }
                    _ => {}
                }
                // A job exists with its files, or not at all.
                files.move_to(&self.folder(id)).map_err(StoreError::Files)?;
                ids.push(id);
                added_bytes += bytes;
                added.push(Job::new(JobView { id, ..view }, *kind));
            }
            if new > 0 {
                IncomingFiles::sync_moves(&self.settings.data).map_err(StoreError::Files)?;
            }
            Ok(ids)
        });
        let ids = stored.map_err(not_stored)?;
        // Where a limit depends on them, they are measured again and again.
        let account = state.accounts.get_mut(&caller.name);
        if let Some(account) = account.filter(|it| it.row.limits.bytes.is_some()) {
            account.bytes += added_bytes;
        }
        for job in added {
            state.jobs.insert(job.view.id, job);
        }
        drop(guard);
        self.wake.notify_one();
        self.announce();
        Ok(ids)
    }

    /// Acts on a job of the caller that is not over.
    fn act(
        &self,
        caller: &Caller,
        id: u64,
        what: &str,
        act: impl FnOnce(&mut State, &Self) -> Result<(), Refused>,
    ) -> Result<JobView, Refused> {
        let view = self.job(caller, id)?;
        if caller.name != view.user && caller.role != Role::Operator {
            return Err(Refused(FORBIDDEN, format!("job {id} belongs to {}", view.user)));
        }
        if view.state.is_over() {
            return Err(Refused(CONFLICT, format!("job {id} is over: {}", view.state.word())));
        }
        let mut state = self.lock();
        if state.jobs.get(&id).is_none_or(|job| job.view.state.is_over()) {
            return Err(Refused(CONFLICT, format!("job {id} is over")));
        }
        act(&mut state, self)?;
        drop(state);
        self.audit(&caller.name, &format!("{what} job {id}"));
        self.wake.notify_one();
        self.announce();
        self.job(caller, id)
    }

    /// Cancels a job.
    pub(super) fn cancel(&self, caller: &Caller, id: u64) -> Result<JobView, Refused> {
        self.act(caller, id, "cancelled", |state, service| {
            let Some(job) = state.jobs.get_mut(&id) else { return Ok(()) };
            // Stored at once, so that it holds even if the service is killed before the root has ended.
            job.view.state = JobState::Cancelled;
            job.view.why = "stopping".into();
            if job.root.is_some() {
                job.stop(StopReason::Cancel);
                state.unsaved.insert(id);
            } else {
                service.retire(state, id, None);
            }
            service.flush(state);
            Ok(())
        })
    }

    /// Pauses a job.
    pub(super) fn pause(&self, caller: &Caller, id: u64) -> Result<JobView, Refused> {
        self.act(caller, id, "paused", |state, service| {
            let Some(job) = state.jobs.get_mut(&id) else { return Ok(()) };
            if job.root.is_some() && !job.is_search() {
                return Err(Refused(
                    CONFLICT,
                    format!("job {id} is not a search, so it cannot be paused"),
                ));
            }
            job.view.state = JobState::Paused;
            job.stop(StopReason::Pause);
            job.view.why = format!("{} paused it", caller.name);
            state.unsaved.insert(id);
            service.flush(state);
            Ok(())
        })
    }

    /// Continues a paused job.
    pub(super) fn resume(&self, caller: &Caller, id: u64) -> Result<JobView, Refused> {
        self.act(caller, id, "continued", |state, _| {
            let Some(job) = state.jobs.get_mut(&id) else { return Ok(()) };
            match (&mut job.root, job.view.state) {
                // It starts again once it has stopped.
                (Some(root), _) if root.stop == Some(StopReason::Pause) => {
                    root.stop = Some(StopReason::Yield);
                    job.view.state = JobState::Waiting;
                }
                (None, JobState::Paused) => job.view.state = JobState::Waiting,
                _ => {}
            }
            job.view.why = "starting".into();
            state.unsaved.insert(id);
            Ok(())
        })
    }

    /// Changes the priority of a job.
    pub(super) fn set_priority(
        &self,
        caller: &Caller,
        id: u64,
        priority: i32,
    ) -> Result<JobView, Refused> {
        self.act(caller, id, &format!("set priority {priority} for"), |state, _| {
            if let Some(job) = state.jobs.get_mut(&id) {
                job.view.priority = priority;
                state.unsaved.insert(id);
            }
            Ok(())
        })
    }

    /// A job.
    pub(super) fn job(&self, caller: &Caller, id: u64) -> Result<JobView, Refused> {
        let state = self.lock();
        let view = match state.jobs.get(&id) {
            Some(job) => Some(job.view.clone()),
            None => match state.ended.iter().rev().find(|job| job.id == id) {
                Some(view) => Some(view.clone()),
                None => state.store.job(id).map_err(|why| Refused(500, why.to_string()))?,
            },
        };
        let view = view.ok_or(Refused(UNKNOWN, format!("there is no job {id}")))?;
        Ok(caller.may_see(view))
    }

    /// The jobs that are not over and the latest that are, newest first. Of very many waiting jobs, it lists the first
    /// ones, of the caller and of others.
    pub(super) fn list(&self, caller: &Caller) -> Vec<JobView> {
        let state = self.lock();
        let last_of = |own: bool| {
            let waits = |job: &&Job| job.root.is_none() && (job.view.user == caller.name) == own;
            state.jobs.values().filter(waits).nth(SHOWN).map_or(u64::MAX, |job| job.view.id)
        };
        let (own, others) = (last_of(true), last_of(false));
        let last = |job: &Job| if job.view.user == caller.name { own } else { others };
        let open = state.jobs.values().rev();
        let open = open.filter(|job| job.view.id < last(job) || job.root.is_some());
        let open = open.map(|job| job.view.clone());
        let ended = state.ended.iter().rev().take(SHOWN).cloned();
        open.chain(ended).map(|job| caller.may_see(job)).collect()
    }

    /// Refuses callers who may not see the content of a job.
    fn content_of(&self, caller: &Caller, id: u64) -> Result<JobView, Refused> {
        let job = self.job(caller, id)?;
        if caller.sees(&job.user) {
            Ok(job)
        } else {
            Err(Refused(FORBIDDEN, format!("job {id} belongs to {}", job.user)))
        }
    }

    /// The result of a job.
    pub(super) fn result(&self, caller: &Caller, id: u64) -> Result<Vec<u8>, Refused> {
        let job = self.content_of(caller, id)?;
        let state = self.lock();
        let result = match state.unstored.get(&id) {
            Some(ended) => ended.result.clone(),
            None => state.store.result(id).map_err(|why| Refused(500, why.to_string()))?,
        };
        drop(state);
        result.ok_or_else(|| {
            let why = job.error.map_or(String::new(), |why| format!(": {why}"));
            Refused(CONFLICT, format!("job {id} has no result; it is {}{why}", job.state.word()))
        })
    }

    /// The history of a job's search.
    pub(super) fn history(&self, caller: &Caller, id: u64) -> Result<SearchHistory, Refused> {
        self.content_of(caller, id)?;
        let state = self.lock();
        let unstored = state.unstored.get(&id).map(|ended| &ended.job);
        if let Some(job) = state.jobs.get(&id).or(unstored) {
            return Ok(job.search_history());
        }
        let history =
            state.store.search_history(id).map_err(|why| Refused(500, why.to_string()))?;
        Ok(history.unwrap_or_default())
    }

    /// What the command of a job said.
    pub(super) fn log(&self, caller: &Caller, id: u64) -> Result<String, Refused> {
        self.content_of(caller, id)?;
        Ok(self.log_of(id))
    }

    /// The names of a job's files.
    pub(super) fn files(&self, caller: &Caller, id: u64) -> Result<Vec<String>, Refused> {
        self.content_of(caller, id)?;
        let names = std::fs::read_dir(self.folder(id)).into_iter().flatten();
        let names = names.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_file_name(name)).collect();
        names.sort();
        Ok(names)
    }

    /// A file of a job, and its length.
    pub(super) fn file(
        &self,
        caller: &Caller,
        id: u64,
        name: &str,
    ) -> Result<(File, u64), Refused> {
        self.content_of(caller, id)?;
        check_file_name(name)?;
        let open = || {
            let file = File::open(self.folder(id).join(name)).ok()?;
            let about = file.metadata().ok().filter(Metadata::is_file)?;
            Some((file, about.len()))
        };
        open().ok_or_else(|| Refused(UNKNOWN, format!("job {id} has no file '{name}'")))
    }
}

/// Refuses jobs beyond a user's limits. Their new files have this many bytes.
fn may_submit(state: &State, caller: &Caller, all: &[Submission], new: u64) -> Result<(), Refused> {
    if state.closing {
        return Err(Refused(503, "the service is ending".into()));
    }
    // It may have changed while the request arrived.
    let account = state.account_of(caller).ok_or_else(Refused::unknown)?;
    let known = |job: &&Submission| {
        let known = state.store.job_with_key(&caller.name, &job.key);
        !job.key.is_empty() && known.is_ok_and(|id| id.is_some())
    };
    // A job that exists already costs nothing.
    let fresh = all.len() - all.iter().filter(known).count();
    let (limits, bytes) = (&account.row.limits, account.bytes);
    if fresh > 0 && limits.bytes.is_some_and(|most| bytes + new > most) {
        let most = limits.bytes.unwrap_or_default();
        let why = format!(
            "the files of your unfinished jobs take {bytes} bytes, and these take {new}: expected at most {most} together"
        );
        return Err(Refused(CONFLICT, why));
    }
    if limits.memory.is_some()
        && all.iter().any(|job| job.args.iter().any(|arg| arg.starts_with("--memory")))
    {
        return Err(Refused(
            FORBIDDEN,
            "--memory cannot be set: an operator has set a memory limit for your jobs".into(),
        ));
    }
    let own = state.jobs.values().filter(|job| job.view.user == caller.name).count();
    if fresh > 0 && limits.jobs.is_some_and(|most| own + fresh > most as usize) {
        let most = limits.jobs.unwrap_or_default();
        let why =
            format!("you have unfinished jobs: {own}, and {fresh} more; expected at most {most}");
        return Err(Refused(CONFLICT, why));
    }
    Ok(())
}

/// What a file of a job's folder counts for. The name of a user's file takes room as well.
pub(super) fn file_bytes(name: &str, length: u64) -> u64 {
    if is_file_name(name) { length.max(SMALLEST_FILE) } else { length }
}

fn not_stored(why: impl std::fmt::Display) -> Refused {
    Refused(FULL, format!("the submission cannot be stored: {why}"))
}

/// The first word of a command that could name a file outside the job's folder. The value of `--balance` names none.
fn word_from_elsewhere(args: &[String]) -> Option<&String> {
    let mut before = "";
    args.iter().find(|&arg| {
        let before = std::mem::replace(&mut before, arg.as_str());
        let is_balance = before == "--balance" || arg.starts_with("--balance=");
        !is_balance && names_elsewhere(arg)
    })
}

/// Refuses a name that a user's file may not have.
fn check_file_name(name: &str) -> Result<(), Refused> {
    let why = format!(
        "'{name}': expected a file name that is not reserved, without '/', '\\' or a leading '.' or '-'"
    );
    is_file_name(name).then_some(()).ok_or(Refused(BAD, why))
}

/// Whether a user's file may have this name in a job's folder.
fn is_file_name(name: &str) -> bool {
    let ours = [RESULT, CHECKPOINT, KEY, LOG];
    (1..=200).contains(&name.len())
        && !name.starts_with(['.', '-'])
        && !name.contains(|c: char| c.is_control() || c == '/' || c == '\\')
        && !ours.iter().any(|own| name.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_files_of_their_own_folder_only() {
        for word in ["/etc/passwd", "--start=/etc/passwd", "../x", "..", "a\\b", "a\0b"] {
            assert!(names_elsewhere(word), "{word}");
        }
        for word in ["ta021", "--best", "shop.csv", "--pace=2.5", "a b"] {
            assert!(!names_elsewhere(word), "{word}");
        }
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        for text in
            ["count uts T1 --balance ring:share=1/8", "count uts T1 --balance=ring:share=1/8"]
        {
            assert_eq!(word_from_elsewhere(&words(text)), None, "{text}");
        }
        let wrong = words("count uts --balance ring /etc/passwd");
        assert_eq!(word_from_elsewhere(&wrong), Some(&wrong[4]));
        for name in ["", ".hidden", "-x", "a/b", "result.json", "search.pleach.old", "a\nb"] {
            assert!(!is_file_name(name), "{name}");
        }
        assert!(is_file_name("shop 1.csv") && is_file_name("Übung.txt"));
    }
}
