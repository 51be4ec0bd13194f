//! [`Store`]: accounts, jobs and the audit log, in an SQLite database that survives a kill at any moment.

use crate::api::{JobState, JobView, Role, SearchHistory, Update, UserLimits};
use crate::private;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::path::Path;

/// The version of the tables.
const VERSION: i64 = 1;

/// The number of events that the audit log keeps.
const AUDITED: i64 = 100_000;

const TABLES: &str = "
CREATE TABLE account (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    token BLOB NOT NULL UNIQUE,
    weight REAL NOT NULL,
    limits TEXT NOT NULL,
    only_for TEXT,
    usage REAL NOT NULL,
    usage_at REAL NOT NULL
) STRICT;
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL,
    key TEXT NOT NULL,
    args TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL,
    submitted REAL NOT NULL,
    started REAL,
    ended REAL,
    worker_s REAL NOT NULL,
    crashes INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    exit INTEGER,
    error TEXT,
    search TEXT,
    course TEXT,
    result BLOB,
    UNIQUE (user, key)
) STRICT;
CREATE INDEX job_state ON job (state);
CREATE TABLE audit (at REAL NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL) STRICT;
";

/// An account as it is stored.
#[derive(Clone, Debug)]
pub struct AccountRow {
    /// The name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The SHA-256 of its token.
    pub token: [u8; 32],
    /// Its share of the machines, relative to the weights of others.
    pub weight: f64,
    /// The limits.
    pub limits: UserLimits,
    /// For a key of joiners: the only user for whom they work.
    pub only_for: Option<String>,
    /// Thread-seconds used, decayed.
    pub usage: f64,
    /// When it was computed.
    pub usage_at: f64,
}

/// The database.
pub struct Store(Connection);

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An error of SQLite.
    #[error("the database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A text in it cannot be read as JSON.
    #[error("the database: {0}")]
    Json(#[from] serde_json::Error),
    /// Files that belong to a row cannot be written.
    #[error("files: {0}")]
    Files(std::io::Error),
    /// A different version of the program wrote it.
    #[error("the database has version {0}: expected {VERSION}")]
    Version(i64),
}

type Result<T> = std::result::Result<T, StoreError>;

const JOB: &str = "id, user, args, priority, state, submitted, started, ended, worker_s, crashes, exit, error, search";

