// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { MarkdownTree, NextPage, Time, Title } from './common.ts'
import type { SettingOptions } from './connections.ts'
import type { ComponentOptions, Rendered } from './dispatches.ts'

/**
 * The author of a revision: a user by the id of the member or token, an integration by its name, or the host for a folder.
 */
export interface Author {
  type: 'user' | 'integration' | 'host'
  id: string
}

/**
 * A page without its text.
 */
export interface PageHead {
  object: 'page'
  id: string
  /**
   * A group has pages below it, and no text.
   */
  type: 'document' | 'group'
  title: string
  description?: string
  /**
   * That of the Markdown file without its ending. The path of guides/README.md is guides.
   */
  path: string
  /**
   * The last segment of the path.
   */
  slug: string
  /**
   * The id of the page above.
   */
  parent?: string
}

/**
 * A page with those below it, without texts.
 */
export interface Page {
  object: 'page'
  id: string
  /**
   * A group has pages below it, and no text.
   */
  type: 'document' | 'group'
  title: string
  description?: string
  /**
   * That of the Markdown file without its ending. The path of guides/README.md is guides.
   */
  path: string
  /**
   * The last segment of the path.
   */
  slug: string
  /**
   * The id of the page above.
   */
  parent?: string
  pages: Page[]
}

/**
 * The pages of a revision.
 */
export interface PageList {
  pages: Page[]
}

/**
 * A page with its text: Markdown or a document. A group has none.
 */
export interface PageWithText {
  object: 'page'
  id: string
  /**
   * A group has pages below it, and no text.
   */
  type: 'document' | 'group'
  title: string
  description?: string
  /**
   * That of the Markdown file without its ending. The path of guides/README.md is guides.
   */
  path: string
  /**
   * The last segment of the path.
   */
  slug: string
  /**
   * The id of the page above.
   */
  parent?: string
  markdown?: string
  tree?: MarkdownTree
  /**
   * A text in another form than Markdown.
   */
  document?: {
    [k: string]: unknown
  }
}

/**
 * A text to preview.
 */
export interface PreviewedPage {
  markdown: string
  /**
   * The id or path of the stored page that is edited. Its pictures show as they do there.
   */
  page?: string
}

/**
 * Markdown as a tree.
 */
export interface Preview {
  tree: MarkdownTree
}

/**
 * The blocks of a space.
 */
export interface BlockList {
  items: Block[]
}

/**
 * Where a block is shown.
 */
export interface ShownBlock {
  theme?: 'light' | 'dark'
}

export type BlockOptions = ComponentOptions

export type ChoicesOfBlock = SettingOptions

export type RenderedBlock = Rendered

/**
 * A component that a page may have, of an installation in the space.
 */
export interface Block {
  object: 'block'
  /**
   * Its `componentId`.
   */
  id: string
  integration: string
  integrationTitle: string
  /**
   * The id of the installation that renders it.
   */
  installation: string
  /**
   * The id of the space.
   */
  space: string
  title: string
  description?: string
  /**
   * The address of its icon, or of that of its integration.
   */
  icon?: string
  /**
   * Addresses that become this block when they are pasted. `*` stands for any text.
   */
  urlUnfurl: string[]
  /**
   * The fenced code that becomes this block.
   */
  markdown?: {
    /**
     * The language behind the fence.
     */
    codeblock: string
    /**
     * The property that holds the code.
     */
    body?: string
  }
}

/**
 * A page with its text, and the revision that has it.
 */
export interface StoredPage {
  object: 'page'
  id: string
  /**
   * A group has pages below it, and no text.
   */
  type: 'document' | 'group'
  title: string
  description?: string
  /**
   * That of the Markdown file without its ending. The path of guides/README.md is guides.
   */
  path: string
  /**
   * The last segment of the path.
   */
  slug: string
  /**
   * The id of the page above.
   */
  parent?: string
  markdown?: string
  /**
   * A text in another form than Markdown.
   */
  document?: {
    [k: string]: unknown
  }
  revision: string
}

/**
 * What changes of a page.
 */
export interface PageEdit {
  title?: Title
  description?: string | null
  markdown?: string
  /**
   * Replaces the Markdown by a text in another form.
   */
  document?: {
    [k: string]: unknown
  }
  /**
   * The id or path of the page above. Null: none.
   */
  parent?: string | null
  /**
   * The id or path of the page that comes next: the page is moved before that one, below the same parent. 422 when that page has been moved elsewhere or deleted, so two people do not move pages past each other.
   */
  before?: string
  /**
   * The place among the pages beside it, from 0. A new page without it is the last one.
   */
  index?: number
}

/**
 * A revision without its pages.
 */
