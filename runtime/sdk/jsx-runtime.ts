import type { Child, Element, IntrinsicElements as KnownElements } from './ui/elements.ts'

type FunctionComponent = (props: Record<string, unknown>) => Element | Child[] | null | undefined
/** `Element` is another name within the namespace below. */
type Node = Element
type Properties = { children?: unknown; [property: string]: unknown }

/** `<>…</>`: a list of children. The parent flattens it. */
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

/** `jsx` for several children. */
export const jsxs = jsx
/** `jsx` for the development transform. It ignores the further arguments, which serve error messages. */
export const jsxDEV = jsx

/** Flattened one level; only `null` is dropped, as `false` and `undefined` are the renderer's to skip. */
const toChildren = (children: unknown): Child[] | undefined => {
  if (children === undefined) return undefined
  return ([children].flat(2) as (Child | null)[]).filter((child) => child !== null)
}

/** The types of JSX. TypeScript finds them by the name of this namespace. */
export namespace JSX {
  export type Element = Node
  export type ElementType = string | ((props: never) => unknown)
  export type IntrinsicElements = KnownElements
  export type ElementChildrenAttribute = { children: unknown }
  export type IntrinsicAttributes = { key?: string | number }
}
