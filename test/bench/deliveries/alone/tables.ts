/** What has to be kept of a delivery and its attempts, as Annex does, in as few tables and indexes as that can be. */
export const tables = `
  create table bodies (id text primary key, body text not null);
  create table deliveries (id text primary key, event_id text not null, url text not null, state text not null, settled_at bigint);
  create index owed on deliveries (id) where state = 'pending';
  create table attempts (
    id text primary key, delivery_id text not null, status integer not null, started_at bigint not null,
    duration_ms integer not null, request_headers text not null, answer text not null);
  create index attempts_of on attempts (delivery_id);
`

/** As long as those of an attempt of Annex. */
export const requestHeaders = JSON.stringify([
  ['Content-Type', 'application/json'],
  ['User-Agent', 'Annex/0.0.0'],
  ['X-Service-Signature', `t=1700000000,v1=${'a'.repeat(64)}`],
  ['X-Service-Event-Id', `evt_${'0'.repeat(36)}`],
  ['X-Service-Delivery-Id', `dlv_${'0'.repeat(36)}`],
])

export const answer = JSON.stringify({
  headers: [
    ['Date', 'Mon, 01 Jan 2024 00:00:00 GMT'],
    ['Connection', 'keep-alive'],
  ],
})
