//! The requests that the service answers.

use super::access::COOKIE;
use super::caller::Caller;
use super::download::download;
use super::page;
use super::queue::BAD;
use super::refusal::Refused;
use super::room::{read_soon, room_for};
use super::state::{Service, State};
use crate::api::{
    Assignments, JobView, JoinerReport, LONGEST_REQUEST, Role, Submission, UserChange,
};
use axum::body::HttpBody;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{
    self, DefaultBodyLimit, FromRequest, FromRequestParts, Request, State as Known,
};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_core::Stream;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::sleep;

/// The longest body of another request, in bytes.
const OTHER: usize = 64 << 10;
/// The longest body of a request of an unknown caller, in bytes.
const SIGN_IN: usize = 4096;
/// How often a stream shows that it is open.
const OPEN: Duration = Duration::from_secs(2);
/// The shortest time between two events of a stream.
const EVENTS: Duration = Duration::from_millis(500);
/// What a report page may do: show itself. It has styles and scripts of its own, but no access to the service.
const REPORT: &str = include_str!("../page/report.policy");

/// Reports that are made at once: each may take as much memory as its result.
static REPORTS: Semaphore = Semaphore::const_new(2);

type App = Arc<Service>;
type Answer<T> = Result<T, Refused>;

/// The body of a request, with errors of our own form.
struct Body<T>(T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refused> {
        let failed =
            |why: JsonRejection| Refused(why.status().as_u16(), why.body_text().replace('\n', " "));
        Json::from_request(request, app).await.map(|Json(body)| Self(body)).map_err(failed)
    }
}

/// The values in a path, with errors of our own form.
struct Path<T>(T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Path<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refused> {
        let failed = |why: PathRejection| Refused(why.status().as_u16(), why.body_text());
        let found = extract::Path::from_request_parts(parts, app).await;
        found.map(|extract::Path(values)| Self(values)).map_err(failed)
    }
}

/// The options in an address, with errors of our own form.
struct Query<T>(T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refused> {
        let failed = |why: QueryRejection| Refused(why.status().as_u16(), why.body_text());
        let found = extract::Query::from_request_parts(parts, app).await;
        found.map(|extract::Query(options)| Self(options)).map_err(failed)
    }
}

/// All requests.
pub(super) fn routes(service: App) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/style.css", get(page::style))
        .route("/app.js", get(page::script))
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }))
        .route("/openapi.json", get(|| async { Json(openapi()) }))
        .route("/metrics", get(metrics))
        .route("/v1/session", get(session).delete(sign_out))
        .route("/v1/session", post(sign_in).layer(DefaultBodyLimit::max(SIGN_IN)))
        .route("/v1/jobs", get(jobs).post(submit).layer(DefaultBodyLimit::max(LONGEST_REQUEST)))
        .route("/v1/jobs/{id}", get(job))
        .route("/v1/jobs/{id}/result", get(result))
        .route("/v1/jobs/{id}/report", get(report))
        .route("/v1/jobs/{id}/history", get(history))
        .route("/v1/jobs/{id}/log", get(log))
        .route("/v1/jobs/{id}/files", get(files))
        .route("/v1/jobs/{id}/files/{name}", get(file))
        .route("/v1/jobs/{id}/cancel", post(act(Service::cancel)))
        .route("/v1/jobs/{id}/pause", post(act(Service::pause)))
        .route("/v1/jobs/{id}/continue", post(act(Service::resume)))
        .route("/v1/jobs/{id}/priority", post(priority))
        .route("/v1/jobs/{id}/events", get(job_events))
        .route("/v1/events", get(events))
        .route("/v1/users", get(users))
        .route("/v1/users/{name}", post(set_user).delete(remove_user))
        .route("/v1/joiners", get(joiners))
        .route("/v1/joiners/orders", post(orders))
        .route("/v1/joiners/report", post(report_of_joiner))
        .route("/v1/audit", get(audit))
        .fallback(|| async { Refused(404, "there is no such page".into()) })
        .layer(DefaultBodyLimit::max(OTHER))
        .with_state(service)
}

