# The bot in a container: slim, not root, nothing but what `run` needs, with SQLite or Redis.
# Built in two stages so that no compiler, cache or pip remains in the image.
FROM python:3.11-slim AS build
COPY deploy/run.txt /tmp/run.txt
RUN python -m venv /opt/bot \
 && /opt/bot/bin/pip install --no-cache-dir --require-hashes -r /tmp/run.txt \
 && /opt/bot/bin/pip uninstall -y pip setuptools

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home bot
COPY --from=build /opt/bot /opt/bot
COPY slack_bot /app/slack_bot
WORKDIR /data
ENV PATH=/opt/bot/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    SLACK_BOT_STORE__URL=sqlite:////data/slack_bot.sqlite \
    SLACK_BOT_HEALTH__HOST=0.0.0.0 SLACK_BOT_HEALTH__PORT=8080
USER bot
VOLUME /data
EXPOSE 3000 3001 8080
STOPSIGNAL SIGTERM
# http.client, unlike urllib, asks no proxy
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-IS", "-c", "import http.client, os; ask = http.client.HTTPConnection('127.0.0.1', int(os.environ['SLACK_BOT_HEALTH__PORT']), timeout=4); ask.request('GET', '/readyz'); raise SystemExit(ask.getresponse().status != 200)"]
ENTRYPOINT ["python", "-m", "slack_bot"]
CMD ["run"]
