import type { ComponentChild } from 'preact'
import type { Action, ComponentLevel } from './render.ts'
import type { Element, Fields } from './tree.ts'

/** What the function of an element gets. */
export type Draw = { element: Element; view: View }

/** A component as its elements see it. */
export type View = {
  id: string
  of: ComponentLevel
  state: Fields
  /** Where Annex has each picture of another host, by its address in the tree. */
  pictures: Fields
  /** Draws a child, a list of children, or nothing. `field` names the fields in it. */
  draw: (content: unknown, field?: View['field']) => ComponentChild
  /** Runs the action of an element, after its question. */
  press: (action: unknown, confirm?: unknown) => void
  /** A person has chosen a value. The question of the element comes first, and its action follows. */
  choose: (element: Element, value: unknown) => void
  /** A person types. The action follows once they pause. */
  type: (element: Element, value: string, action: unknown) => void
  /** Runs the action of what was typed now: the person has left the field. */
  flush: () => void
  /** Of a modal: ends it without an answer of its own. */
  close?: (() => void) | undefined
  /** The ids of the label and the hint around a field. */
  field?: { label: string; hint?: string | undefined } | undefined
  /** Tells the author of something that the page does not show. */
  note: (kind: 'too-fast') => void
}

/** An action of an element, or not. */
export const isAction = (value: unknown): value is Action =>
  typeof value === 'object' && value !== null && typeof (value as Fields).action === 'string'
