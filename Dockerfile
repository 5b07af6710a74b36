FROM python:3.13-slim

RUN apt-get update \
    && apt-get install -y --no-install-recommends git bubblewrap socat \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 control-center

WORKDIR /app
COPY requirements/base.txt requirements/base.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/base.txt
COPY . .
RUN install -d -o control-center -m 0700 /data

USER control-center
# Reached from outside of the container; the first account then asks for the token in the log.
ENV CC_DATA_DIR=/data CC_HOST=0.0.0.0 PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8765
CMD ["python", "-m", "controlcenter.local", "up"]
