# Pleach on Debian. Pleach needs Rust 1.89 or later.
FROM rust:1.90-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p pleach

FROM debian:bookworm-slim
RUN useradd --uid 10001 --create-home pleach
COPY --from=build /src/target/release/pleach /usr/local/bin/pleach
USER 10001
WORKDIR /home/pleach
ENTRYPOINT ["pleach"]
