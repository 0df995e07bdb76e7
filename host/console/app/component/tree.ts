/** A value of an answer: a script may send anything. */
export type Fields = Record<string, unknown>
export type Element = Fields & { type: string }

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isElement = (value: unknown): value is Element => isFields(value) && isText(value.type)

export const isText = (value: unknown): value is string => typeof value === 'string'

/** Names come from scripts: `constructor` has no value of its own. */
export const ownValue = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** A text of a script as it is shown. Numbers are texts, too. */
export function toText(value: unknown): string | undefined {
  if (isText(value)) return value === '' ? undefined : value.slice(0, maxText)
  return typeof value === 'number' ? String(value) : undefined
}

/** What a browser can lay out without standing still. */
const maxText = 100_000
const maxValues = 10_000

/** Properties whose values are elements again. */
const inner: readonly string[] = [
  ...[
    'children',
    'element',
    'hint',
    'buttons',
    'submit',
    'subtitle',
    'header',
    'footer',
    'icon',
    'trailingIcon',
  ],
]

/** Why a part of a tree is not shown. */
export type Note = { kind: 'unknown'; type: string } | { kind: 'too-large' | 'too-fast' }

/**
 * A tree that a browser can draw, with notes for its author on what it lacks.
 *
 * Attack: a script answers 100,000 elements, and the page stands still. The host refuses a tree that is nested too deep.
 *
 * @param isKnown true for the type of an element
 */
export function limitTree(
  given: unknown,
  isKnown: (type: string) => boolean,
): { tree: unknown; notes: Note[] } {
  const notes = new Map<string, Note>()
  const say = (note: Note) => notes.set(JSON.stringify(note), note)
  let left = maxValues

  function copy(value: unknown, isShown: boolean): unknown {
    if (typeof value !== 'object' || value === null) return value
    left -= 1
    if (left < 0) return void say({ kind: 'too-large' })
    if (Array.isArray(value)) {
      if (value.length > maxValues) say({ kind: 'too-large' })
      return value.slice(0, maxValues).map((one) => copy(one, isShown))
    }
    if (isShown && isElement(value) && !isKnown(value.type) && notes.size < 20) {
      return void say({ kind: 'unknown', type: value.type.slice(0, 100) })
    }
    const entries = Object.entries(value).map(([name, one]) => [
      name,
      copy(one, isShown && isElement(value) && inner.includes(name)),
    ])
    // It defines own properties: `__proto__` among them changes no prototype.
    return Object.fromEntries(entries)
  }

  const tree = copy(given, true)
  return { tree, notes: [...notes.values()] }
}
