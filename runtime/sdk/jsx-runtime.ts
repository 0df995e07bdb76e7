import type { Child, Element, IntrinsicElements as KnownElements } from './ui/elements.ts'

type FunctionComponent = (props: Record<string, unknown>) => Element | Child[] | null | undefined
type Properties = { children?: unknown; [property: string]: unknown }

/** Children in a list of their own: an element without a type, which its parent flattens. */
export const Fragment = (props: Properties): Child[] => toChildren(props.children) ?? []

/** `<type …props />`: `{ type, ...props, children }`. A function is called with its properties. */
export const jsx = (
  type: string | FunctionComponent,
  props: Properties,
  key?: string | number,
): Element | Child[] | null | undefined => {
  if (typeof type === 'function') return type(props)
  const { children, ...properties } = props
  const list = toChildren(children)
  return {
    type,
    ...properties,
    ...(key === undefined ? {} : { key }),
    ...(list === undefined ? {} : { children: list }),
  }
}

export const jsxs = jsx
/** The development transform passes more arguments; they only serve error messages. */
export const jsxDEV = jsx

/** Flattened one level; only `null` is dropped, as `false` and `undefined` are the renderer's to skip. */
const toChildren = (children: unknown): Child[] | undefined => {
  if (children === undefined) return undefined
  return ([children].flat(2) as (Child | null)[]).filter((child) => child !== null)
}

/** TypeScript looks for the types of JSX in a namespace of this name. */
export namespace JSX {
  export type Element = import('./ui/elements.ts').Element
  export type ElementType = string | ((props: never) => unknown)
  export type IntrinsicElements = KnownElements
  export type ElementChildrenAttribute = { children: unknown }
  export type IntrinsicAttributes = { key?: string | number }
}
