//! Who is admitted to a session.

use super::super::cluster::Cluster;
use super::super::join_ticket::MISSED_END;
use super::super::reconnect::{OfflineNetwork, Return};
use super::*;
use crate::{NetError, Rank};
use pleach_core::lease::Terms;
use pleach_core::search::work::Pack;
use std::sync::mpsc::{Receiver, Sender, channel};

/// An entrance with events from a test, which learns who is admitted or cut off.
struct TestEntrance {
    events: Receiver<Caller>,
    admitted: Sender<(u32, Rank)>,
    refused: Sender<(u32, String)>,
    expelled: Sender<Rank>,
}

impl Entrance for TestEntrance {
    fn next(&mut self) -> Option<Caller> {
        self.events.try_recv().ok()
    }

    fn admit(&mut self, number: u32, site: Rank, _: Arc<[u8]>) {
        self.admitted.send((number, site)).unwrap();
    }

    fn refuse(&mut self, number: u32, reason: &str) {
        self.refused.send((number, reason.into())).unwrap();
    }

    fn postpone(&mut self, number: u32, reason: &str) {
        panic!("{number} was postponed: {reason}");
    }

    fn expel(&mut self, site: Rank, _: &str) {
        self.expelled.send(site).unwrap();
    }
}

/// A process asks to join: its token, and the search that it knows.
fn request(number: u32, token: u64, search: Option<(u64, u32)>) -> Caller {
    let ticket = JoinTicket { token, search, ..JoinTicket::default() };
    Caller::JoinRequest { number, host: String::new(), bytes: ticket.packed() }
}

#[test]
fn requests_that_were_withdrawn_before_a_search_take_no_places() {
    let ((send, events), (admitted, receive)) = (channel(), channel());
    let network = OfflineNetwork { me: 0, places: 3 };
    let (refused, expelled) = (channel().0, channel().0);
    let entrance = TestEntrance { events, admitted, refused, expelled };
    let mut session = Session::new(Box::new(network), Some(Box::new(entrance)));
    let request = |number: u32| send.send(request(number, number.into(), None)).unwrap();
    let withdraw = |number| send.send(Caller::Withdrawn { number }).unwrap();
    request(1);
    assert!(session.next_incoming().unwrap().is_none());
    assert_eq!(session.callers(), 1);
    // From here on, nobody polls the entrance.
    for number in 2..100 {
        request(number);
        withdraw(number - 1);
    }
    send.send(Caller::Note("a line".into())).unwrap();
    request(100);
    session.begin_search(Order::default());
    assert_eq!(receive.try_iter().collect::<Vec<_>>(), [(99, 1), (100, 2)]);
    assert!(matches!(session.next_incoming(), Ok(Some(Incoming::Note(note))) if note == "a line"));
    assert!(matches!(session.next_incoming(), Ok(None)));
}

/// A joiner that came back after the end of its search used to end with an error. The end of another search says
/// nothing about its own.
#[test]
fn processes_that_missed_the_end_of_their_search_learn_that() {
    let ((send, events), (refused, receive)) = (channel(), channel());
    let network = OfflineNetwork { me: 0, places: 3 };
    let (admitted, expelled) = (channel().0, channel().0);
    let entrance = TestEntrance { events, admitted, refused, expelled };
    let mut session = Session::new(Box::new(network), Some(Box::new(entrance)));
    session.begin_search(Order { run: 7, term: 1, ..Order::default() });
    session.end_search();
    for (number, search) in (1_u32..).zip([None, Some((7, 0)), Some((7, 1)), Some((8, 1))]) {
        send.send(request(number, number.into(), search)).unwrap();
        // The last two arrive when nobody polls the entrance any more.
        if number < 3 {
            assert!(session.next_incoming().unwrap().is_none());
        }
    }
    session.finish();
    let missed = receive.try_iter().map(|(_, why)| why == MISSED_END);
    assert_eq!(missed.collect::<Vec<_>>(), [false, true, true, false]);
}

/// A process that took part here, and came back after another search or loop, used to end with an error.
#[test]
fn processes_that_missed_the_end_of_an_earlier_search_learn_that() {
    let ((send, events), (refused, receive)) = (channel(), channel());
    let network = OfflineNetwork { me: 0, places: 3 };
    let ((admitted, places), expelled) = (channel(), channel().0);
    let entrance = TestEntrance { events, admitted, refused, expelled };
    let mut session = Session::new(Box::new(network), Some(Box::new(entrance)));
    let request = |number, token, search| send.send(request(number, token, search)).unwrap();
    request(1, 7, None);
    session.begin_search(Order { run: 7, ..Order::default() });
    assert_eq!(places.try_iter().collect::<Vec<_>>(), [(1, 1)]);
    session.end_search();
    // A loop.
    session.begin_search(Order::default());
    session.end_search();
    // The other two never had a place here.
    request(2, 7, Some((7, 0)));
    request(3, 8, Some((7, 0)));
    request(4, 9, None);
    session.finish();
    let missed = receive.try_iter().map(|(_, why)| why == MISSED_END);
    assert_eq!(missed.collect::<Vec<_>>(), [true, false, false]);
}

