# Orbit as an image: docs/install.md says how to run it. `python -m utils.image` takes these steps
# without a container engine.
#
#   BASE     any Debian with Python 3.11 to 3.14; the tests run on this one
#   EXTRAS   which extras of pyproject.toml to install
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ARG EXTRAS="postgres redis mcp"
ENV PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python3 -m venv --without-pip /opt/orbit && python3 -m venv tools
# The libraries first: they change less often than the project does.
COPY requirements requirements
RUN tools/bin/pip install --require-hashes --requirement requirements/build.txt
RUN for name in base ${EXTRAS}; do cat "requirements/${name}.txt" || exit; done > locked.txt \
    && tools/bin/pip --python /opt/orbit/bin/python install \
        --no-deps --require-hashes --requirement locked.txt
COPY pyproject.toml README.md ./
COPY server server
COPY examples/intent-templates/agent-template examples/intent-templates/agent-template
RUN tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
    && tools/bin/pip --python /opt/orbit/bin/python install --no-deps --no-index dist/*.whl

FROM ${BASE}
RUN groupadd --gid 10001 orbit \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home \
        --shell /usr/sbin/nologin orbit \
    && install --directory --owner 10001 --group 10001 --mode 700 /data \
    && install --directory /project
COPY --from=build /opt/orbit /opt/orbit
ENV PATH=/opt/orbit/bin:$PATH ORBIT_DATA=/data PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# A project is mounted here; without one, the example that ships with Orbit is served.
WORKDIR /project
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('ORBIT_PORT', '8000') + '/health', timeout=4)"]
ENTRYPOINT ["orbit"]
CMD ["serve", "--host", "0.0.0.0"]