fn openapi() -> Value {
    // The file is part of the program, and a test reads it.
    serde_json::from_str(include_str!("openapi.json")).unwrap_or_default()
}

fn operators_only(caller: &Caller) -> Answer<()> {
    if caller.role == Role::Operator {
        return Ok(());
    }
    Err(Refused(403, "this is for operators only".into()))
}

fn no_joiners(caller: &Caller) -> Answer<()> {
    if caller.role == Role::Joiner {
        return Err(Refused(403, "joiners have no jobs of their own".into()));
    }
    Ok(())
}

#[derive(Deserialize)]
struct SignIn {
    token: String,
}

fn signed_in(caller: &Caller) -> Value {
    json!({ "name": caller.name, "role": caller.role })
}

async fn session(caller: Caller) -> Json<Value> {
    Json(signed_in(&caller))
}

async fn sign_in(Known(app): Known<App>, Body(sent): Body<SignIn>) -> Answer<Response> {
    let token = sent.token.trim();
    let caller = app.caller_with(token).filter(|caller| caller.role != Role::Joiner);
    let caller = caller.ok_or_else(|| Refused(401, "the token is unknown".into()))?;
    let cookie =
        format!("{COOKIE}={token}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=2592000");
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| Refused(BAD, "not a token".into()))?;
    Ok(([(header::SET_COOKIE, cookie)], Json(signed_in(&caller))).into_response())
}

async fn sign_out() -> Response {
    let cookie = format!("{}=; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=0", COOKIE);
    ([(header::SET_COOKIE, cookie)], Json(json!({}))).into_response()
}

async fn jobs(Known(app): Known<App>, caller: Caller) -> Answer<Json<Value>> {
    no_joiners(&caller)?;
    Ok(Json(json!({ "jobs": app.list(&caller) })))
}

/// Several jobs together.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Submissions {
    jobs: Vec<Submission>,
}

/// One job, or several together.
fn submissions(sent: &RawValue) -> Result<Vec<Submission>, serde_json::Error> {
    /// Whether there are several. Their content takes no memory.
    #[derive(Deserialize)]
    struct Kind {
        jobs: Option<IgnoredAny>,
    }
    if serde_json::from_str::<Kind>(sent.get())?.jobs.is_some() {
        Ok(serde_json::from_str::<Submissions>(sent.get())?.jobs)
    } else {
        Ok(vec![serde_json::from_str(sent.get())?])
    }
}

async fn submit(Known(app): Known<App>, caller: Caller, request: Request) -> Answer<Json<Value>> {
    no_joiners(&caller)?;
    let length = request.body().size_hint().upper();
    let room = room_for(length, OTHER).await?;
    let Body(sent) = read_soon(Body::<Box<RawValue>>::from_request(request, &app)).await?;
    let all = submissions(&sent).map_err(|why| Refused(BAD, why.to_string()))?;
    drop(sent);
    let (service, user) = (Arc::clone(&app), caller.clone());
    // Reading a thousand commands would keep others waiting. The jobs need the room until they are stored.
    let submitting = move || {
        let _room = room;
        service.submit(&user, &all)
    };
    let submitted = tokio::task::spawn_blocking(submitting).await;
    let ids = submitted.map_err(|why| Refused(500, why.to_string()))??;
    app.audit(&caller.name, &format!("submitted {}", listed(&ids)));
    Ok(Json(json!({ "ids": ids })))
}

fn listed(ids: &[u64]) -> String {
    match ids {
        [] => "nothing".into(),
        [id] => format!("job {id}"),
        [first, .., last] => format!("{} jobs, {first} to {last}", ids.len()),
    }
}

async fn job(Known(app): Known<App>, caller: Caller, Path(id): Path<u64>) -> Answer<Response> {
    no_joiners(&caller)?;
    Ok(Json(app.job(&caller, id)?).into_response())
}

async fn result(Known(app): Known<App>, caller: Caller, Path(id): Path<u64>) -> Answer<Response> {
    let result = app.result(&caller, id)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], result).into_response())
}

