import type { ApiRequest } from './api-request.ts'

/** Records by the address at which people read them. Annex has no route for it yet: it rejects with an `ApiError` of 404. */
export const createUrls = (request: ApiRequest) => ({
  getContentByUrl: (query: { url: string }) => request({ path: '/urls/content', query }),
})