/// A process that was excluded, and came back while the network closed, used to end as if it had taken part.
#[test]
fn excluded_processes_learn_that_after_the_end_too() {
    let ((send, events), (refused, receive)) = (channel(), channel());
    let ((admitted, places), (expelled, gone)) = (channel(), channel());
    let network = OfflineNetwork { me: 0, places: 3 };
    let entrance = TestEntrance { events, admitted, refused, expelled };
    let mut session = Session::new(Box::new(network), Some(Box::new(entrance)));
    let request = |number, token, search| send.send(request(number, token, search)).unwrap();
    request(1, 7, None);
    request(2, 8, None);
    session.begin_search(Order { run: 7, ..Order::default() });
    assert_eq!(places.try_iter().collect::<Vec<_>>(), [(1, 1), (2, 2)]);
    session.end_search();
    assert!(session.expel(1, "it failed"));
    session.finish();
    // The other one arrives only now, and is cut off.
    session.bring_up_to_date(2);
    assert_eq!(gone.try_iter().collect::<Vec<_>>(), [1, 2]);
    request(3, 7, Some((7, 0)));
    request(4, 8, Some((7, 0)));
    assert!(session.next_incoming().unwrap().is_none());
    let missed = receive.try_iter().map(|(number, why)| (number, why == MISSED_END));
    assert_eq!(missed.collect::<Vec<_>>(), [(3, false), (4, true)]);
}

/// A network with one arrival. It takes no message after the last one.
struct OneArrival {
    me: Rank,
    arrival: Option<Arrival>,
    finished: bool,
}

impl Network for OneArrival {
    fn me(&self) -> Rank {
        self.me
    }

    fn sites(&self) -> u32 {
        3
    }

    fn members(&self) -> Members {
        Members::Changing
    }

    fn name(&self) -> &str {
        "one arrival"
    }

    fn send(&mut self, to: Rank, _: Vec<u8>) {
        assert!(!self.finished, "a message to site {to} after the last one");
    }

    fn poll(&mut self) -> Result<Option<Arrival>, NetError> {
        Ok(self.arrival.take())
    }

    fn rest(&self) -> Option<Duration> {
        None
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn abort(&mut self, _: i32) {}
}

/// The root sent it a message, the network failed, and the root left without waiting for anyone.
#[test]
fn a_process_that_arrives_after_the_end_is_cut_off() {
    let ((_send, events), (expelled, receive)) = (channel(), channel());
    let arrival = Some(Arrival::Joined { site: 2, bytes: Vec::new() });
    let network = OneArrival { me: 0, arrival, finished: false };
    let (admitted, refused) = (channel().0, channel().0);
    let entrance = TestEntrance { events, admitted, refused, expelled };
    let mut session = Session::new(Box::new(network), Some(Box::new(entrance)));
    session.begin_search(Order::default());
    session.end_search();
    session.finish();
    assert!(matches!(session.next_incoming(), Ok(Some(Incoming::Joined(2)))));
    assert_eq!(receive.try_iter().collect::<Vec<_>>(), [2]);
    assert!(!session.is_there(2));
}

/// Only the command took this for an end; a library's search and Python failed.
#[test]
fn no_search_follows_for_a_process_that_missed_the_end() {
    let network = OneArrival { me: 1, arrival: Some(Arrival::Lost(0)), finished: false };
    let order = Order { run: 7, ..Order::default() };
    let welcome = SessionMessage::Begin(order).to_bytes(1);
    let again = |_: &Return| -> Result<Admission, String> {
        Err(format!("cannot join: 'a:1' refuses to let this process join: {MISSED_END}"))
    };
    let terms = Terms { commit_ns: 1, lease_ns: 1, patience_ns: 1, most_commit_bytes: 1 };
    let admission: Admission = (Box::new(network), welcome);
    let cluster = Cluster::joined(admission, Arc::new(again), None, Arc::default(), terms).unwrap();
    assert!(matches!(cluster.next_order(|| true), Ok(Some(order)) if order.run == 7));
    assert!(matches!(cluster.next_order(|| true), Err(RunError::MissedEnd)));
    assert!(matches!(cluster.next_order(|| true), Ok(None)));
}