async fn report(Known(app): Known<App>, caller: Caller, Path(id): Path<u64>) -> Answer<Response> {
    let _one = REPORTS.acquire().await;
    let result = app.result(&caller, id)?;
    let page = app.report_page(id, result).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, REPORT),
    ];
    Ok((headers, page).into_response())
}

async fn history(Known(app): Known<App>, caller: Caller, Path(id): Path<u64>) -> Answer<Response> {
    Ok(Json(app.history(&caller, id)?).into_response())
}

async fn log(Known(app): Known<App>, caller: Caller, Path(id): Path<u64>) -> Answer<String> {
    app.log(&caller, id)
}

async fn files(Known(app): Known<App>, caller: Caller, Path(id): Path<u64>) -> Answer<Json<Value>> {
    Ok(Json(json!({ "files": app.files(&caller, id)? })))
}

async fn file(
    Known(app): Known<App>,
    caller: Caller,
    Path((id, name)): Path<(u64, String)>,
) -> Answer<Response> {
    let (file, length) = app.file(&caller, id, &name)?;
    Ok(download(file, length))
}

type Changed = Ready<Answer<Json<JobView>>>;

/// A request that changes a job.
fn act(
    change: fn(&Service, &Caller, u64) -> Answer<JobView>,
) -> impl Fn(Known<App>, Caller, Path<u64>, Body<Value>) -> Changed + Clone {
    move |Known(app), caller, Path(id), Body(_)| ready(change(&app, &caller, id).map(Json))
}

#[derive(Deserialize)]
struct Priority {
    priority: i32,
}

async fn priority(
    Known(app): Known<App>,
    caller: Caller,
    Path(id): Path<u64>,
    Body(sent): Body<Priority>,
) -> Answer<Response> {
    Ok(Json(app.set_priority(&caller, id, sent.priority)?).into_response())
}

async fn users(Known(app): Known<App>, caller: Caller) -> Answer<Json<Value>> {
    no_joiners(&caller)?;
    let state = app.lock();
    let all = state.accounts.values();
    let seen =
        all.filter(|account| caller.role == Role::Operator || account.row.role != Role::Joiner);
    let users: Vec<_> = seen.map(State::user_view).collect();
    Ok(Json(json!({ "users": users })))
}

async fn set_user(
    Known(app): Known<App>,
    caller: Caller,
    Path(name): Path<String>,
    Query(options): Query<Renew>,
    Body(change): Body<UserChange>,
) -> Answer<Json<Value>> {
    operators_only(&caller)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !(1..=64).contains(&name.len()) || !name.chars().all(plain) || name.starts_with(['.', '-']) {
        let why =
            format!("'{name}': expected a name of up to 64 letters, digits, '-', '_' and '.'");
        return Err(Refused(BAD, why));
    }
    if change.weight.is_some_and(|weight| !(weight > 0.0 && weight <= 1e6)) {
        return Err(Refused(BAD, "weight: expected a number above 0, at most 1,000,000".into()));
    }
    if let Some(user) = change.only_for.as_ref().filter(|user| !user.is_empty())
        && !app.lock().accounts.contains_key(user)
    {
        return Err(Refused(BAD, format!("there is no user '{user}'")));
    }
    let token = app.set_account(&caller.name, &name, &change, options.renew);
    Ok(Json(json!({ "name": name, "token": token? })))
}

#[derive(Deserialize)]
struct Renew {
    #[serde(default)]
    renew: bool,
}

async fn remove_user(
    Known(app): Known<App>,
    caller: Caller,
    Path(name): Path<String>,
) -> Answer<Json<Value>> {
    operators_only(&caller)?;
    app.remove_account(&caller.name, &name)?;
    Ok(Json(json!({ "name": name })))
}

async fn joiners(Known(app): Known<App>, caller: Caller) -> Answer<Json<Value>> {
    no_joiners(&caller)?;
    Ok(Json(json!({ "joiners": app.joiner_views() })))
}

