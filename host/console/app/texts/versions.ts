const many = (count: number, one: string, more = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`

export const versionTexts = {
  what: 'Which version of each integration runs, and what does not load.',
  reload: 'Read all folders again',
  reloaded: (loaded: number, failed: number) =>
    failed === 0
      ? `${many(loaded, 'folder')} loaded.`
      : `${many(loaded, 'folder')} loaded, ${failed.toLocaleString('en')} refused.`,
  loading: (loaded: number, total: number, folders: readonly string[]) =>
    `Annex loads folders: ${loaded.toLocaleString('en')} of ${total.toLocaleString('en')}. ${folders.join(', ')}`,
  refused: 'What does not load',
  refusedColumns: { folder: 'Folder', why: 'Why', since: 'Since' },
  waiting: 'Versions that wait for an agreement',
  waitingColumns: { what: 'What waits', organization: 'Organization', since: 'Since' },
  integrations: 'Integrations',
  nothing:
    'No integration is loaded. Put a folder with a manifest into PLUGINS_DIR, and read all folders again.',
  columns: {
    integration: 'Integration',
    version: 'Runs',
    state: 'State',
    pinned: 'Pinned',
    changed: 'Deployed',
  },
  number: (number: number) => `Version ${number}`,
  none: 'No version',
  pinnedTo: (number: number) => `Pinned to version ${number}`,
  folderHas: (number: number) => `The folder has version ${number}`,
  notPinned: 'Follows the folder',
  first: 'First page',
  next: 'Next page',
  kept: 'Versions that an installation runs are kept, and those that can be deployed again.',
} as const
