import { Cancel } from '../parts/cancel.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { componentTexts as texts } from '../texts/component.ts'
import { toUrl } from './bindings.ts'
import { type Fields, toText } from './tree.ts'

/** What a person is asked before an action of a component. */
export type Asked = { kind: 'confirm'; confirm: Fields; act: () => void } | { kind: 'url'; url: unknown }

export function AskFirst({ asked, close }: { asked: Asked; close: () => void }) {
  if (asked.kind === 'url') return <AskToOpen url={toUrl(asked.url, {})} close={close} />
  const { title, text, confirm, style } = asked.confirm
  const yes = toText(confirm) ?? texts.yes
  return (
    <Dialog title={toText(title) ?? yes} onClose={close}>
      <p dir="auto">{toText(text)}</p>
      <div class="row">
        <button
          type="button"
          class={style === 'danger' ? 'bad' : 'main'}
          onClick={() => {
            close()
            asked.act()
          }}
        >
          {yes}
        </button>
        <Cancel act={close} />
      </div>
    </Dialog>
  )
}

/** Names the host first: a script chose the address, and its button may say something else. */
function AskToOpen({ url, close }: { url: URL | undefined; close: () => void }) {
  if (url === undefined) {
    return (
      <Dialog title={texts.notOpenedTitle} onClose={close}>
        <p>{texts.notOpened}</p>
        <div class="row">
          <button type="button" onClick={close}>
            {texts.close}
          </button>
        </div>
      </Dialog>
    )
  }
  const { href, host } = url
  return (
    <Dialog title={texts.open(host)} onClose={close}>
      <p>{texts.openWhat}</p>
      <p class="c-address">
        <code>{href.slice(0, 500)}</code>
      </p>
      <div class="row">
        <a class="button main" href={href} target="_blank" rel="noopener noreferrer" onClick={close}>
          {texts.openNow(host)}
        </a>
        <Cancel act={close} />
      </div>
    </Dialog>
  )
}