async fn orders(
    Known(app): Known<App>,
    caller: Caller,
    Body(report): Body<JoinerReport>,
) -> Answer<Json<Assignments>> {
    Ok(Json(app.orders(&caller, report).await?))
}

async fn report_of_joiner(
    Known(app): Known<App>,
    caller: Caller,
    Body(report): Body<JoinerReport>,
) -> Answer<Json<Assignments>> {
    Ok(Json(app.report(&caller, report)?))
}

async fn audit(Known(app): Known<App>, caller: Caller) -> Answer<Json<Value>> {
    operators_only(&caller)?;
    let log = app.lock().store.audit_log(1000).map_err(|why| Refused(500, why.to_string()))?;
    let log = log.into_iter().map(|(at, who, what)| json!({ "at": at, "who": who, "what": what }));
    Ok(Json(json!({ "audit": log.collect::<Vec<_>>() })))
}

async fn metrics(Known(app): Known<App>, caller: Caller) -> Answer<String> {
    if caller.role == Role::User {
        return Err(Refused(403, "metrics are for operators and joiners".into()));
    }
    app.metrics().map_err(|why| Refused(500, why.to_string()))
}

/// A stream of events.
struct Events(mpsc::Receiver<Event>);

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}

/// Sends what `next` returns, now and after changes, until it returns none or the reader is gone.
fn stream(
    app: &App,
    name: &'static str,
    mut next: impl FnMut() -> Option<(String, bool)> + Send + 'static,
) -> Response {
    let (send, events) = mpsc::channel(1);
    let mut changes = app.changes();
    tokio::spawn(async move {
        let mut before = String::new();
        loop {
            changes.mark_unchanged();
            let Some((text, last)) = next() else { return };
            if text != before {
                let event = Event::default().event(name).data(&text);
                if send.send(event).await.is_err() {
                    return;
                }
                before = text;
            }
            if last {
                return;
            }
            sleep(EVENTS).await;
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = send.closed() => return,
            }
        }
    });
    Sse::new(Events(events)).keep_alive(KeepAlive::new().interval(OPEN)).into_response()
}

async fn events(Known(app): Known<App>, caller: Caller) -> Answer<Response> {
    no_joiners(&caller)?;
    let service = Arc::clone(&app);
    Ok(stream(&app, "jobs", move || {
        service.still_knows(&caller).then_some(())?;
        let jobs = json!({ "jobs": service.list(&caller) });
        Some((jobs.to_string(), service.lock().closing))
    }))
}

async fn job_events(
    Known(app): Known<App>,
    caller: Caller,
    Path(id): Path<u64>,
) -> Answer<Response> {
    no_joiners(&caller)?;
    app.job(&caller, id)?;
    let service = Arc::clone(&app);
    Ok(stream(&app, "job", move || {
        service.still_knows(&caller).then_some(())?;
        let job = service.job(&caller, id).ok()?;
        let over = job.state.is_over() || service.lock().closing;
        Some((serde_json::to_string(&job).ok()?, over))
    }))
}

#[cfg(test)]
mod tests {
    use super::openapi;

    #[test]
    fn the_description_names_every_request() {
        let described = openapi();
        let paths = described["paths"].as_object().unwrap();
        let source = include_str!("routes.rs").split("#[cfg(test)]").next().unwrap();
        let routes = source.split(".route(\"").skip(1).map(|rest| {
            let (path, rest) = rest.split_once('"').unwrap();
            (path, rest.split("\n        .").next().unwrap())
        });
        let mut n = 0;
        for (path, methods) in
            routes.filter(|(path, _)| !path.contains('.') || *path == "/openapi.json")
        {
            for method in ["get", "post", "delete"] {
                if methods.contains(&format!("{method}(")) {
                    assert!(!paths[path][method].is_null(), "{method} {path}");
                    n += 1;
                }
            }
        }
        let all = paths.values().map(|methods| methods.as_object().unwrap().len());
        assert_eq!(n, all.sum::<usize>(), "the description names requests that do not exist");
    }
}
