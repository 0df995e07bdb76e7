/** A node of the tree that `render` returns. Its children are texts and nodes; a renderer skips other values. */
export type Element = { type: string; children?: Child[]; [property: string]: unknown }
/** A child of an element. */
export type Child = Element | string | number | boolean | undefined

type Content = Child | null | Content[]
type ActionOf = { action: string; [parameter: string]: unknown }
type Dynamic<T> = T | { $state: string }
/** Properties that we do not name are passed on to the renderer. */
type Open<P> = P & { children?: Content; key?: string | number; [property: string]: unknown }
type Field<Value> = { state: string; initialValue?: Value; disabled?: boolean; onValueChange?: ActionOf }
type Option = { id: string; label: string; [property: string]: unknown }

/** The elements that a renderer knows, with the properties that they need. */
export type IntrinsicElements = {
  block: Open<{ controls?: unknown[] }>
  configuration: Open<object>
  modal: Open<{ title?: string; subtitle?: string; size?: string; submit?: Element }>
  vstack: Open<{ align?: string }>
  hstack: Open<{ align?: string }>
  box: Open<{ grow?: number }>
  divider: Open<{ size?: string }>
  text: Open<{ style?: string }>
  markdown: Open<{ content: Dynamic<string> }>
  link: Open<{ target: { url: string } | string }>
  image: Open<{ source: { url: Dynamic<string> }; aspectRatio?: number }>
  card: Open<{ title?: string; hint?: Content; icon?: unknown; onPress?: ActionOf; buttons?: Element[] }>
  hint: Open<{ style?: string }>
  button: Open<{ label?: string; onPress: ActionOf; style?: string; icon?: string; disabled?: boolean }>
  input: Open<{ label: string; hint?: Content; element: Element }>
  textinput: Open<Field<Dynamic<string>> & { placeholder?: string; multiline?: boolean }>
  select: Open<Field<string> & { options: Option[] | { url: unknown }; multiple?: boolean }>
  switch: Open<Field<boolean>>
  radio: Open<Field<string> & { value: string | boolean }>
  checkbox: Open<Field<boolean> & { value: string | number }>
  codeblock: Open<{ content: Dynamic<string>; syntax?: string; lineNumbers?: boolean | number }>
  stepper: Open<{ activeStep?: string }>
  webframe: Open<{ source: { url: Dynamic<string> }; aspectRatio?: number; data?: Record<string, unknown> }>
}
