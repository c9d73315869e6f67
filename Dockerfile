# Demure in a container.
#
#   docker build -t demure .
#
# The data, the policy, its ledger and its accounts stay outside. Mount the folder that holds them, not single files:
# a ledger, its log and its -head belong together (docs/ledger.md). The folder must be on a local disk and writable for
# user 10001 (`sudo chown -R 10001 clinic`).
#
#   docker run --rm -it -v "$PWD/clinic:/data" demure shell clinic.toml
#   docker run --rm -it -v "$PWD/clinic:/data" demure user add ana --role analyst --policy clinic.toml
#   docker run -p 5433:5433 -p 8642:8642 -v "$PWD/clinic:/data" demure serve clinic.toml \
#       --pg 0.0.0.0:5433 --http 0.0.0.0:8642 --tls-cert cert.pem --tls-key key.pem
#
# Without a folder there is no budget that outlives the container: `docker run --rm demure demo` shows a made-up clinic.

FROM rust:1.94-bookworm AS build
WORKDIR /build
COPY Cargo.toml Cargo.lock ./
COPY .cargo .cargo
COPY benchmarks benchmarks
COPY crates crates
COPY xtask xtask
RUN cargo build --release --locked --package demure-cli

FROM debian:bookworm-slim
RUN useradd --uid 10001 --create-home demure
COPY LICENSE LICENSE-APACHE LICENSE-MIT /usr/share/doc/demure/
COPY --from=build /build/target/release/demure /usr/local/bin/demure
USER 10001
WORKDIR /data
EXPOSE 5433 8642
STOPSIGNAL SIGINT
ENTRYPOINT ["demure"]
CMD ["--help"]
