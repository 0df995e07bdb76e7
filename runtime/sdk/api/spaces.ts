import { type ApiRequest, path, type Query } from './api-request.ts'
import type { List, PageWithContent, Revision, RevisionChanges, RevisionPages, Space } from './records.ts'

/** Spaces and their content. */
export const createSpaces = (request: ApiRequest) => ({
  getSpaceById: (space: string, query?: Query) =>
    request<Space>({ path: path`/spaces/${space}`, ...(query && { query }) }),
  updateSpaceById: (space: string, body: object) =>
    request<Space>({ method: 'PATCH', path: path`/spaces/${space}`, body }),
  getCurrentRevision: (space: string, query?: Query) =>
    request<Revision>({ path: path`/spaces/${space}/content`, ...(query && { query }) }),
  listPages: (space: string, query?: Query) =>
    request<RevisionPages>({ path: path`/spaces/${space}/content/pages`, ...(query && { query }) }),
  getPageById: (space: string, page: string, query?: Query) =>
    request<PageWithContent>({
      path: path`/spaces/${space}/content/page/${page}`,
      ...(query && { query }),
    }),
  putPage: (space: string, page: string, body: object) =>
    request<PageWithContent>({ method: 'PUT', path: path`/spaces/${space}/content/page/${page}`, body }),
  deletePage: (space: string, page: string) =>
    request({ method: 'DELETE', path: path`/spaces/${space}/content/page/${page}` }),
  listRevisions: (space: string, query?: Query) =>
    request<List<Revision>>({ path: path`/spaces/${space}/revisions`, ...(query && { query }) }),
  getRevisionById: (space: string, revision: string, query?: Query) =>
    request<Revision>({ path: path`/spaces/${space}/revisions/${revision}`, ...(query && { query }) }),
  listPagesInRevisionById: (space: string, revision: string, query?: Query) =>
    request<RevisionPages>({
      path: path`/spaces/${space}/revisions/${revision}/pages`,
      ...(query && { query }),
    }),
  getPageInRevisionById: (space: string, revision: string, page: string, query?: Query) =>
    request<PageWithContent>({
      path: path`/spaces/${space}/revisions/${revision}/page/${page}`,
      ...(query && { query }),
    }),
  getRevisionSemanticChanges: (space: string, revision: string, query?: Query) =>
    request<RevisionChanges>({
      path: path`/spaces/${space}/revisions/${revision}/changes`,
      ...(query && { query }),
    }),
  importGitRepository: (space: string, body: object) =>
    request({ method: 'POST', path: path`/spaces/${space}/git/import`, body }),
  exportToGitRepository: (space: string, body: object) =>
    request({ method: 'POST', path: path`/spaces/${space}/git/export`, body }),
  getSpaceGitInfo: (space: string) => request({ path: path`/spaces/${space}/git/info` }),
})
