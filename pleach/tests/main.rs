//! The whole of Pleach from outside: the command, the examples, and the rules of the house.

mod atsp;
mod circles;
mod clique;
mod cluster;
mod command;
mod dashboard;
mod devices;
mod evaluate;
mod flowshop;
mod gpu;
mod gpu_first;
mod hip;
mod house;
mod imports;
mod library;
mod looping;
mod outside;
mod report;
mod reproduce;
mod resume;
mod saving;
mod sim;
mod stand_in;
mod stopping;
mod variants;
mod wording;
