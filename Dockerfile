# npulint alone, for amd64 and arm64:  docker run --rm -v "$PWD:/src:ro" npulint check
FROM python:3.12-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY npulint npulint
COPY checks checks
# Every dependency comes as a wheel, so no compiler is needed. The checks are compiled here once, not at each start.
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist . \
    && python -m venv --without-pip /opt/npulint \
    && pip --python /opt/npulint install --no-cache-dir --only-binary=:all: /dist/*.whl \
    && /opt/npulint/bin/python -m npulint.judge.catalogue.load \
        /opt/npulint/lib/python3.12/site-packages/npulint/checks/catalogue.msgpack

FROM python:3.12-slim-bookworm
LABEL org.opencontainers.image.title="npulint" \
      org.opencontainers.image.description="Tells whether a training project is ready for Ascend NPUs" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/npulint /opt/npulint
ENV PATH=/opt/npulint/bin:$PATH \
    NPULINT_CACHE_DIR=/tmp/npulint \
    PYTHONDONTWRITEBYTECODE=1
# A project is mounted here and only read. Any other user will do as well: docker run --user "$(id -u)"
USER 65532:65532
WORKDIR /src
ENTRYPOINT ["npulint"]
CMD ["check"]
