import { signal } from '@preact/signals'
import type { Me } from '../../../schemas/generated/api/me.ts'

/** The person of the session. `undefined`: not read yet, `null`: there is no session. */
export const me = signal<Me | null | undefined>(undefined)

/** `silent`: the last request had no answer. `newer`: the host has another build of the console than this tab. */
export const hostState = signal<'answers' | 'silent'>('answers')
export const isOutdated = signal(false)

export type Toast = { id: number; text: string }
export const toasts = signal<Toast[]>([])

export function sayDone(text: string): void {
  const toast = { id: Date.now() + Math.random(), text }
  toasts.value = [...toasts.value, toast]
  setTimeout(() => {
    toasts.value = toasts.value.filter(({ id }) => id !== toast.id)
  }, 6_000)
}

/** What a dialog above the page asks the person for. */
export type Question = { kind: 'sign-in' | 'confirm'; answer: (isDone: boolean) => void }
export const question = signal<Question | undefined>(undefined)
let asked: Promise<boolean> | undefined

/** Requests that need the same answer wait for one dialog. @returns false when the person closed it */
export function askPerson(kind: Question['kind']): Promise<boolean> {
  // A session that has ended cannot be confirmed: signing in takes the place of the confirmation.
  if (kind === 'sign-in' && question.value !== undefined) question.value = { ...question.value, kind }
  asked ??= new Promise<boolean>((resolve) => {
    question.value = { kind, answer: resolve }
  }).finally(() => {
    question.value = undefined
    asked = undefined
  })
  return asked
}

/** The organization that the address names. Requests name it, too: a person may be a member of several. */
export const organizationInAddress = (): string | undefined =>
  /^\/orgs\/([^/]+)/.exec(location.pathname)?.[1] && decodeURIComponent(location.pathname.split('/')[2] ?? '')

const lastKey = 'annex.organization'
export const rememberOrganization = (name: string): void => localStorage.setItem(lastKey, name)
export const lastOrganization = (): string | null => localStorage.getItem(lastKey)