impl Store {
    /// Opens a database, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be opened, or another program wrote it.
    pub fn open(path: &Path) -> Result<Self> {
        // Others may read the folder. If there is a file already, it keeps its permissions.
        let _ = private::create(path, "");
        let mut db = Connection::open(path)?;
        db.busy_timeout(std::time::Duration::from_secs(10))?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "synchronous", "full")?;
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            0 => {
                let all = db.transaction()?;
                all.execute_batch(TABLES)?;
                all.pragma_update(None, "user_version", VERSION)?;
                all.commit()?;
            }
            VERSION => {}
            other => return Err(StoreError::Version(other)),
        }
        Ok(Self(db))
    }

    /// All accounts.
    pub fn accounts(&self) -> Result<Vec<AccountRow>> {
        let mut query = self.0.prepare(
            "SELECT name, role, token, weight, limits, only_for, usage, usage_at FROM account",
        )?;
        let rows = query.query_map([], |row| {
            let (role, limits): (String, String) = (row.get(1)?, row.get(4)?);
            Ok(AccountRow {
                name: row.get(0)?,
                role: Role::ALL.into_iter().find(|it| it.word() == role).unwrap_or_default(),
                token: row.get(2)?,
                weight: row.get(3)?,
                limits: serde_json::from_str(&limits).unwrap_or_default(),
                only_for: row.get(5)?,
                usage: row.get(6)?,
                usage_at: row.get(7)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Stores an account, new or changed.
    pub fn save_account(&self, account: &AccountRow) -> Result<()> {
        let AccountRow { name, role, token, weight, limits, only_for, usage, usage_at } = account;
        let limits = serde_json::to_string(limits)?;
        self.0
            .prepare_cached("INSERT OR REPLACE INTO account VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                name,
                role.word(),
                token,
                weight,
                limits,
                only_for,
                usage,
                usage_at
            ])?;
        Ok(())
    }

    /// Removes an account.
    pub fn remove_account(&self, name: &str) -> Result<()> {
        self.0.execute("DELETE FROM account WHERE name = ?", [name])?;
        Ok(())
    }

    /// The job that a user submitted with this key.
    pub fn job_with_key(&self, user: &str, key: &str) -> Result<Option<u64>> {
        let mut query = self.0.prepare_cached("SELECT id FROM job WHERE user = ? AND key = ?")?;
        Ok(query.query_row([user, key], |row| row.get(0)).optional()?)
    }

    /// Whether there is a job of a user.
    pub fn has_jobs(&self, user: &str) -> Result<bool> {
        let mut query =
            self.0.prepare_cached("SELECT EXISTS (SELECT 1 FROM job WHERE user = ?)")?;
        Ok(query.query_row([user], |row| row.get(0))?)
    }

    /// Stores a new job that was submitted with this key, and returns its number.
    pub fn add_job(&self, job: &JobView, key: &str) -> Result<u64> {
        let args = serde_json::to_string(&job.args)?;
        self.0
            .prepare_cached(
                "INSERT INTO job (user, key, args, priority, state, submitted, worker_s, crashes, failures)
                 VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0)",
            )?
            .execute(params![
                job.user,
                key,
                args,
                job.priority,
                job.state.word(),
                job.submitted
            ])?;
        Ok(self.0.last_insert_rowid() as u64)
    }

    /// Stores what changed about a job, of which this number of roots crashed.
    pub fn save_job(&self, job: &JobView, failures: u32) -> Result<()> {
        self.0
            .prepare_cached(
                "UPDATE job SET priority = ?, state = ?, started = ?, ended = ?, worker_s = ?, crashes = ?,
                 failures = ?, exit = ?, error = ? WHERE id = ?",
            )?
            .execute(params![
                job.priority,
                job.state.word(),
                job.started,
                job.ended,
                job.worker_s,
                job.crashes,
                failures,
                job.exit,
                job.error,
                job.id
            ])?;
        Ok(())
    }

    /// Stores a job's result.
    pub fn save_result(&self, id: u64, result: &[u8]) -> Result<()> {
        self.0
            .prepare_cached("UPDATE job SET result = ? WHERE id = ?")?
            .execute(params![result, id])?;
        Ok(())
    }

    /// Stores the last state of a job's search and its history.
    pub fn save_history(
        &self,
        id: u64,
        search: Option<&Update>,
        history: &SearchHistory,
    ) -> Result<()> {
        let search = serde_json::to_string(&search)?;
        let history = serde_json::to_string(history)?;
        let query = "UPDATE job SET search = ?, course = ? WHERE id = ?";
        self.0.prepare_cached(query)?.execute(params![search, history, id])?;
        Ok(())
    }

    /// The history of a job's search.
    pub fn search_history(&self, id: u64) -> Result<Option<SearchHistory>> {
        let mut query = self.0.prepare_cached("SELECT course FROM job WHERE id = ?")?;
        let text: Option<String> = query.query_row([id], |row| row.get(0)).optional()?.flatten();
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// A job's result.
    pub fn result(&self, id: u64) -> Result<Option<Vec<u8>>> {
        let mut query = self.0.prepare_cached("SELECT result FROM job WHERE id = ?")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?.flatten())
    }

    /// A job.
    pub fn job(&self, id: u64) -> Result<Option<JobView>> {
        // The database counts to less.
        let Ok(id) = i64::try_from(id) else { return Ok(None) };
        let query = format!("SELECT {JOB} FROM job WHERE id = ?");
        Ok(self.0.prepare_cached(&query)?.query_row([id], view).optional()?)
    }

    /// Whether a job was over at a time.
    pub fn ended_by(&self, id: u64, at: f64) -> Result<bool> {
        let mut query = self.0.prepare_cached("SELECT 1 FROM job WHERE id = ? AND ended < ?")?;
        Ok(query.exists(params![id, at])?)
    }

    /// Notes an end for jobs that were over when the service was killed, before their end was stored.
    pub fn end_all_over(&self, at: f64) -> Result<()> {
        let query = "UPDATE job SET ended = ?
             WHERE ended IS NULL AND state IN ('done', 'failed', 'cancelled')";
        self.0.execute(query, [at])?;
        Ok(())
    }

    /// The jobs that are not over, oldest first, and the number of roots of each that crashed.
    pub fn open_jobs(&self) -> Result<Vec<(JobView, u32)>> {
        let mut query = self.0.prepare(&format!(
            "SELECT {JOB}, failures FROM job WHERE state IN ('waiting', 'running', 'paused') ORDER BY id"
        ))?;
        let rows = query.query_map([], |row| Ok((view(row)?, row.get("failures")?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The last jobs that are over, newest first.
    pub fn ended_jobs(&self, most: usize) -> Result<Vec<JobView>> {
        let mut query = self.0.prepare_cached(&format!(
            "SELECT {JOB} FROM job WHERE state IN ('done', 'failed', 'cancelled') ORDER BY id DESC LIMIT ?"
        ))?;
        Ok(query.query_map([most as i64], view)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The number of jobs in each state.
    pub fn numbers(&self) -> Result<Vec<(String, u64)>> {
        let mut query = self.0.prepare_cached("SELECT state, count(*) FROM job GROUP BY state")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Appends to the audit log, which keeps the last [`AUDITED`] events.
    pub fn audit(&self, at: f64, who: &str, what: &str) -> Result<()> {
        self.together(|Self(db)| {
            let mut add = db.prepare_cached("INSERT INTO audit VALUES (?, ?, ?)")?;
            let last = add.insert(params![at, who, what])?;
            db.prepare_cached("DELETE FROM audit WHERE rowid <= ?")?.execute([last - AUDITED])?;
            Ok(())
        })
    }

    /// The end of the audit log, newest first.
    pub fn audit_log(&self, most: usize) -> Result<Vec<(f64, String, String)>> {
        let mut query =
            self.0.prepare_cached("SELECT at, who, what FROM audit ORDER BY rowid DESC LIMIT ?")?;
        let rows =
            query.query_map([most as i64], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Makes some changes together or not at all.
    pub fn together<T>(&self, change: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let all = self.0.unchecked_transaction()?;
        let done = change(self)?;
        all.commit()?;
        Ok(done)
    }
}

/// A stored job as users see it.
fn view(row: &Row<'_>) -> rusqlite::Result<JobView> {
    let (args, state): (String, String) = (row.get(2)?, row.get(4)?);
    let state = JobState::ALL.into_iter().find(|it| it.word() == state);
    let search: Option<String> = row.get(12)?;
    Ok(JobView {
        id: row.get(0)?,
        user: row.get(1)?,
        args: serde_json::from_str(&args).unwrap_or_default(),
        priority: row.get(3)?,
        state: state.unwrap_or(JobState::Waiting),
        submitted: row.get(5)?,
        started: row.get(6)?,
        ended: row.get(7)?,
        worker_s: row.get(8)?,
        crashes: row.get(9)?,
        exit: row.get(10)?,
        error: row.get(11)?,
        search: search.and_then(|text| serde_json::from_str(&text).ok()).flatten(),
        ..JobView::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_were_over_before_their_end_was_stored_end_once() {
        let folder = std::env::temp_dir().join(format!("pleach-store-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = Store::open(&folder.join("service.sqlite")).unwrap();
        let states = [JobState::Cancelled, JobState::Paused, JobState::Failed, JobState::Done];
        let ids = states.map(|state| {
            let job = JobView { user: "ann".into(), state, ..JobView::default() };
            let id = store.add_job(&job, state.word()).unwrap();
            let ended = (state == JobState::Done).then_some(5.0);
            store.save_job(&JobView { id, ended, ..job }, 0).unwrap();
            id
        });
        store.end_all_over(7.0).unwrap();
        store.end_all_over(8.0).unwrap();
        let ended = ids.map(|id| store.job(id).unwrap().unwrap().ended);
        assert_eq!(ended, [Some(7.0), None, Some(7.0), Some(5.0)]);
        drop(store);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// It used to grow for as long as the service existed.
    #[test]
    fn the_audit_log_keeps_the_last_events() {
        let folder = std::env::temp_dir().join(format!("pleach-audit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = Store::open(&folder.join("service.sqlite")).unwrap();
        let old = "INSERT INTO audit (rowid, at, who, what) VALUES (?, 1, 'ann', 'old')";
        for rowid in [1, 2, AUDITED] {
            store.0.execute(old, [rowid]).unwrap();
        }
        store.audit(2.0, "ann", "new").unwrap();
        let whats = || store.audit_log(10).unwrap().into_iter().map(|(.., what)| what);
        assert!(whats().eq(["new", "old", "old"]));
        store.audit(3.0, "ann", "newer").unwrap();
        assert!(whats().eq(["newer", "new", "old"]));
        drop(store);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
