import { EventEmitter } from 'node:events'
import type { SettingOption } from '../../schemas/generated/api/connections.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { assertHasScript, type PreparedLevel, toContext } from '../installations/prepare-dispatch.ts'
import { isScriptsFailure } from '../installations/report-failure.ts'
import { assertHandled } from '../sandbox/sandboxes.ts'
import type { DispatchOutcome, Visitor } from '../sandbox/target.ts'
import { type Asking, type AskParts, readWhole } from './ask-script.ts'

/** A part of the choices of a setting. `value` asks for one of them. */
export type OptionsQuery = { q?: string; page?: string; value?: string }

export type Options = { options: SettingOption[]; next?: string }

const timeoutMs = 5_000
const maxBytes = 1024 * 1024
const maxOptions = 1_000
const maxTextLength = 10_000

/**
 * Asks a script for the choices of a setting or of a component, with GET. A choice of a component has an `id`. A list alone is the form of the reference
 * platform: its script knows no `q` and no `value`, so Annex picks the choices.
 *
 * @param url the address, below the endpoint of the level
 * @throws AnnexError `options_failed` for an answer that is late, too large, or not in form; the error that ended the dispatch
 */
export async function askOptions(
  { sandboxes, report }: AskParts,
  prepared: PreparedLevel,
  { url: asked, query }: { url: string; query: OptionsQuery },
  { requestId, hops }: Pick<Asking, 'requestId' | 'hops'>,
): Promise<Options> {
  const { records, target, environment } = prepared
  assertHasScript(prepared)
  const url = new URL(asked)
  for (const [name, text] of Object.entries(query)) url.searchParams.set(name, text)
  const message = `GET\n${url.href}\naccept\napplication/json`
  const context = toContext(records, { requestId, hops })
  try {
    return await withinTime(async (visitor) => {
      const outcome = await sandboxes.dispatch({ target, environment, message, context, visitor })
      return pick(toOptions(await readJson(assertHandled(outcome))), query)
    })
  } catch (error) {
    if (isScriptsFailure(error)) report(records, requestId, error)
    throw error
  }
}

/** A late script is told that its visitor has left. */
async function withinTime<T>(run: (visitor: Visitor) => Promise<T>): Promise<T> {
  const visitor = Object.assign(new EventEmitter(), { closed: false, writableFinished: false })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      visitor.closed = true
      visitor.emit('close')
      reject(failed(`it did not come within ${timeoutMs / 1000} seconds`))
    }, timeoutMs)
  })
  try {
    return await Promise.race([run(visitor as unknown as Visitor), late])
  } finally {
    clearTimeout(timer)
  }
}

async function readJson(outcome: DispatchOutcome): Promise<unknown> {
  const { result, body } = outcome
  const status = result.kind === 'response' ? result.head.status : 200
  if (status > 299) {
    if ('destroy' in body) body.destroy()
    throw failed(
      status < 400 ? `it is a redirect (${status}), which is not followed` : `it has the status ${status}`,
    )
  }
  const { headers, body: bytes } = await readWhole(outcome, maxBytes).catch((error) => {
    const isTooLarge = isAnnexError(error) && error.code === 'answer_too_large'
    throw isTooLarge ? failed(`it has more than ${maxBytes} bytes`) : error
  })
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw failed(`it is no JSON; its content type is "${headers.get('content-type') ?? ''}"`)
  }
}

type Found = Options & { isWhole: boolean }

/** @throws AnnexError `options_failed` */
function toOptions(answer: unknown): Found {
  const isWhole = Array.isArray(answer)
  const { options: list, next } = (isWhole ? { options: answer } : (answer ?? {})) as Record<string, unknown>
  if (!Array.isArray(list)) throw failed('it is neither a list nor { "options": […] }')
  if (list.length > maxOptions) {
    throw failed(`it has ${list.length} entries; at most ${maxOptions} are allowed. Use pages and "next"`)
  }
  if (next !== undefined && next !== null && !isText(next)) throw failed('"next" is no text')
  const options = list.map((entry, index) => toOption(entry, index))
  return { options, isWhole, ...(isText(next) && { next: String(next) }) }
}

function toOption(entry: unknown, index: number): SettingOption {
  const { label, id, value = id } = (entry ?? {}) as Record<string, unknown>
  if (isText(label) && isText(value)) return { label: String(label), value: String(value) }
  throw failed(`its entry ${index + 1} is not { "label", "value" } with texts`)
}

const isText = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= maxTextLength)

function pick({ isWhole, options, next }: Found, { q = '', value }: OptionsQuery): Options {
  if (value !== undefined) return { options: options.filter((option) => option.value === value).slice(0, 1) }
  const text = q.toLowerCase()
  const picked = isWhole ? options.filter(({ label }) => label.toLowerCase().includes(text)) : options
  return { options: picked, ...(next !== undefined && { next }) }
}

const failed = (reason: string): AnnexError =>
  new AnnexError('options_failed', `The script's answer with the choices cannot be used: ${reason}.`)
