# The image: Node, the compiled program and its production packages; it runs as an ordinary user.
#   docker build -t elicitgate .
#   docker run -v ./elicitgate.yaml:/etc/elicitgate/elicitgate.yaml:ro -v elicitgate-data:/data -e ELICITGATE_KEY -p 8080:8080 elicitgate
# In the file, listen on 0.0.0.0:8080 and keep the store in /data (sqlite:/data/elicitgate.db).

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No install scripts: the only one fetches a Node for development, and this image has its own.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY bin bin
COPY config config
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 8080 9090
# Asks the admin listener at its default address; a file with another `server.admin` needs --health-cmd or --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:9090/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/elicitgate.js"]
CMD ["serve", "-c", "/etc/elicitgate/elicitgate.yaml"]
