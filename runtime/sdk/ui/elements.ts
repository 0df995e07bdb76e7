/** A node of the tree that `render` returns. Its children are texts and nodes; a renderer skips other values. */
export type Element = { type: string; children?: Child[]; [property: string]: unknown }
/** A child of an element. */
export type Child = Element | string | number | boolean | undefined

type Content = Child | null | Content[]
type ActionOf = { action: string; [parameter: string]: unknown }
type Dynamic<T> = T | { $state: string }
type Url = string | { host: string; pathname: string; query?: Record<string, Dynamic<string>> }
type Icon = string | Element
/** The question before an action. */
type Confirm = { title: string; text: string; confirm: string; style?: 'primary' | 'danger' }
type Control = { label: string; onPress: ActionOf; icon?: Icon; confirm?: Confirm }
type Option = { id: string; label: string; icon?: Icon; [property: string]: unknown }
type Align = { align?: 'start' | 'center' | 'end' }

/** An element without children. A property that it does not have is an error of the compiler. */
type Leaf<Properties> = Properties & { key?: string | number }
type Parent<Properties> = Leaf<Properties & { children?: Content }>
/** A field of a form. `state` names the value of the state that it edits. */
type Field<Value> = Leaf<{
  state: string
  initialValue?: Value
  disabled?: boolean
  onValueChange?: ActionOf
  label?: string
  confirm?: Confirm
}>

/** The elements that a renderer knows, with all their properties. */
export type IntrinsicElements = {
  block: Parent<{ controls?: (Control | Control[])[] }>
  configuration: Parent<object>
  modal: Parent<{
    title?: string
    subtitle?: Content
    size?: 'medium' | 'xlarge' | 'fullscreen'
    submit?: Element
    returnValue?: object
  }>
  vstack: Parent<Align>
  hstack: Parent<Align>
  box: Parent<{ grow?: number; style?: 'card' | 'secondary' | 'default' }>
  spacer: Leaf<object>
  divider: Leaf<{ size?: 'small' | 'medium' | 'large'; style?: 'default' | 'line' }>
  text: Parent<{ style?: 'bold' | 'italic' | 'code' | 'strikethrough' }>
  markdown: Leaf<{ content: Dynamic<string> }>
  link: Parent<{ target: { url: Dynamic<Url> } | string }>
  image: Leaf<{ source: { url: Dynamic<Url> }; aspectRatio?: number }>
  card: Parent<{ title?: string; hint?: Content; icon?: Icon; onPress?: ActionOf; buttons?: Content[] }>
  hint: Parent<{ style?: string }>
  button: Leaf<{
    label?: string
    onPress: ActionOf
    style?: 'primary' | 'secondary' | 'danger'
    icon?: Icon
    trailingIcon?: Icon
    tooltip?: string
    confirm?: Confirm
    disabled?: boolean
  }>
  input: Leaf<{ label: string; hint?: Content; element: Element }>
  textinput: Field<Dynamic<string>> & {
    placeholder?: string
    multiline?: boolean
    inputType?: 'text' | 'password' | 'email'
  }
  select: Field<string | string[]> & {
    options: Option[] | { url: Dynamic<Url> } | { source: string }
    placeholder?: string
    multiple?: boolean
    acceptInput?: boolean
  }
  switch: Field<boolean>
  radio: Field<string | number | boolean> & { value: string | number | boolean }
  checkbox: Field<boolean> & { value: string | number }
  codeblock: Leaf<{
    content: Dynamic<string>
    syntax?: string
    lineNumbers?: boolean | number
    buttons?: Content[]
    state?: string
    onContentChange?: ActionOf
    header?: Content
    footer?: Content
  }>
  stepper: Parent<{ activeStep?: string; onStepChange?: ActionOf; onComplete?: ActionOf }>
  step: Parent<{ id: string; title?: string; next?: boolean }>
  webframe: Leaf<{
    source: { url: Dynamic<Url> }
    aspectRatio?: number
    buttons?: Content[]
    data?: Record<string, unknown>
  }>
}
