import { ApiError } from '../../../../schemas/client.ts'
import { NoAnswerError } from '../api.ts'
import { texts } from '../texts.ts'
import { Id } from './copy.tsx'
import { Icon } from './icon.tsx'

/** What failed, where, and what to do next. Users see no stack trace. */
export function ErrorNote({
  error,
  what,
  next,
}: {
  error: unknown
  what?: string
  next?: { label: string; act: () => void }
}) {
  const details = error instanceof ApiError ? error.details : []
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div>
        {what && <strong>{what}</strong>}
        <span class="detail">{messageOf(error)}</span>
        {details.map(({ path, message }) => (
          <span class="detail" key={path + message}>
            <code>{path}</code> {message}
          </span>
        ))}
        {error instanceof ApiError && error.requestId && (
          <span class="detail small">
            {texts.request} <Id value={error.requestId} />
          </span>
        )}
        {next && (
          <div>
            <button type="button" onClick={next.act}>
              {next.label}
            </button>
          </div>
        )}
      </div>
    </div>
  )
}

export function messageOf(error: unknown): string {
  if (error instanceof NoAnswerError) return texts.noAnswer
  return error instanceof Error ? error.message : String(error)
}
