import { openidSettings } from './openid-settings.ts'
import { sandboxSettings } from './sandbox-settings.ts'
import { longestMs, type Setting } from './setting.ts'

/** Every setting, named once. Precedence: flag, environment, `.env`, the default here. */
export const settingsTable = {
  HOST: {
    kind: 'host',
    default: '127.0.0.1',
    meaning: 'Address to listen on; 0.0.0.0 or ::, all that this machine has',
  },
  PORT: {
    kind: 'integer',
    default: '8787',
    min: 0,
    max: 65535,
    meaning: 'Port to listen on; 0 takes a free one',
  },
  PUBLIC_URL: {
    kind: 'url',
    default: '',
    meaning: 'Address under which others reach Annex, without a path; empty: that of HOST and PORT',
  },
  DATA_DIR: { kind: 'text', default: 'data', meaning: 'Folder of the database file, the key and the caches' },
  DATABASE_URL: {
    kind: 'text',
    default: '',
    secret: true,
    meaning: 'sqlite:PATH or postgres://…; empty: annex.sqlite in DATA_DIR',
  },
  PLUGINS_DIR: { kind: 'text', default: 'plugins', meaning: 'Folder whose sub-folders are integrations' },
  PLUGINS_COMPLETE: {
    kind: 'flag',
    default: 'false',
    meaning:
      'Several hosts have the same PLUGINS_DIR: take an integration that is not in it out of service, whichever of them loaded it',
  },
  WATCH: { kind: 'flag', default: 'false', meaning: 'Load a plugin folder again when a file in it changes' },
  OPERATOR_ORGANIZATION: {
    kind: 'text',
    default: 'home',
    meaning: 'Subdomain of the organization that runs this Annex; made at the first start',
  },
  SECRET_KEY: {
    kind: 'key',
    default: '',
    secret: true,
    meaning: '32 bytes in base64 that encrypt stored secrets; empty: made at the first start, in DATA_DIR',
  },
  LOG_LEVEL: {
    kind: 'choice',
    default: 'info',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    meaning: 'trace, debug, info, warn, error, fatal or silent',
  },
  ...openidSettings,
  ...sandboxSettings,
  EGRESS_ALLOW: {
    kind: 'allow',
    default: '',
    meaning:
      'Host names, addresses or CIDR ranges that scripts and webhooks may reach although they are private',
  },
  EGRESS_REQUIRE_DECLARED: {
    kind: 'flag',
    default: 'false',
    meaning: 'Let a script reach only the hosts that its manifest declares',
  },
  RATE_LIMIT_VISITOR: {
    kind: 'integer',
    default: '500',
    min: 0,
    meaning:
      'Requests of one visitor to one public endpoint, or to one open operation of the API, in 10 seconds; 0: no limit. Requests of this machine past no proxy have none while PUBLIC_URL is empty',
  },
  RATE_LIMIT_TOKEN: {
    kind: 'integer',
    default: '1000',
    min: 0,
    meaning: 'Requests to the API with one token in 10 seconds; 0: no limit. Exempt as above',
  },
  STORAGE_VALUE_BYTES: {
    kind: 'integer',
    default: '65536',
    min: 1,
    max: 1_048_576,
    meaning: 'A value that a script stores, as JSON, in bytes',
  },
  STORAGE_LEVEL_MB: {
    kind: 'integer',
    default: '10',
    min: 0,
    meaning: 'All that a script stores for one level: keys, values and 100 bytes for each',
  },
  CONTENT_QUOTA_MB: {
    kind: 'integer',
    default: '1024',
    min: 0,
    meaning:
      'Pages of all kept revisions of an organization: texts, titles, paths and 100 bytes for each, in MB; 0: no limit. An organization above it may read and delete',
  },
  // Deliveries, and the schedule that events and tasks share with them
  DELIVERY_TIMEOUT_MS: {
    kind: 'integer',
    default: '10000',
    min: 100,
    max: longestMs,
    meaning: 'Time for one attempt, in ms',
  },
  DELIVERY_CONCURRENCY: {
    kind: 'integer',
    default: '256',
    min: 1,
    max: 4_096,
    meaning:
      'Attempts in flight: begun, and not stored yet. At most as many are repeated after a crash. A delivery counts for one more with each 64 KiB',
  },
  DELIVERY_PER_RECEIVER: {
    kind: 'integer',
    default: '16',
    min: 1,
    max: 1_000,
    meaning: 'Attempts at once to one receiver',
  },
  DELIVERY_RETRY_SECONDS: {
    kind: 'seconds',
    default: '1,2,4',
    meaning:
      'Waits before each retry of a delivery, an event or a task, in seconds; as many retries as there are waits',
  },
  DELIVERY_GIVE_UP_HOURS: {
    kind: 'integer',
    default: '120',
    min: 1,
    max: 87_600,
    meaning: 'A receiver that has answered nothing with 2xx for as long is disabled, in hours',
  },
  DELIVERY_STANDARD_WEBHOOKS: {
    kind: 'flag',
    default: 'false',
    meaning: 'Sign webhooks with the headers of Standard Webhooks, too',
  },
  BACKLOG_DELIVERIES: {
    kind: 'integer',
    default: '100000',
    min: 1,
    meaning: 'Pending deliveries that one installation may have',
  },
  BACKLOG_MB: {
    kind: 'integer',
    default: '256',
    min: 1,
    meaning: 'Text of the pending deliveries that one installation may have, in MB',
  },
  DISK_FREE_MB: {
    kind: 'integer',
    default: '512',
    min: 0,
    meaning: 'Free space of the disk of `DATA_DIR` below which `npx annex problems` shows it, in MB',
  },
  RETENTION_DAYS: {
    kind: 'integer',
    default: '30',
    min: 0,
    max: 36_500,
    meaning:
      'Days for which settled deliveries with their attempts, events, failed jobs, events that wait for a resume and replaced revisions of spaces are kept; 0: for ever',
  },
  RETENTION_ROWS: {
    kind: 'integer',
    default: '1000000',
    min: 0,
    meaning:
      'The newest deliveries, events, failed jobs and events that wait for a resume that are kept, of each so many; 0: all',
  },
  RETENTION_MB: {
    kind: 'integer',
    default: '10240',
    min: 0,
    meaning:
      'How much text of the newest deliveries with their attempts, of events, of failed jobs and of events that wait for a resume is kept, of each so many MB; 0: all',
  },
  METRICS_ACCESS: {
    kind: 'choice',
    default: 'loopback',
    choices: ['loopback', 'operator', 'anyone'],
    meaning:
      'Readers of /metrics without an operator’s token: loopback (this machine, past no proxy, while PUBLIC_URL is empty), operator (none), anyone',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settingsTable
