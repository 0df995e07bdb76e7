export const usageTexts = {
  what: 'What the scripts of this organization used: calls, CPU time, memory and requests to elsewhere.',
  nothing: 'No script has run in this time. A request to an endpoint, or an event, makes the first row.',
  span: 'Time',
  spans: { hour: 'The last hour', day: 'The last day', week: 'The last 7 days' },
  byInstallation: 'By installation',
  byTime: { hour: 'By minute', day: 'By hour', week: 'By day' },
  columns: {
    installation: 'Installation',
    dispatches: 'Calls',
    failed: 'Failed',
    cpu: 'CPU time',
    heap: 'Largest heap',
    egress: 'Requests to elsewhere',
    bytes: 'Their bytes',
    host: 'Calls to Annex',
    from: 'From',
  },
  ofIntegration: 'without an installation',
  most: (count: number) => `The ${count} installations with the most CPU time are shown.`,
  limits: 'Limits of one call:',
  ofRequests: (count: number) => `${count.toLocaleString('en')} requests to elsewhere`,
  ofHost: (count: number) => `${count.toLocaleString('en')} calls to Annex`,
  ofCpu: (time: string) => `${time} of CPU time`,
  ofHeap: (size: string) => `${size} of heap`,
  kept: 'Sums are kept by minute, for 7 days.',
  seconds: (ms: number) =>
    ms < 1_000
      ? `${Math.round(ms).toLocaleString('en')} ms`
      : `${(ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`,
  /** Units of 1,024, as those of the settings. */
  bytes: (bytes: number) =>
    bytes < 2 ** 20
      ? `${(bytes / 2 ** 10).toLocaleString('en', { maximumFractionDigits: 1 })} kB`
      : `${(bytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 })} MB`,
} as const
