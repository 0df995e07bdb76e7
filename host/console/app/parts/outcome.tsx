import { dispatchTexts } from '../texts/dispatches.ts'
import { Icon, type IconName } from './icon.tsx'

/** How a dispatch ended, as a chip. */
export function Outcome({ code }: { code: string }) {
  const { tone, icon } = styles[code] ?? failed
  return (
    <span class={`chip ${tone}`} title={code}>
      <Icon name={icon} />
      {dispatchTexts.outcome(code)}
    </span>
  )
}

type Style = { tone: 'good' | 'bad' | ''; icon: IconName }

const styles: Readonly<Record<string, Style>> = {
  ok: { tone: 'good', icon: 'check' },
  no_handler: { tone: '', icon: 'note' },
}
const failed: Style = { tone: 'bad', icon: 'cross' }
