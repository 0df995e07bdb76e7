const count = (value: number) => value.toLocaleString('en')
const pages = (value: number) => `${count(value)} ${value === 1 ? 'page' : 'pages'}`

/** Texts of a space's pages: reading, editing, and revisions. */
export const spaceTexts = {
  pages: 'Pages of this space',
  show: (value: number) => `${pages(value)} in this space`,
  find: 'Find a page',
  noneFound: 'No page has this in its title or path.',
  open: (title: string) => `Show the pages below ${title}`,
  close: (title: string) => `Hide the pages below ${title}`,
  table: 'Table',
  nothing: 'This space has no page yet.',
  nothingHow: 'Make the first page here, or publish a folder of Markdown from the command line:',
  nothingInFolder:
    'The folder of this space has no page yet. Put a Markdown file there: Annex reads it at once.',
  problems: (value: number) =>
    value === 1
      ? 'One thing is wrong in the folder of this space.'
      : `${count(value)} things are wrong in the folder of this space.`,
  line: (line: number) => `, line ${line}`,
  group: 'This is a group. Its pages:',
  noText: 'This page is empty.',
  document: 'This page is a document of an integration, in another form than Markdown.',
  unknown: 'Nothing is at this address.',

  edit: 'Edit',
  ofFolder: 'The pages of this space are files of a folder on the machine of Annex. Edit them there.',
  ofDocument: 'This page is no Markdown. The integration that made it changes it.',
  ofGroup: 'A group has no text.',
  draft: 'You have an edit of this page that is not saved.',
  openDraft: 'Go on editing',
  discard: 'Discard my edit',
  discarded: 'Your edit is discarded.',
  fromDraft: 'This is your edit from before. It is not saved yet.',

  title: 'Title',
  description: 'Description (optional)',
  text: 'Markdown',
  textHint: 'ctrl or ⌘ and / inserts a block. ctrl or ⌘ and S saves.',
  insert: 'Insert a block',
  write: 'Write',
  preview: 'Preview',
  mode: 'Write or preview',
  save: 'Save page',
  saved: (title: string) => `${title} is saved.`,
  unchanged: 'Nothing differs from the stored page.',
  deletedMeanwhile: 'Another person has deleted this page. Your text is still here.',
  saveAsNew: 'Save it as a new page',

  conflict: {
    title: 'Another person has saved this page since you began. Nothing is lost: choose one text.',
    differs: 'From their page (−) to yours (+)',
    same: 'Both texts are the same. Title or description differ.',
    keepYours: 'Save mine: theirs stays as a revision',
    takeTheirs: 'Read theirs: mine stays as an edit',
    copyYours: 'Copy my text',
  },

  newPage: 'New page',
  newTitle: 'New page',
  newWhat: 'It gets its text in the next step.',
  path: 'Path',
  pathHint: 'A part of its address, such as guides/start.',
  pathTaken: 'Another page has this path.',
  below: 'Below',
  top: 'No page: at the top',
  make: 'Make page',
  made: (title: string) => `${title} is made. Write its text.`,

  move: 'Move page',
  moveTitle: (title: string) => `Move ${title}`,
  moveBelow: (value: number) => `${pages(value)} below it ${value === 1 ? 'moves' : 'move'} with it.`,
  moveBefore: 'Before',
  moveLast: 'No page: at the end',
  moved: (title: string) => `${title} is moved.`,
  movedMeanwhile:
    'Another person has moved or deleted the page that you chose. Load this page again and choose another place.',

  remove: 'Delete page',
  removeTitle: (title: string) => `Delete ${title}`,
  removeBelow: (value: number) => `${pages(value)} below it ${value === 1 ? 'goes' : 'go'} with it.`,
  removeKept: 'Older revisions keep the page until they are pruned. Restore one to have it back.',
  removed: (title: string) => `${title} is deleted.`,

  block: {
    label: (name: string) => `Block ${name}`,
    gone: (integration: string) =>
      `The integration ${integration} is not installed in this space, or has no such block. This is its Markdown.`,
    failed: (name: string) => `${name} could not be drawn. This is its Markdown.`,
    slow: (name: string) => `${name} has not answered yet. This is its Markdown meanwhile.`,
    open: 'Open the integration',
  },

  palette: {
    title: 'Insert a block',
    search: 'Find a block',
    none: 'No block of what is installed in this space matches.',
    nothing: 'No integration with blocks is installed in this space.',
    toIntegrations: 'Open the integrations',
    hint: 'Arrows choose, enter inserts, escape closes.',
    options: 'Blocks',
    found: (value: number) => `${count(value)} ${value === 1 ? 'block' : 'blocks'}`,
  },

  unfurl: {
    asking: (block: string) => `Asking ${block} about this link…`,
    done: (block: string) => `The link is now a block of ${block}. Undo brings the link back.`,
    none: (block: string) => `${block} made nothing of this link. It stays a link.`,
    failed: (block: string, why: string) => `${block} could not read this link, so it stays a link. ${why}`,
  },

  revisions: {
    title: 'Revisions',
    what: 'Each change of the pages is a revision. The newest is what readers see.',
    columns: { number: 'Revision', author: 'Author', created: 'Made', current: 'State' },
    current: 'Current',
    kept: 'Replaced revisions are kept for RETENTION_DAYS. The current one stays.',
    nothing: 'No revision yet. The first page makes one.',
    older: 'Older',
    newest: 'Newest',
    folder: 'Its folder',
  },
  revision: {
    title: (number: number) => `Revision ${count(number)}`,
    compare: 'Compare',
    before: 'Its own changes',
    now: 'Changes since then',
    isCurrent: 'This is the current revision.',
    none: 'No page differs.',
    noBefore:
      'The revision before is no longer kept, or there is none. The texts below are those of this revision.',
    more: (value: number) => `${count(value)} more changes are not shown.`,
    kinds: {
      page_created: 'Created',
      page_edited: 'Edited',
      page_moved: 'Moved',
      page_deleted: 'Deleted',
    },
    sameText: 'The text is the same.',
    tooLarge: 'The texts differ too much for a comparison by lines. Both are shown whole.',
    textBefore: 'Text before',
    textAfter: 'Text after',
    diff: 'Text before (−) and after (+)',
    restorePage: 'Restore this page as it was here',
    restoredPage: (title: string) => `${title} is restored.`,
    restore: 'Restore this revision',
    restoreTitle: (number: number) => `Restore revision ${count(number)}`,
    restoreWhat: 'A new revision gets the pages of this one. Later revisions stay in the list.',
    restoreChanges: (value: number, isMore: boolean) =>
      `${isMore ? 'More than ' : ''}${pages(value)} ${value === 1 && !isMore ? 'changes' : 'change'}:`,
    restored: (number: number) => `Restored as revision ${count(number)}.`,
    gone: 'This revision has no such page.',
    titleWas: 'Title',
    descriptionWas: 'Description',
    pathWas: 'Path',
  },
}
