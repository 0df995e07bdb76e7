import { useState } from 'preact/hooks'
import type { Block } from '../../../../../schemas/generated/api/content.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { Chooser, hasWords } from '../../parts/chooser.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { IntegrationIcon } from '../../parts/integration-icon.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'

/** The blocks of what is installed in the space: typing filters, arrows choose, enter inserts, escape closes. */
export function Palette({
  blocks,
  org,
  onChoose,
  onClose,
}: {
  blocks: readonly Block[]
  org: string
  onChoose: (block: Block) => void
  onClose: () => void
}) {
  const [words, setWords] = useState('')
  const found = blocks.filter((block) => hasWords(textOf(block), words))
  if (blocks.length === 0) {
    return (
      <Dialog title={texts.palette.title} onClose={onClose}>
        <p>{texts.palette.nothing}</p>
        <div class="row">
          <Cancel act={onClose} />
          <a href={`/orgs/${org}/integrations`}>{texts.palette.toIntegrations}</a>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title={texts.palette.title} onClose={onClose}>
      <Chooser
        label={texts.palette.search}
        listLabel={texts.palette.options}
        words={words}
        onWords={setWords}
        items={found}
        keyOf={({ installation, id }) => `${installation} ${id}`}
        onChoose={onChoose}
      >
        {(block) => (
          <>
            <IntegrationIcon title={block.title} icon={block.icon} />
            <span dir="auto">
              <strong>{block.title}</strong>
              <span class="muted small">
                {[block.integrationTitle, block.description].filter(Boolean).join(' · ')}
              </span>
            </span>
          </>
        )}
      </Chooser>
      <p class="muted small" role="status">
        {found.length === 0
          ? texts.palette.none
          : `${texts.palette.found(found.length)}. ${texts.palette.hint}`}
      </p>
    </Dialog>
  )
}

const textOf = ({ id, title, description = '', integration, integrationTitle }: Block): string =>
  [id, title, description, integration, integrationTitle].join(' ')
