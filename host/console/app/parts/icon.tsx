/** Lines of 24 by 24. */
const shapes = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  integrations: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM16.5 13v7M13 16.5h7',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  back: 'M15 5l-7 7 7 7',
  forth: 'M9 5l7 7-7 7',
  deliveries: 'M4 12h13M12 6l6 6-6 6',
  dispatches: 'M4 17l6-5-6-5M12 19h8',
  receivers: 'M4 13l3-8h10l3 8v6H4zM4 13h5l1 3h4l1-3h5',
  installations: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  members: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2 21c0-4 3-6 7-6s7 2 7 6M17 4a4 4 0 0 1 0 7M19 15c2 1 3 3 3 6',
  book: 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM21 4h-6a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h6z',
  check: 'M4 12l6 6L20 6',
  cross: 'M5 5l14 14M19 5L5 19',
  warning: 'M12 4L2 20h20zM12 10v5M12 17.5v.5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 2',
  pause: 'M8 5v14M16 5v14',
  menu: 'M4 6h16M4 12h16M4 18h16',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4 21c0-4 4-6 8-6s8 2 8 6',
  key: 'M14 10a5 5 0 1 0-4 4l2 2h2v2h2v2h4v-4z',
  failed: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M9 9l6 6M15 9l-6 6',
  logs: 'M5 4h14v16H5zM8 8h8M8 12h8M8 16h5',
  audit: 'M7 4h10v16H7zM9 2h6v4H9zM10 12l2 2 3-4',
  places: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  usage: 'M4 20h16M6 20v-7M11 20V8M16 20V4',
  note: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v5M12 7.5v.5',
} as const

export type IconName = keyof typeof shapes

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={shapes[name]} />
  </svg>
)

export const Mark = () => (
  <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#4338ca" />
    <path d="M9 22V10h6v12m2 0v-7h6v7" stroke="#fff" stroke-width="2.5" fill="none" />
  </svg>
)
