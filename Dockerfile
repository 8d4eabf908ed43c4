# The bot in a container: slim, not root, nothing but what `run` needs, with SQLite or Redis.
# Built in two stages so that no cache, pip or build tool remains in the image. Nothing is compiled.
#   docker build -t slack-bot .
#   docker build -t slack-bot --build-arg LOCKS="run.txt otel.txt" .     with traces, too
FROM python:3.11-slim AS build
ARG LOCKS="run.txt"
COPY deploy/*.txt /src/deploy/
WORKDIR /src/deploy
RUN python -m venv /opt/bot \
 && for lock in build.txt $LOCKS; do \
      /opt/bot/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: -r "$lock" || exit 1; \
    done
COPY pyproject.toml README.md LICENSE /src/
COPY slack_bot /src/slack_bot
# the package has a link to it
COPY docs/questions.md /src/docs/
RUN /opt/bot/bin/pip install --no-cache-dir --no-index --no-deps --no-build-isolation /src \
 && /opt/bot/bin/pip uninstall -y pip setuptools

FROM python:3.11-slim
LABEL org.opencontainers.image.title="slack-bot" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.description="The answers of an A2A agent, written live into Slack threads"
# The base image has no bytecode of Python's own library. Without it each start and each HEALTHCHECK compiles it.
RUN python -m compileall -q -x site-packages "$(python -c 'import os; print(os.path.dirname(os.__file__))')"
RUN groupadd --gid 10001 bot \
 && useradd --uid 10001 --gid bot --home-dir /data --no-create-home bot \
 && install --directory --owner=bot --group=bot --mode=700 /data
COPY --from=build /opt/bot /opt/bot
WORKDIR /data
# pip has written the bytecode of all else. Probes come from outside the container, and so do browsers of people
# who sign in: both ports are open on all addresses of it, and have limits of their own.
ENV PATH=/opt/bot/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    SLACK_BOT_STORE__URL=sqlite:////data/slack_bot.sqlite \
    SLACK_BOT_HEALTH__HOST=0.0.0.0 SLACK_BOT_HEALTH__PORT=8080 SLACK_BOT_SIGN_IN__HOST=0.0.0.0
# a number, so that Kubernetes sees that it is not root
USER 10001:10001
VOLUME /data
EXPOSE 3000 3001 3002 8080
STOPSIGNAL SIGTERM
# http.client, unlike urllib, asks no proxy
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-IS", "-c", "import http.client, os; ask = http.client.HTTPConnection('127.0.0.1', int(os.environ['SLACK_BOT_HEALTH__PORT']), timeout=4); ask.request('GET', '/readyz'); raise SystemExit(ask.getresponse().status != 200)"]
ENTRYPOINT ["slack-bot"]
CMD ["run"]
