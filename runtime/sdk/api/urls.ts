import type { ApiRequest } from './api-request.ts'

/** Records by the address at which people read them. */
export const createUrls = (request: ApiRequest) => ({
  getContentByUrl: (query: { url: string }) => request({ path: '/urls/content', query }),
})
