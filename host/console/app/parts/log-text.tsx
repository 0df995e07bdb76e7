import { toLogText } from '../lists/log-text.ts'
import { logTexts as texts } from '../texts/logs.ts'
import { Chip } from './chip.tsx'

/** What is longer is cut, and shown whole behind a summary. */
const longest = 600

/** A line of a log, with the author's file, line and column. */
export function LogText({ text }: { text: string }) {
  const { message, where, trace } = toLogText(text)
  const isLong = message.length > longest
  return (
    <div class="log-text">
      <code class="message" dir="auto">
        {(isLong ? `${message.slice(0, longest)}…` : message) || texts.emptyLine}
      </code>
      {where && <code class="where">{where}</code>}
      {isLong && <More summary={texts.whole} text={message} />}
      {trace.includes('\n') && <More summary={texts.trace} text={trace} />}
    </div>
  )
}

const More = ({ summary, text }: { summary: string; text: string }) => (
  <details>
    <summary class="small">{summary}</summary>
    <pre class="line-of-script" dir="auto">
      {text}
    </pre>
  </details>
)

export const Level = ({ level }: { level: string }) =>
  level === 'error' || level === 'warn' ? <Chip state={level} /> : <span class="muted">{level}</span>
