import { Action } from '../../parts/action.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Icon } from '../../parts/icon.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'
import { Diff } from './diff.tsx'
import type { Draft } from './draft.ts'

/** Two people have edited one page: both texts are shown, and neither is lost. */
export function Conflict({
  mine,
  theirs,
  error,
  keepMine,
  takeTheirs,
}: {
  mine: Draft
  theirs: Draft
  error: unknown
  keepMine: () => Promise<void>
  takeTheirs: () => void
}) {
  return (
    <div class="column">
      <div class="note warning" role="alert">
        <Icon name="warning" />
        <div>
          <span class="detail">{texts.conflict.title}</span>
          <div class="row">
            <Action act={keepMine}>{texts.conflict.keepYours}</Action>
            <Action act={takeTheirs}>{texts.conflict.takeTheirs}</Action>
            <CopyButton isLabelled kind="" text={mine.markdown} label={texts.conflict.copyYours} />
          </div>
        </div>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      <section>
        <h2>{texts.conflict.differs}</h2>
        {mine.markdown === theirs.markdown ? (
          <p>{texts.conflict.same}</p>
        ) : (
          <Diff before={theirs.markdown} after={mine.markdown} label={texts.conflict.differs} />
        )}
      </section>
    </div>
  )
}
