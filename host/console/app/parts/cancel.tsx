import { texts } from '../texts.ts'

/** Leaves a dialog without doing what it asks about. */
export const Cancel = ({ act }: { act: () => void }) => (
  <div>
    <button type="button" class="plain" onClick={act}>
      {texts.cancel}
    </button>
  </div>
)
