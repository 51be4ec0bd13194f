//! `pleach user`: the users of a service, for its operators.

use super::super::console::{Console, DONE};
use super::super::files::can_replace;
use super::super::flags::{
    MOST_FILES, MOST_JOBS, MOST_MEMORY, MOST_THREADS, ROLE, Use, Verb, WEIGHT,
};
use super::super::line::{Line, no_more};
use super::request::{client, escaped, failed, read};
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::report::columns::aligned;
use pleach_serve::api::{UserChange, UserLimits, UserView};
use pleach_serve::credentials::Credentials;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// The flags that it shares with other commands.
pub const USER_FLAGS: [Use; 1] =
    [Use::with("out", "file for the credentials of a new user", "NAME.service")];

#[derive(Deserialize)]
struct Users {
    users: Vec<UserView>,
}

#[derive(Deserialize)]
struct Account {
    token: Option<String>,
}

/// Lists users, creates or changes one, or removes it.
pub fn run(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    line.given.check_alone(Verb::User, &USER_FLAGS)?;
    no_more(&line.words, 2)?;
    let mut client = client(given)?;
    let all: Value = client.get("/v1/users").map_err(failed)?;
    let Some(name) = line.words.get(1) else {
        if given.on("json") {
            return console.print(&stamped(all)).map(|()| DONE);
        }
        return console.print(&table(&read::<Users>(all)?.users)).map(|()| DONE);
    };
    let known = read::<Users>(all)?.users.into_iter().find(|user| user.name == *name);
    let path = format!("/v1/users/{}", escaped(name));
    let print = |change: &str, credentials: Option<&str>, text: String| {
        let all = json!({ "name": name, "change": change, "credentials": credentials });
        let text = if given.on("json") { stamped(all) } else { text };
        console.print(&text).map(|()| DONE)
    };
    if given.on("remove") {
        let _: Value = client.delete(&path).map_err(failed)?;
        return print("removed", None, format!("removed {name}"));
    }
    let file = given.word("out").map_or_else(|| format!("{name}.service"), String::from);
    let renew = given.on("renew");
    if renew && known.is_none() {
        return usage(format!("there is no user '{name}'"));
    }
    let is_new = known.is_none() || renew;
    if is_new && Path::new(&file).exists() {
        return usage(format!("{file} exists: move it, or choose another file with --out"));
    }
    if is_new {
        // The token is lost if it cannot be written.
        can_replace(Path::new(&file)).or_else(|why| usage(format!("--out {file}: {why}")))?;
    }
    let limits = known.map(|user| user.limits).unwrap_or_default();
    let change = UserChange {
        role: given.get(&ROLE)?,
        weight: given.get(&WEIGHT)?,
        limits: Some(limits_of(line, limits)?),
        only_for: given.word("only-for").map(|user| match user {
            "none" => String::new(),
            user => user.into(),
        }),
    };
    let path = if renew { format!("{path}?renew=true") } else { path };
    let account: Account = client.post(&path, &change).map_err(failed)?;
    let Some(token) = token_of(account, name, is_new)? else {
        return print("changed", None, format!("changed {name}"));
    };
    let credentials = Credentials { name: name.clone(), token, ..client.credentials().clone() };
    credentials.write(Path::new(&file)).map_err(|why| Failure::Machine(why.to_string()))?;
    let change = if renew { "renewed" } else { "created" };
    print(change, Some(&file), format!("credentials of {name}: {file}"))
}

/// The token of a user, if it is a new one. If an answer is lost with its connection, so is the token: the client
/// repeats the request, which then changes the existing account.
fn token_of(account: Account, name: &str, is_new: bool) -> Result<Option<String>, Failure> {
    if is_new && account.token.is_none() {
        return Err(Failure::Machine(format!(
            "{name} exists now, but its token was lost, or another operator received it: 'user {name} --renew' makes a new one"
        )));
    }
    Ok(account.token)
}

/// The limits of a user after a change.
fn limits_of(line: &Line, known: UserLimits) -> Result<UserLimits, Failure> {
    let given = &line.given;
    let or = |new: Option<Option<u64>>, old: Option<u64>| new.unwrap_or(old);
    let small = |limit: Option<u64>| limit.map(|limit| limit.min(u32::MAX.into()) as u32);
    Ok(UserLimits {
        workers: small(or(given.get(&MOST_THREADS)?, known.workers.map(Into::into))),
        jobs: small(or(given.get(&MOST_JOBS)?, known.jobs.map(Into::into))),
        memory: or(given.get(&MOST_MEMORY)?, known.memory),
        bytes: or(given.get(&MOST_FILES)?, known.bytes),
    })
}

fn table(users: &[UserView]) -> String {
    let head =
        ["user", "role", "weight", "threads", "used", "most threads", "most jobs", "only for"];
    let number = |limit: Option<u32>| limit.map_or(String::new(), |limit| limit.to_string());
    let rows = users.iter().map(|user| {
        vec![
            user.name.clone(),
            user.role.word().to_string(),
            user.weight.to_string(),
            user.workers.to_string(),
            format!("{:.0}", user.usage),
            number(user.limits.workers),
            number(user.limits.jobs),
            user.only_for.clone().unwrap_or_default(),
        ]
    });
    aligned(&std::iter::once(head.map(String::from).to_vec()).chain(rows).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It used to be reported as a change, without credentials.
    #[test]
    fn a_lost_token_of_a_new_user_is_noticed() {
        let account = |token: Option<&str>| Account { token: token.map(String::from) };
        let lost = token_of(account(None), "ann", true);
        assert!(lost.is_err_and(|why| why.to_string().contains("'user ann --renew'")));
        assert_eq!(token_of(account(None), "ann", false).unwrap(), None);
        assert_eq!(token_of(account(Some("x")), "ann", true).unwrap().as_deref(), Some("x"));
    }
}
