import { Action } from '../../parts/action.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { placeTexts } from '../../texts/places.ts'
import { Diff } from '../space/diff.tsx'

const texts = placeTexts.audience.conflict

/** Two people have edited one schema: both texts are shown, and neither is lost. */
export const SchemaConflict = ({
  mine,
  theirs,
  isGone,
  keepMine,
  takeTheirs,
}: {
  mine: string
  theirs: string
  /** The other person has removed the schema. */
  isGone: boolean
  keepMine: () => Promise<void>
  takeTheirs: () => void
}) => (
  <div class="column">
    <div class="note warning" role="alert">
      <Icon name="warning" />
      <div>
        <span class="detail">{isGone ? texts.removed : texts.title}</span>
        <div class="row">
          <Action act={keepMine}>{texts.keepMine}</Action>
          <Action act={takeTheirs}>{isGone ? texts.leave : texts.takeTheirs}</Action>
          <CopyButton isLabelled kind="" text={mine} label={texts.copyMine} />
        </div>
      </div>
    </div>
    {!isGone && mine !== theirs && <Diff before={theirs} after={mine} label={texts.differs} />}
  </div>
)
