import { texts } from '../texts.ts'
import { Icon, type IconName } from './icon.tsx'

type Tone = 'good' | 'warning' | 'bad' | ''

const states: Readonly<Record<string, { tone: Tone; icon: IconName }>> = {
  active: { tone: 'good', icon: 'check' },
  delivered: { tone: 'good', icon: 'check' },
  pending: { tone: 'warning', icon: 'clock' },
  paused: { tone: 'warning', icon: 'pause' },
  suspended: { tone: 'bad', icon: 'warning' },
  disabled: { tone: 'bad', icon: 'warning' },
  failing: { tone: 'warning', icon: 'warning' },
  deployed: { tone: 'good', icon: 'check' },
  installed: { tone: 'good', icon: 'check' },
  waiting: { tone: 'warning', icon: 'clock' },
  retired: { tone: 'warning', icon: 'warning' },
  private: { tone: '', icon: 'lock' },
  unlisted: { tone: '', icon: 'link' },
  failed: { tone: 'bad', icon: 'cross' },
  error: { tone: 'bad', icon: 'cross' },
  warn: { tone: 'warning', icon: 'warning' },
}

/** A state is a word, an icon and a colour, never the colour alone. */
export function Chip({ state }: { state: string }) {
  const { tone, icon } = states[state] ?? { tone: '', icon: 'note' }
  return (
    <span class={`chip ${tone}`}>
      <Icon name={icon} />
      {texts.states[state as keyof typeof texts.states] ?? state}
    </span>
  )
}
