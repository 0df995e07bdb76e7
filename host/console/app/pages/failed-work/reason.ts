import type { Job } from '../../../../../schemas/generated/api/jobs.ts'

/** Why a job failed, without the request id, which has a link. */
export const toReason = ({ message, request }: NonNullable<Job['error']>): string =>
  request === undefined ? message : message.replace(` (request ${request})`, '')
