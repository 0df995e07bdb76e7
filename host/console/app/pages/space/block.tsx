import { useEffect, useRef, useState } from 'preact/hooks'
import type { Block } from '../../../../../schemas/generated/api/content.ts'
import { ComponentView } from '../../component/component.tsx'
import { renderOperation } from '../../component/render.ts'
import { Icon } from '../../parts/icon.tsx'
import { reasonAgainst } from '../../person.ts'
import { spaceTexts as texts } from '../../texts/space.ts'

export type ShownBlock = {
  /** Undefined while its integration is not installed in the space. */
  known: Block | undefined
  integration: string
  props: Record<string, unknown>
  /** Its Markdown, which is shown when its script cannot draw it. */
  source: string
  lines: number[] | undefined
}

const slowMs = 3_000

/** A block of a page, drawn by its script once it comes near the window. */
export function BlockView({
  shown,
  org,
  page,
  onProps,
}: {
  shown: ShownBlock
  org: string
  /** The path of its page. */
  page: string
  onProps?: ((block: ShownBlock, props: Record<string, unknown>) => void) | undefined
}) {
  const { known, integration, props, source, lines } = shown
  const element = useRef<HTMLElement>(null)
  const isNear = useNear(element)
  const isReader = reasonAgainst(renderOperation) !== undefined
  const label = known === undefined ? integration : `${known.integrationTitle}: ${known.title}`
  return (
    <section class="page-block" aria-label={texts.block.label(label)} ref={element}>
      {known === undefined ? (
        <Instead
          source={source}
          note={texts.block.gone(integration)}
          href={`/orgs/${org}/integrations/${integration}`}
        />
      ) : (
        isNear && (
          <ComponentView
            integration={known.integration}
            installation={known.installation}
            level={{ space: known.space }}
            ofPage={isReader && lines ? { org, space: known.space, page, line: lines[0] ?? 0 } : undefined}
            componentId={known.id}
            props={props}
            context={{ type: 'document', editable: onProps !== undefined }}
            onProps={onProps && ((changed) => onProps(shown, changed))}
            instead={(error) => <Waiting {...{ error, source, label }} />}
          />
        )
      )}
    </section>
  )
}

/** The Markdown of a block whose script has failed, or takes long. */
function Waiting({ error, source, label }: { error: unknown; source: string; label: string }) {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), slowMs)
    return () => clearTimeout(timer)
  }, [])
  if (error === undefined && !isSlow) return null
  return (
    <Instead
      source={source}
      note={error === undefined ? texts.block.slow(label) : texts.block.failed(label)}
    />
  )
}

const Instead = ({ source, note, href }: { source: string; note: string; href?: string }) => (
  <>
    <p class="waiting-note muted small">
      <Icon name="note" />
      <span>
        {note} {href && <a href={href}>{texts.block.open}</a>}
      </span>
    </p>
    <pre dir="ltr">{source}</pre>
  </>
)

/** A page may have hundreds of blocks, and each asks a script. */
function useNear(element: { current: HTMLElement | null }): boolean {
  const [isNear, setIsNear] = useState(false)
  useEffect(() => {
    const { current } = element
    if (current === null) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        setIsNear(true)
        observer.disconnect()
      },
      { rootMargin: '400px' },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return isNear
}
