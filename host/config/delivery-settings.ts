import { longestMs, type Setting } from './setting.ts'

/** What operators set of deliveries, and of the schedule that events and tasks share with them. */
export const deliverySettings = {
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
  RETENTION_DAYS: {
    kind: 'integer',
    default: '30',
    min: 0,
    max: 36_500,
    meaning:
      'Days for which settled deliveries with their attempts, events, failed jobs and events that wait for a resume are kept; 0: for ever',
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
} as const satisfies Record<string, Setting>
