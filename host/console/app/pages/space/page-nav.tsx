import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Page } from '../../../../../schemas/generated/api/content.ts'
import { Icon } from '../../parts/icon.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'
import { idsAbove } from './page-list.ts'
import { addressOf } from './space-address.ts'
import type { ReadSpace } from './use-space.ts'

/** Fewer are found by the eye. */
const manyPages = 20

/** The tree of pages. The branch of the current page is open. On a narrow screen the tree is folded. */
export function PageNav({ of, current }: { of: ReadSpace; current: Page | undefined }) {
  const [words, setWords] = useState('')
  const box = useRef<HTMLElement>(null)
  const above = useMemo(() => idsAbove(of.all, current?.id), [of.all, current?.id])
  const isWide = matchMedia('(min-width: 800px)').matches
  useEffect(() => {
    const link = box.current?.querySelector('[aria-current]')
    if (isWide && box.current !== null && link instanceof HTMLElement)
      box.current.scrollTop = link.offsetTop - box.current.clientHeight / 2
  }, [current?.id])
  if (of.all.length === 0) return null
  const found = words.trim().toLowerCase()
  const matches = of.all.filter(({ title, path }) => `${title} ${path}`.toLowerCase().includes(found))
  return (
    <details class="page-nav" open={isWide}>
      <summary>{texts.show(of.all.length)}</summary>
      <div class="page-nav-body">
        {of.all.length > manyPages && <SearchField label={texts.find} value={words} onValue={setWords} />}
        <nav aria-label={texts.pages} ref={box}>
          {found === '' ? (
            <Branch {...{ of, above, current }} pages={of.pages} />
          ) : matches.length === 0 ? (
            <p class="muted small">{texts.noneFound}</p>
          ) : (
            <ul>
              {matches.map((page) => (
                <li key={page.id}>
                  <PageLink {...{ of, page, current }} />
                </li>
              ))}
            </ul>
          )}
        </nav>
      </div>
    </details>
  )
}

type BranchProps = { of: ReadSpace; above: ReadonlySet<string>; current: Page | undefined }

export const Branch = ({ pages, ...branch }: BranchProps & { pages: readonly Page[] }) => (
  <ul>
    {pages.map((page) => (
      <Twig key={page.id} page={page} {...branch} />
    ))}
  </ul>
)

function Twig({ page, of, above, current }: BranchProps & { page: Page }) {
  const isAbove = above.has(page.id)
  const [isOpen, setIsOpen] = useState(isAbove)
  useEffect(() => {
    if (isAbove) setIsOpen(true)
  }, [isAbove])
  const hasMore = page.pages.length > 0
  return (
    <li>
      <div class="twig">
        <PageLink {...{ of, page, current }} />
        {hasMore && (
          <button
            type="button"
            class="plain"
            aria-expanded={isOpen}
            aria-label={isOpen ? texts.close(page.title) : texts.open(page.title)}
            onClick={() => setIsOpen(!isOpen)}
          >
            <Icon name="forth" />
          </button>
        )}
      </div>
      {hasMore && isOpen && <Branch {...{ of, above, current }} pages={page.pages} />}
    </li>
  )
}

const PageLink = ({ of: { org, space }, page, current }: Omit<BranchProps, 'above'> & { page: Page }) => (
  <a
    href={addressOf(org, space, 'pages', page.path)}
    title={page.title}
    aria-current={page.id === current?.id ? 'page' : undefined}
  >
    <bdi>{page.title}</bdi>
  </a>
)
