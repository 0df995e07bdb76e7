import type { Action } from './render.ts'
import { type Fields, isFields } from './tree.ts'
import { isAction } from './view.ts'

/** How large a frame wants to be. */
export type FrameSize = { height?: number; aspectRatio?: number; maxHeight?: number; maxWidth?: number }

export type FrameMessage =
  | { kind: 'ready' }
  | { kind: 'resize'; size: FrameSize }
  | { kind: 'action'; action: Action }

/** The most text that an action of a frame may have. */
const maxMessage = 64 * 1024
/** A frame covers no page. */
const limits: Readonly<Record<keyof FrameSize, readonly [number, number]>> = {
  height: [1, 4_000],
  maxHeight: [1, 4_000],
  maxWidth: [1, 4_000],
  aspectRatio: [0.05, 20],
}

/**
 * Reads what a frame posted: `{ action: { action, … } }`. All else is nothing: a frame may talk to other pages, too.
 *
 * Attack: a message may have cycles, and values that are no JSON.
 */
export function readMessage(data: unknown): FrameMessage | undefined {
  if (!isFields(data) || !isAction(data.action)) return undefined
  const action = toJson(data.action)
  if (action === undefined) return undefined
  if (action.action === '@webframe.ready') return { kind: 'ready' }
  if (action.action !== '@webframe.resize') return { kind: 'action', action }
  return { kind: 'resize', size: toSize(isFields(action.size) ? action.size : action) }
}

function toJson(action: Action): Action | undefined {
  try {
    const text = JSON.stringify(action)
    const copy: unknown = text.length > maxMessage ? undefined : JSON.parse(text)
    return isAction(copy) && copy.action !== '' && copy.action.length <= 200 ? copy : undefined
  } catch {
    return undefined
  }
}

function toSize(given: Fields): FrameSize {
  const size: FrameSize = {}
  for (const [name, [least, most]] of Object.entries(limits) as [keyof FrameSize, [number, number]][]) {
    const value = given[name] === undefined || given[name] === null ? Number.NaN : Number(given[name])
    if (Number.isFinite(value) && value > 0) size[name] = Math.min(Math.max(value, least), most)
  }
  return size
}

/** True for a number of actions within a time that a person could have caused. */
export function createRate(most: number, withinMs: number): () => boolean {
  let times: number[] = []
  return () => {
    const now = Date.now()
    times = times.filter((time) => time > now - withinMs)
    if (times.length >= most) return false
    times.push(now)
    return true
  }
}
