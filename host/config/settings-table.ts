import { deliverySettings } from './delivery-settings.ts'
import { sandboxSettings } from './sandbox-settings.ts'
import type { Setting } from './setting.ts'

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
  ...deliverySettings,
  METRICS_ACCESS: {
    kind: 'choice',
    default: 'loopback',
    choices: ['loopback', 'operator', 'anyone'],
    meaning:
      'Readers of /metrics, and of what runs at /, without an operator’s token: loopback (this machine, past no proxy, while PUBLIC_URL is empty), operator (none), anyone',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settingsTable