export interface RevisionHead {
  object: 'revision'
  id: string
  type: 'initial' | 'edits'
  /**
   * For scripts of the reference platform.
   */
  mergedFrom: null
  /**
   * Orders the revisions of a space.
   */
  number: number
  /**
   * The id of its space.
   */
  space: string
  author: Author
  createdAt: Time
}

/**
 * Revisions of a space.
 */
export interface RevisionList {
  items: RevisionHead[]
  count: number
  next?: NextPage
}

/**
 * A revision of a space's content.
 */
export interface Revision {
  object: 'revision'
  id: string
  type: 'initial' | 'edits'
  /**
   * For scripts of the reference platform.
   */
  mergedFrom: null
  /**
   * Orders the revisions of a space.
   */
  number: number
  /**
   * The id of its space.
   */
  space: string
  author: Author
  createdAt: Time
  pages: Page[]
}

/**
 * Changes of a revision. `more` counts those that are not in the answer.
 */
export interface RevisionChanges {
  /**
   * The id of the revision that is compared with, while it is kept.
   */
  since?: string
  changes: PageChange[]
  more?: number
}

/**
 * A page that a revision made, edited, moved or deleted. A moved page has the same text at another place.
 */
export interface PageChange {
  type: 'page_created' | 'page_edited' | 'page_moved' | 'page_deleted'
  page: PageHead
}

export interface GetCurrentRevisionQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface ListPagesQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface GetPageByIdQuery {
  /**
   * Adds the Markdown as `tree`: elements and texts, with blocks of integrations.
   */
  tree?: boolean
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface PutPageQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface DeletePageQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface PreviewPageQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface RenderPageBlockQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface ListPageBlockOptionsQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface GetPagePictureQuery {
  /**
   * Where the picture is.
   */
  address?: string
  /**
   * When the address ends, in seconds.
   */
  until?: string
  /**
   * Annex signs the address by it.
   */
  key?: string
}

export interface ListBlocksQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface RestoreRevisionQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface ListRevisionsQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface GetRevisionByIdQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface ListPagesInRevisionByIdQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface GetPageInRevisionByIdQuery {
  /**
   * Adds the Markdown as `tree`: elements and texts, with blocks of integrations.
   */
  tree?: boolean
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface GetRevisionSemanticChangesQuery {
  /**
   * The most changes of an answer.
   */
  limit: number
  /**
   * The id of an older revision to compare with. Default: the one before.
   */
  since?: string
  /**
   * Accepted and without effect: there are no changes of metadata.
   */
  metadata?: boolean
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface ContentOperations {
  getCurrentRevision: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string }
    query: GetCurrentRevisionQuery
    body: undefined
    answer: Revision
  }
  listPages: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string }
    query: ListPagesQuery
    body: undefined
    answer: PageList
  }
  getPageById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; page: string }
    query: GetPageByIdQuery
    body: undefined
    answer: PageWithText
  }
  putPage: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; page: string }
    query: PutPageQuery
    body: PageEdit
    answer: StoredPage
  }
  deletePage: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; page: string }
    query: DeletePageQuery
    body: undefined
    answer: void
  }
  previewPage: {
    roles: 'editor' | 'admin' | 'operator'
    params: { space: string }
    query: PreviewPageQuery
    body: PreviewedPage
    answer: Preview
  }
  renderPageBlock: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { space: string; page: string; line: string }
    query: RenderPageBlockQuery
    body: ShownBlock
    answer: RenderedBlock
  }
  listPageBlockOptions: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { space: string; page: string; line: string }
    query: ListPageBlockOptionsQuery
    body: BlockOptions
    answer: ChoicesOfBlock
  }
  getPagePicture: {
    roles: 'anyone'
    params: { space: string }
    query: GetPagePictureQuery
    body: undefined
    answer: void
  }
  listBlocks: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { space: string }
    query: ListBlocksQuery
    body: undefined
    answer: BlockList
  }
  restoreRevision: {
    roles: 'editor' | 'admin' | 'operator'
    params: { space: string; revision: string }
    query: RestoreRevisionQuery
    body: undefined
    answer: RevisionHead
  }
  listRevisions: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string }
    query: ListRevisionsQuery
    body: undefined
    answer: RevisionList
  }
  getRevisionById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; revision: string }
    query: GetRevisionByIdQuery
    body: undefined
    answer: Revision
  }
  listPagesInRevisionById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; revision: string }
    query: ListPagesInRevisionByIdQuery
    body: undefined
    answer: PageList
  }
  getPageInRevisionById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; revision: string; page: string }
    query: GetPageInRevisionByIdQuery
    body: undefined
    answer: PageWithText
  }
  getRevisionSemanticChanges: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; revision: string }
    query: GetRevisionSemanticChangesQuery
    body: undefined
    answer: RevisionChanges
  }
}
