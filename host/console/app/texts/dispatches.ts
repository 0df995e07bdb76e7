const many = (count: number, one: string, more = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`
const ms = (value: number) =>
  `${value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })} ms`

const outcomes: Readonly<Record<string, string>> = {
  ok: 'Handled',
  no_handler: 'No handler',
  script_error: 'Script error',
  script_failed: 'No answer',
  cpu_limit: 'CPU limit',
  load_limit: 'CPU limit',
  memory_limit: 'Memory limit',
  wall_clock_limit: 'Too slow',
  answer_too_large: 'Answer too large',
  body_too_large: 'Request too large',
  machine_busy: 'Machine busy',
  sandbox_busy: 'Too many waiting',
  sandbox_died: 'Sandbox ended',
  installation_suspended: 'Suspended',
  stopping: 'Annex stopped',
}

const sentences: Readonly<Record<string, string>> = {
  ok: 'The script handled it.',
  no_handler: 'The script has no handler for it, so nothing was done.',
  script_error: 'The script threw an error.',
  cpu_limit: 'The script used more CPU time than one dispatch may, and was ended.',
  load_limit: 'The script used more CPU time to load than it may.',
  memory_limit: 'The script used more memory than its sandbox may, and was ended.',
  wall_clock_limit: 'The script did not answer in time.',
  answer_too_large: 'The answer of the script is over the limit.',
  machine_busy: 'The machine gave the script too little CPU time.',
  sandbox_busy: 'Too many requests wait for this script.',
  sandbox_died: 'The sandbox process ended while the script ran.',
}

/** What set a dispatch off, by its type. */
const causes: Readonly<Record<string, string>> = {
  fetch: 'A request to the public endpoint',
  task: 'A task that the script queued',
  ui_render: 'A component that is shown',
  fetch_published_script: 'A site that asks for its script',
  fetch_visitor_authentication: 'The sign-in of a visitor',
  content_compute_revision: 'A content source that is read',
  content_compute_document: 'A content source that is read',
}

const named: Readonly<Record<string, string>> = { fetch: 'a request', task: 'a task' }

/** Texts of dispatches: calls into the script of an installation. */
export const dispatchTexts = {
  title: 'Dispatches',
  one: (type: string) => `Dispatch of ${named[type] ?? type}`,
  what: 'Each call into a script: what set it off, how it ended, and what it used.',
  nothing: 'No dispatch yet. A request to an endpoint or an event makes one.',
  toSteps: 'Publish an event',
  ofEvent: 'Runs of one event:',
  kept: 'Annex keeps the newest 5,000 dispatches of each installation. Of more than 50 in a second it keeps the failed and the slowest ones.',
  outcome: (code: string) => outcomes[code] ?? toWords(code),
  sentence: (code: string) => sentences[code] ?? `It ended with ${code}.`,
  filters: {
    outcome: 'Outcome',
    any: 'Any outcome',
    failed: 'Failed',
    type: 'Type',
    anyType: 'Any type',
  },
  columns: {
    outcome: 'Outcome',
    type: 'Dispatch of',
    integration: 'Integration',
    duration: 'Duration',
    cpu: 'CPU',
    requests: 'Requests',
    deliveries: 'Deliveries',
    started: 'Started',
  },
  typeOf: (type: string) => named[type] ?? type,
  ms,

  page: {
    title: 'Dispatch',
    gone: 'Annex keeps nothing of this dispatch that you may see. The newest 5,000 dispatches of each installation are kept, and the newest 10,000 log lines of each integration.',
    noReceipt:
      'Annex keeps no receipt of this dispatch: a newer one took its place, or the script was too busy. Its log and deliveries are below.',
    ofMany: (number: number, count: number) => `Dispatch ${number} of ${count} of this request`,
    cause: (type: string) => causes[type] ?? `The event ${type}`,
    viewsOfSite: 'Views of the site',
    facts: {
      site: 'Site',
      cause: 'Set off by',
      integration: 'Integration',
      installation: 'Installation',
      answer: 'Answer',
      started: 'Started',
      duration: 'Duration',
      used: 'Used',
      did: 'Queued',
      request: 'Dispatch',
    },
    runs: (count: number) => `All ${count.toLocaleString('en')} runs of this event`,
    used: (cpuMs: number, heapBytes: number) =>
      `${ms(cpuMs)} of CPU time, ${(heapBytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MB of memory`,
    did: (deliveries: number, tasks: number) =>
      `${many(deliveries, 'delivery', 'deliveries')}, ${many(tasks, 'task')}`,
    untilAnswer: (value: number) => `${ms(value)} until the answer`,
    requests: 'Outbound requests',
    noRequest: 'It made no outbound request.',
    notKept: (count: number) =>
      `It made ${many(count, 'outbound request')}. Annex did not record them at that time.`,
    leftOut: (count: number) => `${many(count, 'further request')} followed. Annex keeps the first ones.`,
    own: 'Annex API',
    cut: 'No answer before the dispatch ended',
    requestColumns: { request: 'Request', result: 'Result', time: 'Time', after: 'After' },
    noQuery: 'Queries are not recorded, as they may hold secrets.',
    log: 'Log',
    noLine: 'The script logged nothing.',
    moreLines: 'These are the newest 200 lines.',
    lineColumns: { at: 'Time', after: 'After', level: 'Level', text: 'Line' },
    deliveries: 'Deliveries',
    noDelivery: 'It queued no delivery.',
    earlier: 'Deliveries that an earlier run of the event queued are on the page of that run.',
    deliveriesGone: 'Its deliveries are not kept any more.',
  },

  tab: {
    of: 'Of the installation with all its sites and spaces, newest first.',
    nothing: 'The script has not run yet.',
    all: 'All dispatches of this installation',
  },

  fromDelivery: { made: 'Queued by', dispatch: 'Its dispatch', event: 'Event', runs: 'All runs' },
} as const

const toWords = (code: string): string => code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')
