/** How a setting's text becomes its value. */
export type SettingKind = 'text' | 'integer' | 'flag' | 'list' | 'choice' | 'url' | 'key'

type Setting = {
  kind: SettingKind
  default: string
  /** What it sets, and in which unit. Printed by `annex config --print` and in the README's table. */
  meaning: string
  min?: number
  max?: number
  /** Of kind `choice`: what it may be. */
  choices?: readonly string[]
  secret?: boolean
}

/** Every setting, named once. Precedence: flag, environment, `.env`, the default here. */
export const settingsTable = {
  HOST: { kind: 'text', default: '127.0.0.1', meaning: 'Address to listen on' },
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
  SANDBOX_PROCESSES: {
    kind: 'integer',
    default: '1',
    min: 1,
    max: 64,
    meaning: 'Sandbox processes for each group: the operator’s own integrations, and everybody else’s',
  },
  SANDBOX_HEAP_MB: {
    kind: 'integer',
    default: '64',
    min: 16,
    max: 1024,
    meaning: 'Heap of one sandbox, in MB',
  },
  SANDBOX_RESIDENT_MB: {
    kind: 'integer',
    default: '768',
    min: 128,
    meaning: 'Resident memory of a sandbox process, in MB; over it the process is killed',
  },
  SANDBOX_CPU_MS: { kind: 'integer', default: '1000', min: 50, meaning: 'CPU time of one dispatch, in ms' },
  SANDBOX_WALL_MS: {
    kind: 'integer',
    default: '30000',
    min: 100,
    meaning: 'Time from a dispatch to its answer, in ms',
  },
  SANDBOX_BODY_BYTES: {
    kind: 'integer',
    default: '10485760',
    min: 1024,
    max: 67108864,
    meaning: 'Size of a request, an answer or an outbound body, in bytes',
  },
  SANDBOX_PENDING: {
    kind: 'integer',
    default: '256',
    min: 1,
    meaning: 'Dispatches at once for one installation; more are answered with 503',
  },
  SANDBOX_CALLS: {
    kind: 'integer',
    default: '50',
    min: 1,
    meaning: 'Host calls (outbound requests, deliveries, tasks) in one dispatch',
  },
  EGRESS_ALLOW: {
    kind: 'list',
    default: '',
    meaning:
      'Host names, addresses or CIDR ranges that scripts and webhooks may reach although they are private',
  },
  DELIVERY_TIMEOUT_MS: {
    kind: 'integer',
    default: '10000',
    min: 100,
    meaning: 'Time for one attempt, in ms',
  },
  DELIVERY_CONCURRENCY: { kind: 'integer', default: '64', min: 1, meaning: 'Attempts at once' },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settingsTable
