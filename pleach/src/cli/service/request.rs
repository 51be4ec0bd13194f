//! What all commands that talk to a service share: a client with the user's credentials, and errors.

use super::super::flags::{FlagValues, Use, Verb};
use crate::failure::{Failure, usage};
use pleach_serve::client::{Client, ClientError};
use pleach_serve::credentials::Credentials;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;

/// The variable that names the file of credentials.
const VARIABLE: &str = "PLEACH_SERVICE";

/// A client with the credentials that the command line or the environment names.
pub fn client(given: &FlagValues) -> Result<Client, Failure> {
    let path = given.path("service").or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    let Some(path) = path else {
        return usage(format!(
            "expected --service FILE, or a file named by {VARIABLE}: the credentials of a service"
        ));
    };
    let credentials = Credentials::read(&path);
    credentials.map(Client::new).map_err(|why| Failure::Usage(format!("--service: {why}")))
}

/// The flags that mean something else to a service.
pub const SERVE_FLAGS: [Use; 2] = [
    Use::with("threads", "threads of each job's process on this machine", "1"),
    Use::with("listen", "address on which the service listens for users and joiners", ""),
];

/// The failure of a request.
pub fn failed(why: ClientError) -> Failure {
    match why {
        ClientError::Refused { status, why } if status < 500 => Failure::Usage(why),
        why @ ClientError::Certificate { .. } => Failure::Usage(why.to_string()),
        other => Failure::Machine(other.to_string()),
    }
}

/// Reads an answer.
pub fn read<T: DeserializeOwned>(answer: Value) -> Result<T, Failure> {
    serde_json::from_value(answer)
        .map_err(|why| Failure::Machine(format!("the answer of the service cannot be read: {why}")))
}

/// The number of a job.
pub fn number(verb: Verb, word: &str) -> Result<u64, Failure> {
    word.parse().or_else(|_| usage(format!("{} {word}: expected the number of a job", verb.word())))
}

/// A name as a part of a path of a request.
pub fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.bytes().fold(String::new(), |text, byte| {
        if plain(byte) {
            text + char::from(byte).to_string().as_str()
        } else {
            text + &format!("%{byte:02X}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_serve::api::JobView;
    use serde_json::json;

    #[test]
    fn an_answer_that_cannot_be_read_is_named_as_such() {
        let Err(Failure::Machine(why)) = read::<JobView>(json!({ "id": "one" })) else {
            panic!("expected a failure");
        };
        assert!(why.starts_with("the answer of the service cannot be read: "), "{why}");
    }
}
